"""Resources of all servers that a principal may see: listed, read, and watched for changes.

Only its server knows a URI from another's, so here each says whose it is: `fake://a` of the server
`docs` is `toolcrib://docs/fake://a`. The same goes for templates, so that what a client makes of
one is what it would have made of the server's own.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel, LogForwarder, client_asker
from toolcrib.gateway.offers import VisibleOffers, offer_result, page
from toolcrib.model import CallContext, Outcome
from toolcrib.sources.mcp import McpSource, OfferKind
from toolcrib.text import nearest_names

LONGEST_URI = 8_192
NOT_FOUND = -32002  # of the handshake; the modern era says that the parameters are invalid
_SUBSCRIPTIONS = "toolcrib/watched"
_VARIABLE = re.compile(r"\{[^{}]*\}")

End = Callable[[], None]
"""Ends a subscription."""


class ResourceTarget(NamedTuple):
    """Whose resource it is, its own URI there, and the prefix that the request had."""

    source: McpSource
    uri: str
    prefix: str


def resource_handlers(offers: VisibleOffers) -> dict[str, Any]:
    """What an SDK server takes as `on_...`."""
    resources = Resources(offers)
    return {
        "on_list_resources": resources.list,
        "on_list_resource_templates": resources.list_templates,
        "on_read_resource": resources.read,
    }


class Resources:
    """By server, and then in the server's own order."""

    def __init__(self, offers: VisibleOffers) -> None:
        self._offers = offers

    async def list(self, context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
        return self._listed(context, params, "resources", "uri", "resources")

    async def list_templates(
        self, context: sdk.Context, params: sdk.PaginatedRequestParams
    ) -> sdk.Result:
        return self._listed(context, params, "templates", "uriTemplate", "resourceTemplates")

    async def read(self, context: sdk.Context, params: sdk.ReadResourceRequestParams) -> sdk.Result:
        """Read one, by the URI that is listed here, or by the server's own where that is unique."""
        target = find_resource(self._offers.servers(), context, params.uri)

        async def send(call_context: CallContext) -> Outcome:
            return await target.source.offers.read(target.uri, call_context)

        def read(outcome: Outcome) -> sdk.Result:
            return _contents(context, outcome, params.uri, target.prefix)

        return await self._offers.request(context, send, read)

    def _listed(
        self,
        context: sdk.Context,
        params: sdk.PaginatedRequestParams,
        kind: OfferKind,
        uri: str,
        key: str,
    ) -> sdk.Result:
        items = [
            {"name": each.key, **each.raw, uri: uri_prefix(source) + each.key}
            for source in self._offers.servers()
            for each in source.offers.listed(kind)
        ]
        return sdk.sendable(context, key, page(key, items, params))


def find_resource(servers: Sequence[McpSource], context: sdk.Context, uri: str) -> ResourceTarget:
    """The server of a URI. Raises `MCPError` for one that no server has, or several.

    One that is too long is refused before anything is looked up.
    """
    if len(uri) > LONGEST_URI:
        message = f"a URI has at most {LONGEST_URI:,} characters; this one has {len(uri):,}"
        raise sdk.MCPError(sdk.INVALID_PARAMS, message)
    for source in servers:
        prefix = uri_prefix(source)
        if uri.startswith(prefix):
            return ResourceTarget(source, uri.removeprefix(prefix), prefix)
    found = [each for each in servers if _lists(each, uri)] or [
        each for each in servers if _might_have(each, uri)
    ]
    if len(found) == 1:
        return ResourceTarget(found[0], uri, "")
    if found:
        names = ", ".join(uri_prefix(each) + uri for each in found)
        raise sdk.MCPError(sdk.INVALID_PARAMS, f"{uri!r:.200} is of several servers; say {names}")
    raise _not_found(context, uri, _near(servers, uri))


def _lists(source: McpSource, uri: str) -> bool:
    return any(each.key == uri for each in source.offers.listed("resources"))


def _might_have(source: McpSource, uri: str) -> bool:
    return any(fits_template(each.key, uri) for each in source.offers.listed("templates"))


def _near(servers: Sequence[McpSource], uri: str) -> str:
    every = [each.key for source in servers for each in source.offers.listed("resources")]
    near = ", ".join(nearest_names(uri, every))
    return f"no resource {uri!r:.200} here; " + (f"nearest: {near}" if near else "list them first")


def _not_found(context: sdk.Context, uri: str, message: str) -> sdk.MCPError:
    code = sdk.INVALID_PARAMS if sdk.is_modern(context) else NOT_FOUND
    return sdk.MCPError(code, message, {"uri": uri})


def _contents(context: sdk.Context, outcome: Outcome, uri: str, prefix: str) -> sdk.Result:
    """What was read, under URIs with the prefix of the request. Raises `MCPError`."""
    if outcome.error and outcome.meta.get("code") in (NOT_FOUND, sdk.INVALID_PARAMS):
        raise _not_found(context, uri, outcome.error.message)
    result = offer_result(outcome)
    contents = [{**each, "uri": prefix + each["uri"]} for each in result["contents"]]
    return {**result, "contents": contents, "ttlMs": 0, "cacheScope": "private"}


class ResourceSubscriptions:
    """Of one principal: by connection in the era of the handshake, by stream in the modern one."""

    def __init__(self, offers: VisibleOffers) -> None:
        self._offers = offers
        self._sending: set[asyncio.Future[None]] = set()

    def handlers(self) -> dict[str, Any]:
        """What an SDK server takes as `on_...`."""
        return {
            "on_subscribe_resource": self.subscribe,
            "on_unsubscribe_resource": self.unsubscribe,
        }

    async def subscribe(
        self, context: sdk.Context, params: sdk.SubscribeRequestParams
    ) -> sdk.EmptyResult:
        """Notify this connection of its changes, for as long as it lasts. Raises `MCPError`."""
        connection, uri = sdk.connection_of(context), params.uri
        ends = connection.state.setdefault(_SUBSCRIPTIONS, {})
        if uri not in ends:
            notify = partial(connection.send_resource_updated, uri)
            ends[uri] = await self._watch(context, uri, notify)
            connection.exit_stack.callback(_end, ends, uri)
        return sdk.EmptyResult()

    async def unsubscribe(
        self, context: sdk.Context, params: sdk.UnsubscribeRequestParams
    ) -> sdk.EmptyResult:
        """End that; without a subscription nothing happens."""
        _end(sdk.connection_of(context).state.get(_SUBSCRIPTIONS, {}), params.uri)
        return sdk.EmptyResult()

    @asynccontextmanager
    async def during(
        self, context: sdk.Context, uris: Sequence[str], notify: Callable[[str], Awaitable[None]]
    ) -> AsyncGenerator[None]:
        """Meanwhile call `notify`, on this loop, with each of these that changes: a modern stream.

        Those that cannot be watched are left out, as the protocol has it.
        """
        ends: list[End] = []
        try:
            for uri in uris:
                try:
                    ends.append(await self._watch(context, uri, lambda uri=uri: notify(uri)))
                except sdk.MCPError:
                    continue
            yield
        finally:
            for end in ends:
                end()

    async def _watch(
        self, context: sdk.Context, uri: str, notify: Callable[[], Awaitable[None]]
    ) -> End:
        """Call `notify` at every change, until `End` is called. Raises `MCPError`."""
        source, own, _ = find_resource(self._offers.servers(), context, uri)
        loop = asyncio.get_running_loop()

        def changed() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._soon, notify)

        channel = CallChannel(LogForwarder(context), client_asker(context))
        call_context = self._offers.call_context(channel)
        offer_result(await source.offers.watch(own, changed, call_context))
        return lambda: source.offers.unwatch(own, changed)

    def _soon(self, notify: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.ensure_future(notify())
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)


def _end(ends: dict[str, End], uri: str) -> None:
    if uri in ends:
        ends.pop(uri)()


def uri_prefix(source: McpSource) -> str:
    """What stands before every URI of this server."""
    return f"toolcrib://{quote(source.id or source.server, safe='')}/"


def fits_template(template: str, uri: str) -> bool:
    """Whether a URI can be one of a template: all that is fixed in it is there, in its order."""
    first, *rest = _VARIABLE.split(template)
    if not rest:
        return uri == first
    last = rest.pop()
    if not uri.startswith(first) or not uri[len(first) :].endswith(last):
        return False
    between = uri[len(first) : len(uri) - len(last)]
    for fixed in rest:
        _, found, between = between.partition(fixed) if fixed else ("", "yes", between)
        if not found:
            return False
    return True
