"""One request to its end, and the outcome that comes of it.

A server of 2026-07-28 may answer with `InputRequiredResult`: it wants input before it goes on. Then
the same request is sent again with the replies and with its `requestState`. Older servers ask in
between instead (`client_features`). Text from a server is shown, never obeyed.
"""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from toolcrib.model import (
    CallContext,
    CallError,
    Effect,
    InputHandler,
    InputMethod,
    InputRequest,
    Json,
    JsonObject,
    Outcome,
    Phase,
    log_nowhere,
)
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.client.client_features import question_for_caller
from toolcrib.sources.mcp.client.upstream_request import UpstreamMethod, UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.sanitize import printable
from toolcrib.sources.mcp.transport.tap import without_capabilities
from toolcrib.text import Redactor

MOST_ROUND_TRIPS = 10
PAUSE_S = 0.1
LONGEST_PROGRESS = 500
_WITHOUT_ANYBODY: Mapping[InputMethod, JsonObject] = {
    "elicitation/create": {"action": "cancel"},
    "roots/list": {"roots": []},
}
"""What stands for no reply. Nothing stands for a model that is not there."""
_NO_MODEL = frozenset({"sampling"})

_REQUESTS: Mapping[UpstreamMethod, type[sdk.Request[Any, Any]]] = {
    "tools/call": sdk.CallToolRequest,
    "resources/read": sdk.ReadResourceRequest,
    "prompts/get": sdk.GetPromptRequest,
    "completion/complete": sdk.CompleteRequest,
}
_ANSWERS: Mapping[UpstreamMethod, "sdk.TypeAdapter[Any]"] = {
    "tools/call": sdk.TypeAdapter(sdk.CallToolResult | sdk.InputRequiredResult),
    "resources/read": sdk.TypeAdapter(sdk.ReadResourceResult | sdk.InputRequiredResult),
    "prompts/get": sdk.TypeAdapter(sdk.GetPromptResult | sdk.InputRequiredResult),
    "completion/complete": sdk.TypeAdapter(sdk.CompleteResult),
}


class InputUnanswered(Exception):
    """The server wants to know what nobody here can tell it, and asks again."""


class _Inputs(NamedTuple):
    """What goes along the next time, and what we say no longer that we can be asked."""

    params: JsonObject
    withheld: frozenset[str]


async def run_request(
    session: sdk.ClientSession, errand: UpstreamRequest, running: CallContext, config: ServerConfig
) -> sdk.BaseModel:
    """The server's answer, once it was told all that it asked. Raises `InputUnanswered`."""
    more = _Inputs({}, frozenset())
    for _ in range(MOST_ROUND_TRIPS):
        answer = await _send(session, errand, more, running)
        if not isinstance(answer, sdk.InputRequiredResult):
            return answer
        more = await _inputs(answer, running.ask, config, more.withheld)
    raise InputUnanswered(f"asked again after each of {MOST_ROUND_TRIPS} replies")


async def _send(
    session: sdk.ClientSession, errand: UpstreamRequest, more: _Inputs, running: CallContext
) -> sdk.BaseModel:
    async def tell(progress: float, total: float | None, message: str | None) -> None:
        running.progress(progress, total, printable(message or "", LONGEST_PROGRESS))

    params: dict[str, Json] = {**errand.params, **more.params}
    meta = dict(without_capabilities(more.withheld))
    if running.log is not log_nowhere:
        meta[sdk.LOG_LEVEL_META_KEY] = "debug"  # whoever listens picks out
    if meta:
        params["_meta"] = meta
    request = _REQUESTS[errand.method].model_validate({"method": errand.method, "params": params})
    adapter = cast("sdk.TypeAdapter[sdk.BaseModel]", _ANSWERS[errand.method])
    return await session.send_request(request, adapter, progress_callback=tell)


async def _inputs(
    answer: sdk.InputRequiredResult,
    ask: InputHandler,
    config: ServerConfig,
    withheld: frozenset[str],
) -> _Inputs:
    """What to send along the next time. Raises `InputUnanswered`."""
    state: JsonObject = {"requestState": answer.request_state} if answer.request_state else {}
    if not answer.input_requests:
        await asyncio.sleep(PAUSE_S)  # it only wants more time
        return _Inputs(state, withheld)
    asked = {key: _question(request) for key, request in answer.input_requests.items()}
    may_be = {key: question_for_caller(config, *each) for key, each in asked.items()}
    replies = await ask({key: each for key, each in may_be.items() if each})
    given = {key: replies.get(key, _WITHOUT_ANYBODY.get(asked[key].question)) for key in asked}
    told = {key: reply for key, reply in given.items() if reply is not None}
    if len(told) < len(asked):
        if withheld:
            raise InputUnanswered("wants a message of a model, and nobody here can give it one")
        withheld = _NO_MODEL
    return _Inputs({"inputResponses": told, **state}, withheld)


def _question(request: sdk.InputRequest) -> InputRequest:
    params = request.params.model_dump(**sdk.AS_SENT) if request.params else {}
    return InputRequest(request.method, params)


# From what the SDK returns or raises to an outcome. Text from a server is shown, never obeyed.

LONGEST_ERROR = 2_000


def outcome_of(result: sdk.BaseModel, server: str) -> Outcome:
    """What the server answered, as it came; an error if the tool says it is one.

    Of a tool that is its content blocks and its structured content, else the fields of the result.
    """
    said = result.model_dump(**sdk.AS_SENT, exclude={"result_type"})
    meta = said.pop("_meta", {})
    if not isinstance(result, sdk.CallToolResult):
        return Outcome(said, meta=meta)
    blocks, structured = said["content"], result.structured_content
    if not result.is_error:
        return Outcome(blocks, structured, meta=meta, blocks=True)
    message = (
        printable(" ".join(_texts(result)), LONGEST_ERROR) or "the tool failed, and gave no reason"
    )
    error = CallError("tool_failed", "call", message, server, effect="failed")
    return Outcome(blocks, structured, error, meta=meta, blocks=True)


def failed_outcome(
    error: BaseException, server: str, last_words: str = "", redactor: Redactor | None = None
) -> Outcome:
    """What became of a call that was sent and whose reply did not come, or not in good order.

    `meta` has the protocol's own `code` where the server refused it, and the `data` with which it
    says what its client has to be able to.
    """
    code, phase, retryable, effect = _kind(error)
    said = (redactor or Redactor()).text(str(error))
    message = printable(f"MCP server {server!r}: {said}. {last_words}", LONGEST_ERROR)
    meta: dict[str, Json] = {}
    if isinstance(error, sdk.MCPError) and code == "server_error":
        own = error.code == sdk.SERVERS_OWN_CLOSED
        meta["code"] = sdk.CONNECTION_CLOSED if own else error.code
        if error.code == sdk.MISSING_REQUIRED_CLIENT_CAPABILITY:
            meta["data"] = error.data
    return Outcome(error=CallError(code, phase, message, server, retryable, effect), meta=meta)


def _kind(error: BaseException) -> tuple[str, Phase, bool, Effect]:
    if isinstance(error, TimeoutError):
        return "deadline", "call", True, "unknown"
    if isinstance(error, InputUnanswered):
        return "unanswered", "call", False, "failed"
    if isinstance(error, sdk.ValidationError):
        return "bad_reply", "result", False, "unknown"
    if not isinstance(error, sdk.MCPError):
        return "connection_lost", "call", True, "unknown"
    by_code: dict[int, tuple[str, Phase, bool, Effect]] = {
        sdk.CONNECTION_CLOSED: ("connection_lost", "call", True, "unknown"),
        sdk.TOO_LARGE: ("result_too_large", "result", False, "unknown"),
        sdk.UNREADABLE: ("bad_reply", "result", False, "unknown"),
    }
    return by_code.get(error.code, ("server_error", "call", False, "failed"))


def _texts(result: sdk.CallToolResult) -> Iterator[str]:
    for block in result.content:
        if block.type == "text":
            yield block.text
