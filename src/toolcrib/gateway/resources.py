"""Resources and their templates of all servers that a guest may see, and reading one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.asking import Heard
from toolcrib.gateway.beside import page, result, running, seen_servers
from toolcrib.gateway.guest import Guest
from toolcrib.gateway.rounds import Rounds
from toolcrib.gateway.uris import fits, prefix
from toolcrib.model import Outcome
from toolcrib.sources.mcp.known import Offer
from toolcrib.sources.mcp.source import McpSource
from toolcrib.text.nearest import nearest

NOT_FOUND = -32002  # of the handshake; the modern era says that the parameters are invalid


class Meant(NamedTuple):
    """Whose resource it is, its own URI there, and what stood before that."""

    source: McpSource
    uri: str
    before: str


def handlers(crib: Crib, guest: Guest, rounds: Rounds) -> dict[str, Any]:
    """What an SDK server takes as `on_...`, for this guest."""
    served = Resources(crib, guest, rounds)
    return {
        "on_list_resources": served.list,
        "on_list_resource_templates": served.list_templates,
        "on_read_resource": served.read,
    }


class Resources:
    """By server, and then in the server's own order."""

    def __init__(self, crib: Crib, guest: Guest, rounds: Rounds) -> None:
        self._crib = crib
        self._guest = guest
        self._rounds = rounds

    async def list(self, context: sdk.Context, params: sdk.PaginatedRequestParams) -> sdk.Result:
        return self._listed(context, params, "resources", "uri", "resources")

    async def list_templates(
        self, context: sdk.Context, params: sdk.PaginatedRequestParams
    ) -> sdk.Result:
        return self._listed(context, params, "templates", "uriTemplate", "resourceTemplates")

    async def read(self, context: sdk.Context, params: sdk.ReadResourceRequestParams) -> sdk.Result:
        """Read one, by the URI that is listed here, or by the server's own where that is unique."""
        meant = meant_resource(seen_servers(self._crib, self._guest), context, params.uri)

        async def work(heard: Heard) -> sdk.Result:
            under_way = running(self._crib, self._guest, heard)
            outcome = await meant.source.offers.read(meant.uri, under_way)
            return _contents(context, outcome, params.uri, meant.before)

        return await self._rounds.serve(context, work)

    def _listed(
        self,
        context: sdk.Context,
        params: sdk.PaginatedRequestParams,
        kind: Offer,
        uri: str,
        key: str,
    ) -> sdk.Result:
        items = [
            {"name": each.key, **each.raw, uri: prefix(source) + each.key}
            for source in seen_servers(self._crib, self._guest)
            for each in source.offers.listed(kind)
        ]
        return sdk.sendable(context, key, page(key, items, params))


def meant_resource(servers: Sequence[McpSource], context: sdk.Context, uri: str) -> Meant:
    """Raises `MCPError` for what is nobody's, and for what is of several."""
    for source in servers:
        before = prefix(source)
        if uri.startswith(before):
            return Meant(source, uri.removeprefix(before), before)
    found = [each for each in servers if _lists(each, uri)] or [
        each for each in servers if _might_have(each, uri)
    ]
    if len(found) == 1:
        return Meant(found[0], uri, "")
    if found:
        names = ", ".join(prefix(each) + uri for each in found)
        raise sdk.MCPError(sdk.INVALID_PARAMS, f"{uri!r:.200} is of several servers; say {names}")
    raise _not_found(context, uri, _near(servers, uri))


def _lists(source: McpSource, uri: str) -> bool:
    return any(each.key == uri for each in source.offers.listed("resources"))


def _might_have(source: McpSource, uri: str) -> bool:
    return any(fits(each.key, uri) for each in source.offers.listed("templates"))


def _near(servers: Sequence[McpSource], uri: str) -> str:
    every = [each.key for source in servers for each in source.offers.listed("resources")]
    near = ", ".join(nearest(uri, every))
    return f"no resource {uri!r:.200} here; " + (f"nearest: {near}" if near else "list them first")


def _not_found(context: sdk.Context, uri: str, message: str) -> sdk.MCPError:
    code = sdk.INVALID_PARAMS if sdk.is_modern(context) else NOT_FOUND
    return sdk.MCPError(code, message, {"uri": uri})


def _contents(context: sdk.Context, outcome: Outcome, asked: str, before: str) -> sdk.Result:
    """What was read, under URIs of the kind that was asked for. Raises `MCPError`."""
    if outcome.error and outcome.meta.get("code") in (NOT_FOUND, sdk.INVALID_PARAMS):
        raise _not_found(context, asked, outcome.error.message)
    read = result(outcome)
    contents = [{**each, "uri": before + each["uri"]} for each in read["contents"]]
    return {**read, "contents": contents, "ttlMs": 0, "cacheScope": "private"}
