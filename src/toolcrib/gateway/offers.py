"""What the requests for resources, prompts and completions share.

A principal sees the resources and prompts of a server if the profile lets the server and at least
one of its tools through. A server without tools is seen where the profile picks no tools.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from toolcrib.access import Scope, allows_source, why_barred
from toolcrib.crib import Crib, inventory_of
from toolcrib.gateway import sdk
from toolcrib.gateway.call_channel import CallChannel
from toolcrib.gateway.input_requests import InputRequests
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.request_spans import trace_of
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


class VisibleOffers:
    """Resources and prompts of the servers that one principal may see, and requests for them."""

    def __init__(self, crib: Crib, principal: Principal, input_requests: InputRequests) -> None:
        self._crib = crib
        self._principal = principal
        self._input_requests = input_requests

    def servers(self) -> Sequence[McpSource]:
        """The servers whose resources and prompts this principal may have, by name."""
        scope = self._principal.profile.scope
        tools: dict[str, list[Entry]] = {}
        for entry in self._crib.entries().values():
            if entry.source == "mcp":
                tools.setdefault(entry.source_id or "", []).append(entry)
        every = sorted(inventory_of(self._crib).servers.items())
        return [each for _, each in every if _is_visible(each, tools.get(each.id or "", []), scope)]

    def sees(self, source: McpSource) -> bool:
        """Whether the principal may see this server. One that is gone is judged by its name."""
        if source in inventory_of(self._crib).servers.values():
            return source in self.servers()
        return allows_source(source.id or "", self._principal.profile.scope)

    async def request(
        self,
        context: sdk.Context,
        send: Callable[[CallContext], Awaitable[Outcome]],
        read: Callable[[Outcome], sdk.Result] | None = None,
    ) -> sdk.Result:
        """Send a request to a server, which may ask the client in between. Raises `MCPError`.

        `read` makes the result of the outcome; else it is `offer_result`.
        """

        async def work(channel: CallChannel) -> sdk.Result:
            return (read or offer_result)(await send(self.call_context(channel)))

        return await self._input_requests.serve(context, work)

    def call_context(self, channel: CallChannel) -> CallContext:
        """What a request of this principal has while it runs: as much time as a call.

        Raises `MCPError` for whoever may not call: a server is asked for nothing on their behalf.
        """
        if not self._principal.may_call:
            problem = "this key may search, and nothing else; ask the operator for another"
            raise sdk.MCPError(sdk.INVALID_REQUEST, problem)
        deadline = Deadline.by_default(self._crib.settings.call.timeout_s)
        caller = self._principal.caller.id
        context = CallContext.of(deadline, None, channel.ask, channel.log, caller)
        trace, trace_state = trace_of(channel.context)
        return replace(context, trace=trace, trace_state=trace_state)


def _is_visible(source: McpSource, tools: Sequence[Entry], scope: Scope) -> bool:
    if source.config.disabled or not allows_source(source.id or "", scope):
        return False
    if tools:
        return any(not why_barred(entry, scope) for entry in tools)
    return scope.allowed is None and scope.permissions is None


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
