"""The web server, uvicorn: the only module that knows it."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

from toolcrib.system import require_package

require_package("uvicorn", "0.34", "0.55", "the web server")

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from toolcrib.errors import ConfigError
from toolcrib.http.asgi import AUTHENTICATED, App
from toolcrib.system import ConnectionLimiter

HEAD_S = 10.0
IDLE_S = 15
HEAD_BYTES = 32 * 1024
HEAD = b"HTTP/1.1 "
LENGTH = b"\r\ncontent-length: "
WAITING = 512
LOOPBACK = "127.0.0.1"
STOP_S = 2


def _nobody(_peer: str) -> bool:
    return False


class _JoinedWrites:
    """A transport that sends the head of an answer together with what is written next.

    Two packets would wake the client twice. A head that says how long its body is waits for that:
    it is written next, even if it is empty. One of a stream is sent a turn later.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes) -> None:
        """Send it; a head waits for its body."""
        if not self._head and data.startswith(HEAD):
            self._head = data
            if LENGTH not in data:
                asyncio.get_running_loop().call_soon(self._flush)
        elif self._head or data:
            head, self._head = self._head, b""
            self._transport.write(head + data)

    def close(self) -> None:
        """Close it once all is sent."""
        self._flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a transport has
        return getattr(self._transport, name)

    def _flush(self) -> None:
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)


class _TimedProtocol(H11Protocol):
    """A connection on which the head of a request has to come within `HEAD_S`.

    Without that, a client that sends nothing, or a header a minute, stays for ever. Until a request
    has shown a credential the connection is a stranger's, and makes room for others, but not while
    a request waits for us: whoever comes with many others at once gets an answer. A proxy that is
    trusted is no stranger: it bounds its own clients.
    """

    _late: asyncio.TimerHandle | None = None
    _is_known = False

    def __init__(
        self,
        *,
        limiter: ConnectionLimiter,
        is_trusted: Callable[[str], bool],
        **uvicorns: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**uvicorns)
        self._limiter, self._is_trusted = limiter, is_trusted
        self.app_state = {AUTHENTICATED: self._know}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection; beyond the bound it is refused."""
        super().connection_made(cast("asyncio.Transport", _JoinedWrites(transport)))
        self._limiter.enter(self, transport.abort)
        if self._is_trusted(_peer(transport)):
            self._know()
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Some bytes: of a head if no request is under way, else of a body."""
        if self._is_between() and not self._late:
            self._wait()
        super().data_received(data)
        if not self._is_between():
            self._stop_waiting()
            self._limiter.hold(self)

    def on_response_complete(self) -> None:
        """From here on we wait for the client again."""
        if not (self._is_known or self.transport.is_closing()):
            self._limiter.enter(self, self.transport.abort)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop_waiting()
        self._limiter.leave(self)
        super().connection_lost(exc)

    def _know(self) -> None:
        self._is_known = True
        self._limiter.hold(self)

    def _is_between(self) -> bool:
        return self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]

    def _wait(self) -> None:
        self._late = asyncio.get_running_loop().call_later(HEAD_S, self._give_up)

    def _stop_waiting(self) -> None:
        if self._late:
            self._late.cancel()
            self._late = None

    def _give_up(self) -> None:
        self._late = None
        if self._is_between():
            self.transport.close()


def _peer(transport: asyncio.BaseTransport) -> str:
    peer: tuple[str, int] | None = transport.get_extra_info("peername")
    return peer[0] if peer else ""


class _Handshake(asyncio.Protocol):
    """A connection until its TLS handshake is done: a stranger's, and for `HEAD_S` at most.

    `make` makes the protocol that goes on with it.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        limiter: ConnectionLimiter,
        make: Callable[[], asyncio.Protocol],
    ) -> None:
        self._context, self._limiter, self._make = context, limiter, make
        self._early = b""
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A connection, still plain."""
        plain = cast("asyncio.Transport", transport)
        self._limiter.enter(self, plain.abort)
        self._task = asyncio.create_task(self._secure(plain))

    def data_received(self, data: bytes) -> None:
        """What the client sent right behind its handshake."""
        self._early += data

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
        """It ended before anybody could go on with it."""
        self._limiter.leave(self)
        if self._task:
            self._task.cancel()

    async def _secure(self, plain: asyncio.Transport) -> None:
        start_tls = asyncio.get_running_loop().start_tls
        try:
            secured = await start_tls(
                *(plain, self, self._context),
                server_side=True,
                ssl_handshake_timeout=HEAD_S,
                ssl_shutdown_timeout=STOP_S,
            )
        except OSError:  # no TLS, none that we speak, or too late
            secured = None
        finally:
            self._limiter.leave(self)
        if secured is None:
            plain.abort()
            return
        self._task = None
        protocol = self._make()
        secured.set_protocol(protocol)
        protocol.connection_made(secured)
        if self._early:
            protocol.data_received(self._early)


class WebLimits(NamedTuple):
    """How many connections are held; `at_once` are let in before anybody looks at earlier ones."""

    most: int
    at_once: int


class WebServer(Server):
    """Serves an app on a socket until `should_exit` is set. It handles no signals.

    Peers for whom `is_trusted` holds are no strangers. With a `context` it speaks TLS and nothing
    else.
    """

    def __init__(
        self,
        app: App,
        limits: WebLimits,
        *,
        is_trusted: Callable[[str], bool] = _nobody,
        context: ssl.SSLContext | None = None,
    ) -> None:
        limiter = ConnectionLimiter(limits.most, "HTTP")
        make = partial(_TimedProtocol, limiter=limiter, is_trusted=is_trusted)

        def secured(**uvicorns: Any) -> asyncio.Protocol:  # noqa: ANN401 - uvicorn's
            assert context  # noqa: S101 - else nobody calls this
            return _Handshake(context, limiter, partial(make, **uvicorns))

        config = Config(
            app,
            http=cast("Any", secured if context else make),
            backlog=limits.at_once,
            ws="none",
            lifespan="off",
            loop="none",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=IDLE_S,
            timeout_graceful_shutdown=STOP_S,
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
        super().__init__(config)

    async def serve_on(self, *listening: socket.socket) -> None:
        """Until `should_exit` is set, and then `STOP_S` at most."""
        await self.serve(sockets=[*listening])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the server starts, but with room for more than it lets in at once."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave them to the daemon."""
        yield


def listen_on(address: str, port: int, setting: str = "gateway.port") -> socket.socket:
    """A socket on this address. Raises `ConfigError`, with the setting that names another port.

    `::` takes IPv4 as well.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    # Named as TCP, so that asyncio sends at once what is written: else every answer takes 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, int(address != "::"))
        listening.bind((address, port))
        listening.listen(WAITING)  # who comes before the web server is up waits for it
    except OSError as error:
        listening.close()
        problem = f"port {port} of {address} cannot be used ({error.strerror})"
        raise ConfigError(f"{problem}; set another `{setting}`, or 0 for any") from error
    return listening


def listen_on_loopback(port: int, setting: str) -> socket.socket:
    """The same on loopback."""
    return listen_on(LOOPBACK, port, setting)
