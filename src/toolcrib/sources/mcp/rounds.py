"""One errand to its end: a server of the modern era may want to know things before it answers.

It says so in place of its answer, and is asked again with the replies and with what it wants to be
reminded of. Not for the era of the handshake, whose servers ask in between (`callbacks`).
"""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from toolcrib.model import Ask, Asked, Json, JsonObject, Running, log_nowhere
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.errand import Errand, Method
from toolcrib.sources.mcp.questions import forwarded
from toolcrib.sources.mcp.server import ServerConfig
from toolcrib.sources.mcp.shown import shown

MOST_ROUNDS = 10
PAUSE_S = 0.1
LONGEST_MESSAGE = 500
CANCELLED: JsonObject = {"action": "cancel"}

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
    """The server wants to know what nobody here can tell it."""


async def performed(
    session: sdk.ClientSession, errand: Errand, running: Running, config: ServerConfig
) -> sdk.BaseModel:
    """The server's answer, once it was told all that it asked. Raises `Unanswered`."""
    more: JsonObject = {}
    for _ in range(MOST_ROUNDS):
        answer = await _sent(session, errand, more, running)
        if not isinstance(answer, sdk.InputRequiredResult):
            return answer
        more = await _more(answer, running.ask, config)
    raise Unanswered(f"asked again after each of {MOST_ROUNDS} replies")


async def _sent(
    session: sdk.ClientSession, errand: Errand, more: JsonObject, running: Running
) -> sdk.BaseModel:
    async def tell(progress: float, total: float | None, message: str | None) -> None:
        running.progress(progress, total, shown(message or "", LONGEST_MESSAGE))

    params: dict[str, Json] = {**errand.params, **more}
    if running.log is not log_nowhere:
        params["_meta"] = {sdk.LOG_LEVEL_META_KEY: "debug"}  # whoever listens picks out
    request = _REQUESTS[errand.method].model_validate({"method": errand.method, "params": params})
    adapter = cast("sdk.TypeAdapter[sdk.BaseModel]", _ANSWERS[errand.method])
    return await session.send_request(request, adapter, progress_callback=tell)


async def _more(answer: sdk.InputRequiredResult, ask: Ask, config: ServerConfig) -> JsonObject:
    """What to send along the next time."""
    state: JsonObject = {"requestState": answer.request_state} if answer.request_state else {}
    if not answer.input_requests:
        await asyncio.sleep(PAUSE_S)  # it only wants more time
        return state
    asked = {key: _asked(request) for key, request in answer.input_requests.items()}
    may_be = {key: forwarded(config, *each) for key, each in asked.items()}
    replies = await ask({key: each for key, each in may_be.items() if each})
    return {"inputResponses": {key: _reply(asked[key], replies.get(key)) for key in asked}, **state}


def _asked(request: sdk.InputRequest) -> Asked:
    params = request.params.model_dump(**sdk.AS_SENT) if request.params else {}
    return Asked(request.method, params)


def _reply(asked: Asked, reply: JsonObject | None) -> JsonObject:
    """The reply, or what stands for none: an elicitation can be dismissed, the others cannot."""
    if reply is not None:
        return reply
    if asked.question == "elicitation/create":
        return CANCELLED
    raise Unanswered(f"wants {asked.question}, and nobody here can reply to that")
