"""The MCP server that one principal sees, in both eras of the protocol.

    server = GatewayServer(crib, principal)
    await serve_stream(server, read, write)

One server of the SDK a principal: who asks is known before anything is read, so that no request
can be taken for another's. It is served over any pair of streams, and over HTTP, any number of
times at once. `GatewayServers` makes one for each principal when it is first needed.

    tools/call ──> InputRequests ──> FixedTools or CallerView ──> Crib.call
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from threading import Lock
from typing import Any, Final, cast
from weakref import WeakSet

from toolcrib.crib import Crib, inventory_of, stores_in, tracer_in
from toolcrib.errors import ToolcribError
from toolcrib.execute import CallRefused
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel, set_log_level
from toolcrib.gateway.caller_view import CallerView
from toolcrib.gateway.client_events import ClientEvents, ListPrices, SentList, origin_of
from toolcrib.gateway.code_tool_definitions import CODE_TOOLS
from toolcrib.gateway.code_tools import CodeTools
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.fixed_tools import FixedTools
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.instructions import instructions
from toolcrib.gateway.list_notifications import ToolListNotifier
from toolcrib.gateway.modes import EffectiveMode
from toolcrib.gateway.offer_handlers import OfferHandlers
from toolcrib.gateway.operator_approver import HeldCalls, request_key
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.request_spans import RequestSpans
from toolcrib.gateway.reveal_sets import RevealSets
from toolcrib.gateway.tool_list import ToolList, has_output_schema
from toolcrib.gateway.tool_results import error_result, outcome_result
from toolcrib.model import CallError, JsonObject, ToolInfo
from toolcrib.pool import TOOLS_UPDATED, ToolsUpdated
from toolcrib.session import SearchResult

NAME: Final = "toolcrib"
COMPLETE: Final = "complete"
"""The modern era wants it in every result; the SDK leaves it out for the others."""
LIST_FRESH_MS = 60_000
MOST_REVEALED = 64
MOST_SERVERS = 256

_REVEALED = "toolcrib/revealed"
_GREETINGS = frozenset({"initialize", "server/discover"})


class GatewayServer:
    """What one principal sees. Made for one event loop; `close` when they are gone for good."""

    def __init__(
        self,
        crib: Crib,
        principal: Principal,
        prices: ListPrices | None = None,
        held: HeldCalls | None = None,
    ) -> None:
        """`prices` and `held` are those of all principals, where there are others."""
        self.principal = principal
        self._held = held or HeldCalls()
        self.sets = RevealSets(principal.caller.id, lambda: stores_in(crib).sets)
        self._view = CallerView(crib, principal, self._held)
        self._events = ClientEvents(crib, self._view, prices or ListPrices())
        self._input_requests = InputRequests(principal)
        self._spans = RequestSpans(tracer_in(crib), self._knows)
        self._fixed = CODE_TOOLS if self._view.mode == "code" else FIXED_TOOLS
        self._fixed_tools = (
            CodeTools(self._view, self._events)
            if self._fixed is CODE_TOOLS
            else FixedTools(self._view, self.sets, self._events, self._reveal)
        )
        self._tool_list = ToolList(self._view)
        self._notifier = ToolListNotifier(partial(self._listed, "", (), modern=True))
        self._offers = OfferHandlers(crib, principal, self._input_requests, self._notifier.publish)
        pool = inventory_of(crib).pool
        self._unsubscribe = pool.events.subscribe(TOOLS_UPDATED, self.tools_updated)
        self.mcp_server = self._make_mcp_server()

    def mode(self, client: str, *, modern: bool) -> EffectiveMode:
        """How tools are listed to a client that calls itself so."""
        return self._tool_list.mode(client, modern=modern)

    def revoke(self) -> None:
        """Make no call that waits: the credential of the principal works no longer."""
        self._view.is_revoked = True

    def close(self) -> None:
        """Give up what waits, and notify nobody any more."""
        self._unsubscribe()
        self._input_requests.close()
        self._offers.close()
        self._notifier.close()

    def _make_mcp_server(self) -> "McpServer":
        server = McpServer(
            NAME,
            version=version("toolcrib"),
            title="Toolcrib",
            cache_hints={"tools/list": sdk.CacheHint(LIST_FRESH_MS, "private")},
            get_tool_input_schema=self._input_schema,
            on_subscriptions_listen=self._listen,
            **self._offers.handlers(),
        )
        server.add_request_handler("logging/setLevel", sdk.SetLevelRequestParams, set_log_level)
        server.add_request_handler("tools/list", sdk.PaginatedRequestParams, self._list)
        server.add_request_handler("tools/call", sdk.CallToolRequestParams, self._call)
        server.middleware.append(self._spans.around)
        server.middleware.append(self._add_instructions)
        return server

    async def _listen(
        self, context: sdk.Context, params: sdk.SubscriptionsListenRequestParams
    ) -> sdk.SubscriptionsListenResult:
        async with self._offers.listening(context, params):
            return await self._notifier.listen(context, params)

    def tools_updated(self, _event: ToolsUpdated | None = None) -> None:
        """Notify the clients whose list is another now, be it by the pool or by the rules."""
        self._notifier.changed()

    async def _add_instructions(
        self, ctx: sdk.Context, call_next: sdk.CallNext
    ) -> sdk.HandlerResult:
        """Add the instructions to a greeting: they depend on the client and on the catalog."""
        result = await call_next(ctx)
        if ctx.method in _GREETINGS and isinstance(result, dict):
            self._events.greeted(ctx)
            client, modern = _client_name(ctx.params), sdk.is_modern(ctx)
            # To know what waits may take a while: definitions may have to be counted.
            text = await asyncio.to_thread(lambda: self._instructions(client, modern=modern))
            return {**result, "instructions": text}
        return result

    def _instructions(self, client: str, *, modern: bool) -> str:
        view, mode = self._view, self.mode(client, modern=modern)
        return instructions(mode, view.groups(), view.visible.entries, view.unavailable())

    async def _list(self, context: sdk.Context, _params: sdk.PaginatedRequestParams) -> sdk.Result:
        client, modern = sdk.client_name(context), sdk.is_modern(context)
        connection = sdk.connection_of(context)

        def list_now() -> list[sdk.Result]:
            return self._listed(client, _revealed(connection), modern=modern)

        began = time.perf_counter()
        tools = await asyncio.to_thread(list_now)
        sent = SentList(self.mode(client, modern=modern), tools, self._view.plan("nothing").core)
        self._events.listed(context, sent, time.perf_counter() - began)
        if not modern:
            self._notifier.listed(connection, tools, list_now)
        return {"resultType": COMPLETE, "tools": tools}

    def _listed(self, client: str, revealed: tuple[str, ...], *, modern: bool) -> list[sdk.Result]:
        return self._tool_list.tools(self.mode(client, modern=modern), revealed)

    def client_left(self, connection: sdk.Connection, id: int | str) -> None:
        """As `CallServer` has it."""
        self._held.client_left(request_key(connection, id))

    async def call_plainly(self, context: sdk.Context) -> bytes:
        """As `CallServer` has it."""
        params = context.params or {}
        work = partial(self._run_tool, params["name"], params.get("arguments") or {})
        serve = self._input_requests.serve_plainly
        return await self._spans.around_plain(context, work, serve)

    async def _call(self, context: sdk.Context, params: sdk.CallToolRequestParams) -> sdk.Result:
        work = partial(self._run_tool, params.name, params.arguments or {})
        return await self._input_requests.serve(context, work)

    async def _run_tool(self, name: str, arguments: JsonObject, channel: CallChannel) -> sdk.Result:
        run = self._fixed_tools.run if name in self._fixed else self._call_by_name
        try:
            result = await run(name, arguments, channel)
        except CallRefused as refused:
            result = error_result(refused.error)
        except ToolcribError as error:
            result = error_result(CallError("crib_failed", "resolve", str(error)))
        return {"resultType": COMPLETE, **result}

    async def _call_by_name(
        self, name: str, arguments: JsonObject, channel: CallChannel
    ) -> sdk.Result:
        """Call a tool that is listed by its own name. Raises `CallRefused`."""
        entry = self._view.visible.resolve(name)
        origin = origin_of(channel.context)
        outcome = await self._view.call(entry, arguments, channel, origin=origin)
        promised = has_output_schema(entry.capability)
        return outcome_result(outcome, modern=channel.is_modern, promised=promised)

    async def _reveal(self, context: sdk.Context, found: SearchResult) -> None:
        """List what was found on this connection, where that is the mode."""
        modern = sdk.is_modern(context)
        if self.mode(sdk.client_name(context), modern=modern) != "reveal":
            return
        connection = sdk.connection_of(context)
        before = _revealed(connection)
        names = dict.fromkeys((*before, *(tool.name for tool in found.tools)))
        connection.state[_REVEALED] = tuple(names)[-MOST_REVEALED:]
        if len(names) > len(before):
            await context.session.send_tool_list_changed()

    def _knows(self, name: str) -> bool:
        """Whether a tool may be called by this name."""
        return name in self._fixed or name in self._view.visible.entries

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The parameters of a tool that may be called by this name; None where there is none."""
        if name in self._fixed:
            return self._fixed[name].parameters
        entry = self._view.visible.entries.get(name)
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
        """As the SDK has it; where nobody says otherwise, the lists may change."""
        changes = notification_options or sdk.NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(changes, experimental_capabilities, extensions)


class GatewayServers:
    """One server a principal. Of too many, the one used longest ago makes room.

    Clients that are still connected to one that had to go are served on. They are notified of no
    change.
    """

    def __init__(self, crib: Crib) -> None:
        self._crib = crib
        self._prices = ListPrices()
        self._held = HeldCalls()
        self._servers: OrderedDict[Principal, GatewayServer] = OrderedDict()
        self._made: WeakSet[GatewayServer] = WeakSet()  # with those that had to go, and serve on
        self._changing = Lock()

    def of(self, principal: Principal) -> GatewayServer:
        """The server of a principal: the same as long as it is kept."""
        with self._changing:
            server = self._servers.get(principal)
            if server is None:
                server = self._servers[principal] = GatewayServer(
                    self._crib, principal, self._prices, self._held
                )
                self._made.add(server)
            self._servers.move_to_end(principal)
            while len(self._servers) > MOST_SERVERS:
                self._servers.popitem(last=False)[1].close()
            return server

    def all(self) -> tuple[GatewayServer, ...]:
        """Those that there are, the one used last at the end."""
        with self._changing:
            return tuple(self._servers.values())

    def drop(self, principals: frozenset[str]) -> None:
        """Serve these principals no longer: what is held for them ends, and is not made."""
        with self._changing:
            for server in self._made:
                if server.principal.id in principals:
                    server.revoke()
            for principal in [each for each in self._servers if each.id in principals]:
                self._servers.pop(principal).close()

    def close(self) -> None:
        """Close them all."""
        with self._changing:
            for server in self._servers.values():
                server.close()
            self._servers.clear()


def _revealed(connection: sdk.Connection) -> tuple[str, ...]:
    return cast("tuple[str, ...]", connection.state.get(_REVEALED, ()))


def _client_name(params: Mapping[str, Any] | None) -> str:
    """What a client calls itself in its first message; "" if it says nothing that is a name."""
    match params:
        case {"clientInfo": {"name": str(name)}}:
            return name
        case _:
            return ""
