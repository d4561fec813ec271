"""What the operator may ask of a running daemon, and the socket where it is asked.

Small requests as JSON lines, on a socket of its own, for our own user only. Neither MCP nor HTTP
leads here: no tool that a model may call can decide anything. What the commands that look at the
pool or call a tool ask is in `operator_commands`; what is asked about clients is in
`operator_clients`.
"""

import asyncio
import json
import logging
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from typing import Any, Protocol, cast

from toolcrib.crib import inventory_of
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.execute import Ticket, Tickets
from toolcrib.gateway.credentials import CannotTell
from toolcrib.gateway.gateway_metrics import count_waiting
from toolcrib.gateway.http.listener import HttpListener
from toolcrib.gateway.operator_clients import client_handlers
from toolcrib.gateway.operator_commands import command_handlers
from toolcrib.gateway.quotas import RequestLimiter
from toolcrib.gateway.serving_state import ServingState
from toolcrib.gateway.shim_connections import ShimConnections
from toolcrib.gateway.tenants import NotServed, Tenants
from toolcrib.gateway.unix_listener import UnixListener, hang_up
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import McpSource, RefreshResult, find_server
from toolcrib.system import ConnectionLimiter

MESSAGE_S = 30.0
MOST_AT_ONCE = 16
REPORT_EVERY_S = 1.0

_log = logging.getLogger(__name__)


class OperatorConnection:
    """The operator, while a request of theirs is dealt with."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def report(self, progress: Json) -> None:
        """Say how far it is. Nobody waits until that is read."""
        if not self._writer.is_closing():
            self._writer.write(_line({"told": progress}))

    async def send(self, progress: Json) -> None:
        """The same, and wait until there is room for more. Raises `OSError` once they have left."""
        self.report(progress)
        await self._writer.drain()

    async def receive(self) -> Json:
        """What the operator says next; None once they have left, or say what cannot be read."""
        try:
            return json.loads(await self._reader.readuntil(b"\n"))
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return None


OperatorHandler = Callable[[Mapping[str, Any], OperatorConnection], Awaitable[Json]]
"""Does what the operator asks; meanwhile it may report how far it is."""


class OperatorServer:
    """Listens for the operator. `handlers` are for what they may ask, by its name."""

    def __init__(self, handlers: Mapping[str, OperatorHandler]) -> None:
        self._handlers = handlers
        self._silent = ConnectionLimiter(MOST_AT_ONCE, "the operator's socket")
        self.listener = UnixListener(self._welcome)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._silent.enter(writer, writer.transport.abort)
            async with asyncio.timeout(MESSAGE_S):
                line = await reader.readuntil(b"\n")
            self._silent.leave(writer)
            connection = OperatorConnection(reader, writer)
            answer = await self._answer(
                line, connection
            )  # as long as it takes: nothing is half done
            async with asyncio.timeout(MESSAGE_S):
                writer.write(_line(answer))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            _log.debug("the operator has left")
        finally:
            self._silent.leave(writer)
            await hang_up(writer)

    async def _answer(self, line: bytes, connection: OperatorConnection) -> JsonObject:
        """What came of a request: `done`, or an `error` with cause and remedy."""
        try:
            request = json.loads(line)
            handler = self._handlers[request["do"]]
        except (ValueError, KeyError, TypeError):
            possible = ", ".join(self._handlers)
            return {"error": f"not one of: {possible}; is the daemon of another version?"}
        try:
            return {"done": await handler(request, connection)}
        except ToolcribError as error:
            return {"error": str(error)}


def _line(message: JsonObject) -> bytes:
    return json.dumps(message).encode() + b"\n"


class OperatedDaemon(Protocol):
    """What the operator reaches of a daemon."""

    serving: ServingState
    shims: ShimConnections
    request_limiter: RequestLimiter
    http: HttpListener
    started: float
    ends_when_idle: bool
    broken: tuple[str, ...]
    read_ns: int
    tenants: Tenants

    def stop(self) -> None: ...
    async def reload(self) -> None: ...
    async def catch_up(self) -> None: ...
    async def is_current(self) -> bool: ...


def operator_handlers(daemon: OperatedDaemon) -> Mapping[str, OperatorHandler]:
    """Each by its name."""

    async def status(_request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        return await asyncio.to_thread(_status, daemon)

    async def stop(_request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        daemon.stop()
        return True

    async def reload(_request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        await daemon.reload()
        return True

    async def approvals(request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        async with _tickets_of(daemon, request) as tickets:
            return [_ticket(each) for each in await asyncio.to_thread(tickets.waiting)]

    async def decide(request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        id, allowed = str(request.get("id", "")), request.get("allowed") is True
        async with _tickets_of(daemon, request) as tickets:
            await asyncio.to_thread(_decide, tickets, id, allowed=allowed)
        return True

    named = {each.__name__: each for each in (status, stop, reload, approvals, decide)}
    others = _server_handlers(daemon), command_handlers(daemon), client_handlers(daemon)
    return {**named, **{name: each for some in others for name, each in some.items()}}


def _server_handlers(daemon: OperatedDaemon) -> Mapping[str, OperatorHandler]:
    """What may be asked about the servers, each by its name."""

    async def changed(_request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        await daemon.catch_up()
        return True

    async def servers(_request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        return await asyncio.to_thread(_servers, daemon)

    async def refresh(request: Mapping[str, Any], connection: OperatorConnection) -> Json:
        with suppress(ToolcribError):  # the log and the status say what is wrong with files
            await daemon.catch_up()
        return await _refresh(_sources_named(daemon, request.get("servers")), connection)

    async def stop_server(request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        (source,) = _sources_named(daemon, [request.get("server")])
        await asyncio.wrap_future(source.stop())
        return True

    async def forget_login(request: Mapping[str, Any], _connection: OperatorConnection) -> Json:
        (source,) = _sources_named(daemon, [request.get("server")])
        return await asyncio.to_thread(source.forget_login)

    handlers = (changed, servers, refresh, stop_server, forget_login)
    return {each.__name__: each for each in handlers}


def _sources_named(daemon: OperatedDaemon, names: object) -> list[McpSource]:
    """The servers of these names; without names, all that are not switched off."""
    every = list(inventory_of(daemon.serving.crib).servers.values())
    if isinstance(names, list) and names:
        return [find_server(str(name), every) for name in cast("list[object]", names)]
    return [each for each in every if not each.config.disabled]


async def _refresh(sources: Sequence[McpSource], connection: OperatorConnection) -> Json:
    """List them anew. Report each as it is done, and what the others are at meanwhile."""
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
            done[server] = result = (gone if each.cancelled() else each.result())._asdict()
            connection.report({"listed": result})
        if left:
            connection.report(
                {"listing": {running[each].server: running[each].starting for each in left}}
            )
    return [done[each.server] for each in sources]


def _servers(daemon: OperatedDaemon) -> Json:
    sources = inventory_of(daemon.serving.crib).servers.values()
    return {
        "servers": [each.status().as_json() for each in sources],
        "broken_files": list(daemon.broken),
    }


@asynccontextmanager
async def _tickets_of(
    daemon: OperatedDaemon, request: Mapping[str, Any]
) -> AsyncGenerator[Tickets]:
    """The calls that wait at the tenant of a request; at the gateway's own if it names none.

    Raises `ConfigError` for a tenant that is not served here.
    """
    name = str(request.get("tenant") or daemon.serving.crib.settings.tenant)
    try:
        async with daemon.tenants.held(name) as state:
            yield state.crib.operator.tickets
    except (NotServed, CannotTell) as error:
        remedy = "`gateway.tenants` says which are, `toolcrib tenants list` which there are"
        raise ConfigError(f"the tenant {name!r} is not served here: {error}; {remedy}") from None


def _decide(tickets: Tickets, id: str, *, allowed: bool) -> None:
    """Raises `ConfigError` if nothing waits under this id."""
    full = [each.id for each in tickets.waiting() if id and each.id.startswith(id)]
    if len(full) != 1 or not (tickets.approve(full[0]) if allowed else tickets.reject(full[0])):
        remedy = "`toolcrib approvals list` shows those that do"
        raise ConfigError(f"no call waits under {id!r}, or not any more; {remedy}")


def _status(daemon: OperatedDaemon) -> Json:
    crib, now = daemon.serving.crib, time.monotonic()
    return {
        "pid": os.getpid(),
        "version": version("toolcrib"),
        "address": daemon.http.url,
        "protection": daemon.http.binding.protection,
        "uptime_s": round(now - daemon.started, 1),
        "ends_when_idle": daemon.ends_when_idle,
        "tools": len(crib.entries()),
        "running": daemon.request_limiter.running,
        "broken_files": list(daemon.broken),
        "clients": [
            {
                "name": client.name,
                "version": client.version,
                "protocol": client.era,
                "mode": client.mode,
                "principal": client.principal,
                "profile": client.profile,
                "pid": client.pid,
                "requests": client.requests,
                "since_s": round(now - client.since, 1),
            }
            for client in daemon.shims.clients.values()
        ],
        "http": daemon.serving.sessions.principals(),
        "servers": [
            {
                "server": each.server,
                "state": each.state,
                "tools": each.tools,
                "listing": each.listing,
            }
            for each in (source.status() for source in inventory_of(crib).servers.values())
        ],
        "waiting": count_waiting(crib),
        "tenants": [each.describe() for each in daemon.tenants],
    }


def _ticket(ticket: Ticket) -> Json:
    call = ticket.request
    return {
        "id": ticket.id,
        "caller": call.caller,
        "name": call.name,
        "description": call.description,
        "permission_kind": call.permission_kind,
        "arguments": call.arguments,
        "expires_s": round(ticket.expires - time.time(), 1),
    }
