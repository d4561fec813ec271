"""The WebSocket package, behind two functions: the only module that knows it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.http11 import Request, Response

from toolcrib.sources.apps.json_rpc import MOST_BYTES
from toolcrib.system import ConnectionLimiter

HOST = "127.0.0.1"
MOST_STRANGERS = 32
OPEN_S = 5.0
CLOSE_S = 1.0
PING_S = 20.0


class WebSocket:
    """A connection, as `peer.Socket` promises it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def send(self, text: str) -> None:
        try:
            await self._connection.send(text)
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from error

    async def texts(self) -> AsyncIterator[str | bytes]:
        try:
            async for text in self._connection:
                yield text
        except ConnectionClosed:
            return

    async def close(self, reason: str) -> None:
        await self._connection.close(1000, reason[:100])


class _StrangerConnection(ServerConnection):
    """A connection that is a stranger's until it has become a WebSocket."""

    def __init__(self, strangers: ConnectionLimiter, *given: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*given, **named)
        self._strangers = strangers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody comes."""
        super().connection_made(transport)
        self._strangers.enter(self, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """They are gone."""
        self._strangers.leave(self)
        super().connection_lost(exc)


@asynccontextmanager
async def listening(
    serve_one: Callable[[WebSocket], Awaitable[None]],
) -> AsyncGenerator[int]:
    """A port of this machine where each connection is served, as long as the context lasts."""
    strangers = ConnectionLimiter(MOST_STRANGERS, "the port of apps")

    async def handle(connection: ServerConnection) -> None:
        strangers.leave(connection)  # from now on they are counted as peers
        await serve_one(WebSocket(connection))

    async with serve(
        handle,
        HOST,
        0,
        process_request=_refuse_strangers,
        compression=None,  # nothing small becomes something large here
        max_size=MOST_BYTES,
        max_queue=16,
        open_timeout=OPEN_S,
        close_timeout=CLOSE_S,
        ping_interval=PING_S,
        ping_timeout=PING_S,
        server_header=None,
        create_connection=cast("Any", partial(_StrangerConnection, strangers)),
        backlog=MOST_STRANGERS,
    ) as server:
        yield next(iter(server.sockets)).getsockname()[1]


@asynccontextmanager
async def connected(port: int) -> AsyncGenerator[WebSocket]:
    """A connection to a port of this machine. Raises `ConnectionError`."""
    try:
        connection = await connect(
            f"ws://{HOST}:{port}/",
            proxy=None,
            compression=None,
            max_size=MOST_BYTES,
            open_timeout=OPEN_S,
            close_timeout=CLOSE_S,
            ping_interval=PING_S,
            ping_timeout=PING_S,
        )
    except (OSError, InvalidHandshake, InvalidMessage, TimeoutError) as error:
        raise ConnectionError(f"nobody answers on port {port}: {error}") from error
    try:
        yield WebSocket(connection)
    finally:
        await connection.close()


def _refuse_strangers(connection: ServerConnection, request: Request) -> Response | None:
    """A browser says where its page is from, and an app has no page; nor another host's name."""
    if "Origin" in request.headers:
        return connection.respond(HTTPStatus.FORBIDDEN, "no web pages here\n")
    port = connection.local_address[1]
    if request.headers.get_all("Host") not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
        return connection.respond(HTTPStatus.FORBIDDEN, "connect to 127.0.0.1\n")
    if request.path != "/":
        return connection.respond(HTTPStatus.NOT_FOUND, "the path is /\n")
    return None
