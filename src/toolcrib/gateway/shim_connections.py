"""Where shims come in: a Unix socket for the user that the daemon runs as, and nobody else.

A shim says hello with a profile and its process id, and with a key if it has one. After the answer
both sides speak MCP, line by line. `ConnectedClient` is what the operator sees of it.
"""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from toolcrib.gateway.credentials import AccessDenied, Authenticator
from toolcrib.gateway.limits import ConnectionBounds, ConnectionRequestLimiter
from toolcrib.gateway.message_streams import message_streams
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.quotas import RequestLimiter
from toolcrib.gateway.server import GatewayServer, GatewayServers
from toolcrib.gateway.stream_serving import serve_stream
from toolcrib.gateway.surface_recorder import SurfaceFile, SurfaceRecorder
from toolcrib.gateway.unix_listener import UnixListener, hang_up
from toolcrib.system import ConnectionLimiter

HELLO_S = 10.0
PROTOCOL = 1
LONGEST_NAME = 80
MODERN = "2026"
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = "io.modelcontextprotocol/clientInfo"

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class ConnectedClient:
    """One connection, for the operator to see. `name`, `version` and `era` are unverified."""

    principal: str
    profile: str
    pid: int = 0
    name: str = ""
    version: str = ""
    era: str = ""
    requests: int = 0
    since: float = field(default_factory=time.monotonic)
    server: GatewayServer | None = None

    @property
    def mode(self) -> str:
        """How tools are listed to it; "" as long as it has not said who it is."""
        if not self.server or not self.era:
            return ""
        return self.server.mode(self.name, modern=self.era >= MODERN)

    def note_request(self, method: str, params: Mapping[str, Any]) -> None:
        """Count a request, and note what it says about its sender."""
        self.requests += 1
        meta = params.get("_meta")
        if method == "initialize":
            self._introduce(params.get("clientInfo"), params.get("protocolVersion"))
        elif not self.era and isinstance(meta, dict):
            fields = cast("dict[str, Any]", meta)
            self._introduce(fields.get(_CLIENT), fields.get(_VERSION))

    def _introduce(self, client: object, era: object) -> None:
        info = cast("dict[str, Any]", client) if isinstance(client, dict) else {}
        self.era, self.name = _short_text(era), _short_text(info.get("name"))
        self.version = _short_text(info.get("version"))


class ShimConnections:
    """The connections of all shims. `clients` are those that are there now."""

    def __init__(
        self,
        authenticator: Callable[[], Authenticator],
        servers: Callable[[], GatewayServers],
        limiter: RequestLimiter,
        bounds: ConnectionBounds,
        surface: SurfaceFile | None = None,
    ) -> None:
        self._authenticator, self._servers, self._surface = authenticator, servers, surface
        self._limiter = limiter
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
            for task, client in self.clients.items()
            if principals is None or client.principal in principals
        ]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        try:
            self._strangers.enter(writer, writer.transport.abort)
            async with asyncio.timeout(HELLO_S):
                principal, client = self._admit(await reader.readuntil(b"\n"))
                await _answer(writer, "")
            self._strangers.leave(writer)
            assert task  # noqa: S101 - a connection is served by a task
            self.clients[task] = client
            await self._serve(reader, writer, principal, client)
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
        client: ConnectedClient,
    ) -> None:
        async def send(content: bytes) -> None:
            writer.write(content)
            await writer.drain()

        client.server = self._servers().of(principal)
        is_good = partial(self._authenticator().is_good, principal.id)
        with ConnectionRequestLimiter(
            self._limiter, principal.quotas, is_good, client.note_request
        ) as gate:
            recorder = SurfaceRecorder(gate, client.server, self._surface)
            streams = message_streams(reader, send, recorder)
            await serve_stream(client.server, streams.read, streams.write)

    def _admit(self, line: bytes) -> tuple[Principal, ConnectedClient]:
        """Who says hello. Raises `AccessDenied`."""
        if len(self.clients) >= self._most:
            raise AccessDenied(f"{self._most} clients are connected already; close one")
        match json.loads(line):
            case {"toolcrib": 1, "profile": str(profile), "pid": int(pid), **others}:
                key, check = others.get("key"), self._authenticator()
                principal = check.local(profile) if key is None else check.keyed(str(key), profile)
                return principal, ConnectedClient(principal.id, profile, pid)
            case _:
                problem = "this daemon is of another version"
                raise AccessDenied(f"{problem}; restart it: `toolcrib gateway stop`")


async def _answer(writer: asyncio.StreamWriter, problem: str) -> None:
    answer = {"toolcrib": PROTOCOL} | ({"error": problem} if problem else {})
    writer.write(json.dumps(answer).encode() + b"\n")
    with suppress(OSError):
        await writer.drain()


def _short_text(value: object) -> str:
    return value[:LONGEST_NAME] if isinstance(value, str) else ""
