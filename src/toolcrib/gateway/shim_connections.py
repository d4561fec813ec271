"""Where shims come in: a Unix socket for the user that the daemon runs as, and nobody else."""

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from toolcrib.gateway.connected_client import ConnectedClient
from toolcrib.gateway.credentials import AccessDenied, Authenticator
from toolcrib.gateway.limits import ConnectionBounds, ConnectionRequestLimiter, RequestLimiter
from toolcrib.gateway.message_streams import message_streams
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import PrincipalServers
from toolcrib.gateway.unix_listener import UnixListener, hang_up
from toolcrib.system import ConnectionLimiter

HELLO_S = 10.0
PROTOCOL = 1

_log = logging.getLogger(__name__)


class ShimConnections:
    """The connections of all shims. `clients` are those that are there now."""

    def __init__(
        self,
        credentials: Callable[[], Authenticator],
        windows: Callable[[], PrincipalServers],
        admission: RequestLimiter,
        bounds: ConnectionBounds,
    ) -> None:
        self._credentials, self._windows = credentials, windows
        self._admission = admission
        self._most = bounds.shims
        self._strangers = ConnectionLimiter(bounds.strangers, "the socket of shims")
        self.clients: dict[asyncio.Task[None], ConnectedClient] = {}
        self.listener = UnixListener(self._welcome)

    async def close(self) -> None:
        """Let no more come, and end those that are there."""
        self.listener.close()
        await self.drop()

    async def drop(self, principals: frozenset[str] | None = None) -> None:
        """End the connections of these principals, or all: shims come again by themselves."""
        tasks = [
            task
            for task, note in self.clients.items()
            if principals is None or note.principal in principals
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        try:
            self._strangers.enter(writer, writer.transport.abort)
            async with asyncio.timeout(HELLO_S):
                principal, note = self._admitted(await reader.readuntil(b"\n"))
                await _answer(writer, "")
            self._strangers.leave(writer)
            assert task  # noqa: S101 - a connection is served by a task
            self.clients[task] = note
            await self._serve(reader, writer, principal, note)
        except AccessDenied as error:
            await _answer(writer, str(error))
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as error:
            _log.debug("a shim has left: %r", error)
        except asyncio.LimitOverrunError:
            await _answer(writer, "that is not a greeting of `toolcrib connect`")
        finally:
            self._strangers.leave(writer)
            if task:
                self.clients.pop(task, None)
            await hang_up(writer)

    async def _serve(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        principal: Principal,
        note: ConnectedClient,
    ) -> None:
        async def send(content: bytes) -> None:
            writer.write(content)
            await writer.drain()

        window = self._windows().of(principal)
        note.window, server = window, window.server
        is_good = partial(self._credentials().is_good, principal.id)
        with ConnectionRequestLimiter(self._admission, principal.caller.id, note, is_good) as gate:
            streams = message_streams(reader, send, gate)
            options = server.create_initialization_options()
            await server.run(streams.read, streams.write, options)

    def _admitted(self, line: bytes) -> tuple[Principal, ConnectedClient]:
        """Who says hello. Raises `AccessDenied`."""
        if len(self.clients) >= self._most:
            raise AccessDenied(f"{self._most} clients are connected already; close one")
        match json.loads(line):
            case {"toolcrib": 1, "profile": str(profile), "pid": int(pid), **others}:
                key = others.get("key")
                known = self._credentials()
                principal = known.local(profile) if key is None else known.keyed(str(key), profile)
                return principal, ConnectedClient(principal.id, profile, pid)
            case _:
                told = "this daemon is of another version; restart it: `toolcrib gateway stop`"
                raise AccessDenied(told)


async def _answer(writer: asyncio.StreamWriter, problem: str) -> None:
    said = {"toolcrib": PROTOCOL} | ({"error": problem} if problem else {})
    writer.write(json.dumps(said).encode() + b"\n")
    with suppress(OSError):
        await writer.drain()
