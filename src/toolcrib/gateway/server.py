"""The MCP server that one principal sees, in both eras of the protocol.

    server = GatewayServer(crib, principal)
    await server.server.run(read, write, server.server.create_initialization_options())

One SDK server a principal: who asks is known before anything is read, so that no request can be
taken for another's. It is served over any pair of streams, and over HTTP, any number of times at
once. `GatewayServers` makes one for each principal when it is first needed.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from threading import Lock
from typing import Any, Final, Protocol, cast

from toolcrib.crib import Crib
from toolcrib.errors import ToolcribError
from toolcrib.execute import CallRefused
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel, set_log_level
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.fixed_tools import FixedTools, FrontRequest
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.instructions import instructions
from toolcrib.gateway.list_notifications import ToolListNotifier
from toolcrib.gateway.modes import EffectiveMode
from toolcrib.gateway.offer_handlers import OfferHandlers
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.reveal_sets import RevealSets
from toolcrib.gateway.sdk import Server
from toolcrib.gateway.tool_list import ToolList, has_output_schema
from toolcrib.gateway.tool_results import error_result, outcome_result
from toolcrib.model import CallError, JsonObject, ToolInfo
from toolcrib.pool import TOOLS_UPDATED, ToolsUpdated
from toolcrib.session import SearchResult


class PrincipalServer(Protocol):
    """What one principal sees. `server` speaks both eras, on any transport."""

    @property
    def server(self) -> Server[Any]: ...
    def mode(self, client: str, *, modern: bool) -> str:
        """What a client that calls itself so is shown."""
        ...


class PrincipalServers(Protocol):
    """One window a principal, made when it is first asked for."""

    def of(self, principal: Principal, /) -> PrincipalServer: ...
    def close(self) -> None: ...


# The window: what one principal sees of a crib over MCP, in both eras of the protocol.

NAME: Final = "toolcrib"
COMPLETE: Final = "complete"
"""What the modern era wants said of every result; the SDK leaves it out for the others."""
LIST_FRESH_MS = 60_000
MOST_REVEALED = 64

_REVEALED = "toolcrib/revealed"
_GREETINGS = frozenset({"initialize", "server/discover"})


class GatewayServer:
    """What one principal sees. Made for one event loop; `close` when they are gone for good."""

    def __init__(self, crib: Crib, principal: Principal) -> None:
        self.principal = principal
        self._crib = crib
        self._rounds = InputRequests(principal)
        self._side = CallerView(crib, principal)
        self._fixed = FixedTools(self._side, RevealSets())
        self._shown = ToolList(self._side)
        self._news = ToolListNotifier(partial(self._listed, "", (), modern=True))
        self._extras = OfferHandlers(crib, principal, self._rounds, self._news.publish)
        self._unsubscribe = crib.pool.events.subscribe(TOOLS_UPDATED, self._updated)
        self.server = self._made()

    def mode(self, client: str, *, modern: bool) -> str:
        """What a client that calls itself so is shown."""
        return self._shown.mode(client, modern=modern)

    def close(self) -> None:
        """Tell nobody anything any more."""
        self._unsubscribe()
        self._rounds.close()
        self._extras.close()
        self._news.close()

    def _made(self) -> "McpServer":
        server = McpServer(
            NAME,
            version=version("toolcrib"),
            title="Toolcrib",
            cache_hints={"tools/list": sdk.CacheHint(LIST_FRESH_MS, "private")},
            get_tool_input_schema=self._schema,
            on_subscriptions_listen=self._listen,
            **self._extras.handlers(),
        )
        server.add_request_handler("logging/setLevel", sdk.SetLevelRequestParams, set_log_level)
        server.add_request_handler("tools/list", sdk.PaginatedRequestParams, self._list)
        server.add_request_handler("tools/call", sdk.CallToolRequestParams, self._call)
        server.middleware.append(self._greet)
        return server

    async def _listen(
        self, context: sdk.Context, params: sdk.SubscriptionsListenRequestParams
    ) -> sdk.SubscriptionsListenResult:
        async with self._extras.listening(context, params):
            return await self._news.listen(context, params)

    def _updated(self, _news: ToolsUpdated) -> None:
        self._news.changed()

    async def _greet(self, ctx: sdk.Context, call_next: sdk.CallNext) -> sdk.HandlerResult:
        """Add what a model is told of this server, which is another for another client."""
        result = await call_next(ctx)
        if ctx.method in _GREETINGS and isinstance(result, dict):
            mode = self._shown.mode(_client_name(ctx.params), modern=sdk.is_modern(ctx))
            told = await asyncio.to_thread(self._instructions, mode)
            return {**result, "instructions": told}
        return result

    def _instructions(self, mode: EffectiveMode) -> str:
        entries = tuple(self._side.visible.entries.values())
        return instructions(mode, entries, self._side.unavailable())

    async def _list(self, context: sdk.Context, _params: sdk.PaginatedRequestParams) -> sdk.Result:
        client, modern = sdk.client_name(context), sdk.is_modern(context)
        connection = sdk.connection_of(context)
        make = partial(self._listed, client, _revealed(connection), modern=modern)
        tools = await asyncio.to_thread(make)
        if not modern:
            again = partial(self._listed_now, client, connection)
            self._news.heard(connection, tools, again)
        return {"resultType": COMPLETE, "tools": tools}

    def _listed_now(self, client: str, connection: sdk.Connection) -> list[sdk.Result]:
        return self._listed(client, _revealed(connection), modern=False)

    def _listed(self, client: str, revealed: tuple[str, ...], *, modern: bool) -> list[sdk.Result]:
        return self._shown.tools(self._shown.mode(client, modern=modern), revealed)

    async def _call(self, context: sdk.Context, params: sdk.CallToolRequestParams) -> sdk.Result:
        async def work(heard: CallChannel) -> sdk.Result:
            try:
                result = await self._run(context, params.name, params.arguments or {}, heard)
            except CallRefused as refused:
                result = error_result(refused.error)
            except ToolcribError as error:
                result = error_result(CallError("crib_failed", "resolve", str(error)))
            return {"resultType": COMPLETE, **result}

        return await self._rounds.serve(context, work)

    async def _run(
        self, context: sdk.Context, name: str, given: JsonObject, heard: CallChannel
    ) -> sdk.Result:
        modern = sdk.is_modern(context)
        if name not in FIXED_TOOLS:
            entry = self._side.visible.resolve(name)
            outcome = await self._side.call(entry, given, heard=heard)
            promised = has_output_schema(entry.capability)
            return outcome_result(outcome, modern=modern, promised=promised)
        found: list[SearchResult] = []
        result = await self._fixed.run(name, given, FrontRequest(heard, modern, found.append))
        for each in found:
            await self._reveal(context, each)
        return result

    async def _reveal(self, context: sdk.Context, found: SearchResult) -> None:
        """Let what was found be listed on this connection, where that is the mode."""
        modern = sdk.is_modern(context)
        if self._shown.mode(sdk.client_name(context), modern=modern) != "reveal":
            return
        connection = sdk.connection_of(context)
        before = _revealed(connection)
        names = dict.fromkeys((*before, *(tool.name for tool in found.tools)))
        connection.state[_REVEALED] = tuple(names)[-MOST_REVEALED:]
        if len(names) > len(before):
            await context.session.send_tool_list_changed()

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        """The parameters of a tool that may be called by this name; None where there is none."""
        if name in FIXED_TOOLS:
            return FIXED_TOOLS[name].parameters
        entry = self._side.visible.entries.get(name)
        tool = entry.capability if entry else None
        return tool.parameters if isinstance(tool, ToolInfo) else None


class McpServer(sdk.Server[Any]):
    """A server that says on every transport that its lists may change."""

    def create_initialization_options(
        self,
        notification_options: sdk.NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> sdk.InitializationOptions:
        """As the SDK has it, but for what nobody says: then the lists may change."""
        changes = notification_options or sdk.NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(changes, experimental_capabilities, extensions)


def _revealed(connection: sdk.Connection) -> tuple[str, ...]:
    return cast("tuple[str, ...]", connection.state.get(_REVEALED, ()))


def _client_name(params: Mapping[str, Any] | None) -> str:
    """What a client calls itself in its first message; "" if it says nothing that is a name."""
    match params:
        case {"clientInfo": {"name": str(name)}}:
            return name
        case _:
            return ""


# One window a principal, made when it is first needed.

MOST_SERVERS = 256


class GatewayServers:
    """The windows of a crib. Of too many, the one used longest ago makes room.

    Who is still connected to one that had to go is served on, but is told of no change, and their
    sets are gone.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._windows: OrderedDict[Principal, GatewayServer] = OrderedDict()
        self._changing = Lock()

    def of(self, principal: Principal) -> GatewayServer:
        """The window of a principal: the same as long as it is kept."""
        with self._changing:
            window = self._windows.get(principal)
            if window is None:
                window = self._windows[principal] = GatewayServer(self._crib, principal)
            self._windows.move_to_end(principal)
            while len(self._windows) > MOST_SERVERS:
                self._windows.popitem(last=False)[1].close()
            return window

    def close(self) -> None:
        """Close them all."""
        with self._changing:
            for window in self._windows.values():
                window.close()
            self._windows.clear()
