"""What the requests for resources, prompts and completions share.

A principal sees the resources and prompts of a server if the profile lets the server and at least
one of its tools through. A server without tools is seen where the profile picks no tools.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolcrib.access import Scope, allows_source, why_barred
from toolcrib.crib import Crib, inventory_of
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.principal import Principal
from toolcrib.model import CallContext, Deadline, Entry, Outcome
from toolcrib.sources.mcp import McpSource

PAGE_SIZE = 500
LONGEST_CURSOR = 9
LIST_FIELDS: Final[Mapping[str, Any]] = {
    "resultType": "complete",
    "ttlMs": 0,
    "cacheScope": "private",
}
"""The modern era wants them in every list; the SDK leaves them out for the others."""


def visible_servers(crib: Crib, principal: Principal) -> Sequence[McpSource]:
    """The servers whose resources and prompts this principal may have, by name."""
    scope = principal.profile.scope
    tools: dict[str, list[Entry]] = {}
    for entry in crib.entries().values():
        if entry.capability.source == "mcp":
            tools.setdefault(entry.capability.source_id or "", []).append(entry)
    every = sorted(inventory_of(crib).servers.items())
    return [each for _, each in every if _is_visible(each, tools.get(each.id or "", []), scope)]


def _is_visible(source: McpSource, tools: Sequence[Entry], scope: Scope) -> bool:
    if source.config.disabled or not allows_source(source.id or "", scope):
        return False
    if tools:
        return any(not why_barred(entry, scope) for entry in tools)
    return scope.allowed is None and scope.permissions is None


def running_request(crib: Crib, principal: Principal, channel: CallChannel) -> CallContext:
    """What a request of this principal has while it runs: as much time as a call."""
    deadline = Deadline(crib.settings.call.timeout_s)
    return CallContext.of(deadline, None, channel.ask, channel.log, principal.caller.id)


def page(key: str, items: Sequence[sdk.Result], params: sdk.PaginatedRequestParams) -> sdk.Result:
    """One page of a list. Raises `MCPError` for a cursor that is none of ours."""
    begin = params.cursor or "0"
    if not begin.isdecimal() or len(begin) > LONGEST_CURSOR:
        problem = f"{begin!r:.80} is not a cursor of this list; list it from the beginning"
        raise sdk.MCPError(sdk.INVALID_PARAMS, problem)
    end = int(begin) + PAGE_SIZE
    more = {"nextCursor": str(end)} if end < len(items) else {}
    return {**LIST_FIELDS, key: list(items[int(begin) : end]), **more}


def offer_result(outcome: Outcome) -> sdk.Result:
    """The result of a request, as it goes on the wire. Raises `MCPError` where it failed."""
    if outcome.error or not isinstance(outcome.content, Mapping):
        message = outcome.error.message if outcome.error else "the server answered something else"
        code = outcome.meta.get("code")
        raise sdk.MCPError(code if isinstance(code, int) else sdk.INTERNAL_ERROR, message)
    meta = {"_meta": dict(outcome.meta)} if outcome.meta else {}
    return {"resultType": "complete", **outcome.content, **meta}
