"""One errand to its end: a server of the modern era may want to know things before it answers.

It says so in place of its answer, and is asked again with the replies and with what it wants to be
reminded of. Not for the era of the handshake, whose servers ask in between (`callbacks`).
"""

import asyncio
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from toolcrib.model import (
    CallContext,
    InputHandler,
    InputMethod,
    InputRequest,
    Json,
    JsonObject,
    log_nowhere,
)
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.capabilities import without
from toolcrib.sources.mcp.errand import Errand, Method
from toolcrib.sources.mcp.questions import forwarded
from toolcrib.sources.mcp.server import ServerConfig
from toolcrib.sources.mcp.shown import shown

MOST_ROUNDS = 10
PAUSE_S = 0.1
LONGEST_MESSAGE = 500
_WITHOUT_ANYBODY: Mapping[InputMethod, JsonObject] = {
    "elicitation/create": {"action": "cancel"},
    "roots/list": {"roots": []},
}
"""What stands for no reply. Nothing stands for a model that is not there."""
_NO_MODEL = frozenset({"sampling"})

_REQUESTS: Mapping[Method, type[sdk.Request[Any, Any]]] = {
    "tools/call": sdk.CallToolRequest,
    "resources/read": sdk.ReadResourceRequest,
    "prompts/get": sdk.GetPromptRequest,
    "completion/complete": sdk.CompleteRequest,
}
_ANSWERS: Mapping[Method, "sdk.TypeAdapter[Any]"] = {
    "tools/call": sdk.TypeAdapter(sdk.CallToolResult | sdk.InputRequiredResult),
    "resources/read": sdk.TypeAdapter(sdk.ReadResourceResult | sdk.InputRequiredResult),
    "prompts/get": sdk.TypeAdapter(sdk.GetPromptResult | sdk.InputRequiredResult),
    "completion/complete": sdk.TypeAdapter(sdk.CompleteResult),
}


class Unanswered(Exception):
    """The server wants to know what nobody here can tell it, and asks again."""


class _More(NamedTuple):
    """What goes along the next time, and what we say no longer that we can be asked."""

    params: JsonObject
    withheld: frozenset[str]


async def performed(
    session: sdk.ClientSession, errand: Errand, running: CallContext, config: ServerConfig
) -> sdk.BaseModel:
    """The server's answer, once it was told all that it asked. Raises `Unanswered`."""
    more = _More({}, frozenset())
    for _ in range(MOST_ROUNDS):
        answer = await _sent(session, errand, more, running)
        if not isinstance(answer, sdk.InputRequiredResult):
            return answer
        more = await _more(answer, running.ask, config, more.withheld)
    raise Unanswered(f"asked again after each of {MOST_ROUNDS} replies")


async def _sent(
    session: sdk.ClientSession, errand: Errand, more: _More, running: CallContext
) -> sdk.BaseModel:
    async def tell(progress: float, total: float | None, message: str | None) -> None:
        running.progress(progress, total, shown(message or "", LONGEST_MESSAGE))

    params: dict[str, Json] = {**errand.params, **more.params}
    meta = dict(without(more.withheld))
    if running.log is not log_nowhere:
        meta[sdk.LOG_LEVEL_META_KEY] = "debug"  # whoever listens picks out
    if meta:
        params["_meta"] = meta
    request = _REQUESTS[errand.method].model_validate({"method": errand.method, "params": params})
    adapter = cast("sdk.TypeAdapter[sdk.BaseModel]", _ANSWERS[errand.method])
    return await session.send_request(request, adapter, progress_callback=tell)


async def _more(
    answer: sdk.InputRequiredResult,
    ask: InputHandler,
    config: ServerConfig,
    withheld: frozenset[str],
) -> _More:
    """What to send along the next time. Raises `Unanswered`."""
    state: JsonObject = {"requestState": answer.request_state} if answer.request_state else {}
    if not answer.input_requests:
        await asyncio.sleep(PAUSE_S)  # it only wants more time
        return _More(state, withheld)
    asked = {key: _asked(request) for key, request in answer.input_requests.items()}
    may_be = {key: forwarded(config, *each) for key, each in asked.items()}
    replies = await ask({key: each for key, each in may_be.items() if each})
    given = {key: replies.get(key, _WITHOUT_ANYBODY.get(asked[key].question)) for key in asked}
    told = {key: reply for key, reply in given.items() if reply is not None}
    if len(told) < len(asked):
        if withheld:
            raise Unanswered("wants a message of a model, and nobody here can give it one")
        withheld = _NO_MODEL
    return _More({"inputResponses": told, **state}, withheld)


def _asked(request: sdk.InputRequest) -> InputRequest:
    params = request.params.model_dump(**sdk.AS_SENT) if request.params else {}
    return InputRequest(request.method, params)
