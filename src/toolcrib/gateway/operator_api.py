"""What the operator may ask of a running daemon, and the socket where it is asked.

Small requests as JSON lines, on a socket of its own, for our own user only. Neither MCP nor HTTP
leads here: no tool that a model may call can decide anything.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Protocol, cast

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.execute import Ticket
from toolcrib.gateway.limits import RequestLimiter
from toolcrib.gateway.serving_state import ServingState
from toolcrib.gateway.shim_connections import ShimConnections
from toolcrib.gateway.unix_listener import UnixListener, hang_up
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import REPORT_EVERY_S, McpSource, RefreshResult, find_server, start_phases
from toolcrib.system import ConnectionLimiter

MESSAGE_S = 30.0
MOST_AT_ONCE = 16

Report = Callable[[Json], None]
OperatorHandler = Callable[[Mapping[str, Any], Report], Awaitable[Json]]
"""Does what is asked for; meanwhile it may tell how far it is."""

_log = logging.getLogger(__name__)


class OperatorServer:
    """Listens for the operator. `deeds` are what they may ask for, by name."""

    def __init__(self, deeds: Mapping[str, OperatorHandler]) -> None:
        self._deeds = deeds
        self._silent = ConnectionLimiter(MOST_AT_ONCE, "the operator's socket")
        self.listener = UnixListener(self._welcome)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._silent.enter(writer, writer.transport.abort)
            async with asyncio.timeout(MESSAGE_S):
                asked = await reader.readuntil(b"\n")
            self._silent.leave(writer)

            def tell(news: Json) -> None:
                if not writer.is_closing():
                    writer.write(_line({"told": news}))

            answer = await self._answer(asked, tell)  # as long as it takes: half a deed is none
            async with asyncio.timeout(MESSAGE_S):
                writer.write(_line(answer))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("the operator has left")
        finally:
            self._silent.leave(writer)
            await hang_up(writer)

    async def _answer(self, line: bytes, tell: Report) -> JsonObject:
        """What came of a request: `done`, or an `error` with cause and remedy."""
        try:
            asked = json.loads(line)
            deed = self._deeds[asked["do"]]
        except (ValueError, KeyError, TypeError):
            return {
                "error": f"not one of: {', '.join(self._deeds)}; is the daemon of another version?"
            }
        try:
            return {"done": await deed(asked, tell)}
        except ToolcribError as error:
            return {"error": str(error)}


def _line(message: JsonObject) -> bytes:
    return json.dumps(message).encode() + b"\n"


# What the operator may ask of a running daemon.


class OperatedDaemon(Protocol):
    """What the operator reaches of a daemon."""

    house: ServingState
    shims: ShimConnections
    admission: RequestLimiter
    port: int
    started: float
    ends_when_idle: bool
    broken: tuple[str, ...]

    def stop(self) -> None: ...
    async def reload(self) -> None: ...
    async def catch_up(self) -> None: ...


def operator_handlers(daemon: OperatedDaemon) -> Mapping[str, OperatorHandler]:
    """Each by its name."""

    async def status(_asked: Mapping[str, Any], _tell: Report) -> Json:
        return await asyncio.to_thread(_status, daemon)

    async def stop(_asked: Mapping[str, Any], _tell: Report) -> Json:
        daemon.stop()
        return True

    async def reload(_asked: Mapping[str, Any], _tell: Report) -> Json:
        await daemon.reload()
        return True

    async def changed(_asked: Mapping[str, Any], _tell: Report) -> Json:
        await daemon.catch_up()
        return True

    async def servers(_asked: Mapping[str, Any], _tell: Report) -> Json:
        return await asyncio.to_thread(_servers, daemon)

    async def refresh(asked: Mapping[str, Any], tell: Report) -> Json:
        with suppress(ToolcribError):  # what is wrong with files is said elsewhere
            await daemon.catch_up()
        return await _refresh(_sources_named(daemon, asked.get("servers")), tell)

    async def forget_login(asked: Mapping[str, Any], _tell: Report) -> Json:
        (source,) = _sources_named(daemon, [asked.get("server")])
        return await asyncio.to_thread(source.forget_login)

    async def approvals(_asked: Mapping[str, Any], _tell: Report) -> Json:
        return [_ticket(each) for each in daemon.house.crib.tickets.waiting()]

    async def decide(asked: Mapping[str, Any], _tell: Report) -> Json:
        _decide(daemon, str(asked.get("id", "")), allowed=asked.get("allowed") is True)
        return True

    listing = (changed, servers, refresh, forget_login)
    deeds = (status, stop, reload, *listing, approvals, decide)
    return {deed.__name__: deed for deed in deeds}


def _sources_named(daemon: OperatedDaemon, names: object) -> list[McpSource]:
    """The servers of these names; without names, all that are not switched off."""
    every = list(daemon.house.crib.servers.values())
    if isinstance(names, list) and names:
        return [find_server(str(name), every) for name in cast("list[object]", names)]
    return [each for each in every if not each.config.disabled]


async def _refresh(sources: Sequence[McpSource], tell: Report) -> Json:
    """List them anew; each is told as it is done, and what the others are at meanwhile."""
    running = {asyncio.wrap_future(each.refresh()): each for each in sources}
    done: dict[str, Json] = {}
    left = set(running)
    while left:
        ended, left = await asyncio.wait(
            left, timeout=REPORT_EVERY_S, return_when=asyncio.FIRST_COMPLETED
        )
        for each in ended:
            server = running[each].server
            gone = RefreshResult(server, 0, 0.0, "was taken out, or stopped, meanwhile")
            done[server] = how = (gone if each.cancelled() else each.result())._asdict()
            tell({"listed": how})
        if left:
            tell({"listing": start_phases(running[each] for each in left)})
    return [done[each.server] for each in sources]


def _servers(daemon: OperatedDaemon) -> Json:
    sources = daemon.house.crib.servers.values()
    return {
        "servers": [each.status().as_json() for each in sources],
        "broken_files": list(daemon.broken),
    }


def _decide(daemon: OperatedDaemon, id: str, *, allowed: bool) -> None:
    """Raises `ConfigError` if nothing waits under this id."""
    tickets = daemon.house.crib.tickets
    full = [each.id for each in tickets.waiting() if id and each.id.startswith(id)]
    if len(full) != 1 or not (tickets.approve(full[0]) if allowed else tickets.reject(full[0])):
        told = "`toolcrib approvals list` shows what does"
        raise ConfigError(f"no call waits under {id!r}, or not any more; {told}")


def _status(daemon: OperatedDaemon) -> Json:
    crib, now = daemon.house.crib, time.monotonic()
    return {
        "pid": os.getpid(),
        "version": version("toolcrib"),
        "address": f"http://127.0.0.1:{daemon.port}/mcp",
        "uptime_s": round(now - daemon.started, 1),
        "ends_when_idle": daemon.ends_when_idle,
        "tools": len(crib.entries()),
        "running": daemon.admission.running,
        "broken_files": list(daemon.broken),
        "clients": [
            {
                "name": note.name,
                "version": note.version,
                "protocol": note.era,
                "mode": note.mode,
                "principal": note.principal,
                "profile": note.profile,
                "pid": note.pid,
                "requests": note.requests,
                "since_s": round(now - note.since, 1),
            }
            for note in daemon.shims.clients.values()
        ],
        "http": daemon.house.sessions.principals(),
        "servers": [
            {
                "server": each.server,
                "state": each.state,
                "tools": each.tools,
                "listing": each.listing,
            }
            for each in (source.status() for source in crib.servers.values())
        ],
        "waiting": len(crib.tickets.waiting()),
    }


def _ticket(ticket: Ticket) -> Json:
    asked = ticket.request
    return {
        "id": ticket.id,
        "caller": asked.caller,
        "name": asked.name,
        "description": asked.description,
        "permission_kind": asked.permission_kind,
        "arguments": asked.arguments,
        "expires_s": round(ticket.expires - time.time(), 1),
    }
