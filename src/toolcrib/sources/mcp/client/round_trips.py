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
from toolcrib.sources.mcp.sanitize import short_line
from toolcrib.sources.mcp.transport.tap import without_capabilities
from toolcrib.text import Redactor

MOST_ROUND_TRIPS = 10
PAUSE_S = 0.1
LONGEST_PROGRESS = 500
LONGEST_ERROR = 2_000
_NO_REPLY: Mapping[InputMethod, JsonObject] = {
    "elicitation/create": {"action": "cancel"},
    "roots/list": {"roots": []},
}
"""What a server gets where nobody replies. For sampling there is no such reply."""
_NO_MODEL = frozenset({"sampling"})

_REQUESTS: Mapping[UpstreamMethod, type[sdk.Request[Any, Any]]] = {
    "tools/call": sdk.CallToolRequest,
    "resources/read": sdk.ReadResourceRequest,
    "prompts/get": sdk.GetPromptRequest,
    "completion/complete": sdk.CompleteRequest,
}
_RESULTS: Mapping[UpstreamMethod, "sdk.TypeAdapter[Any]"] = {
    "tools/call": sdk.TypeAdapter(sdk.CallToolResult | sdk.InputRequiredResult),
    "resources/read": sdk.TypeAdapter(sdk.ReadResourceResult | sdk.InputRequiredResult),
    "prompts/get": sdk.TypeAdapter(sdk.GetPromptResult | sdk.InputRequiredResult),
    "completion/complete": sdk.TypeAdapter(sdk.CompleteResult),
}


class InputUnanswered(Exception):
    """The server wants input that nobody here can give it, and asks for it again."""


class _Inputs(NamedTuple):
    """What the next round trip sends along, and which client capabilities it does not declare."""

    params: JsonObject
    withheld: frozenset[str]


async def run_request(
    session: sdk.ClientSession, request: UpstreamRequest, context: CallContext, config: ServerConfig
) -> sdk.BaseModel:
    """The server's result, after all the input that it wants. Raises `InputUnanswered`."""

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        context.progress(progress, total, short_line(message or "", LONGEST_PROGRESS))

    adapter = cast("sdk.TypeAdapter[sdk.BaseModel]", _RESULTS[request.method])
    wants_log = context.log is not log_nowhere
    inputs = _Inputs({}, frozenset())
    for _ in range(MOST_ROUND_TRIPS):
        message = _message(request, inputs, wants_log=wants_log)
        result = await session.send_request(message, adapter, progress_callback=on_progress)
        if not isinstance(result, sdk.InputRequiredResult):
            return result
        inputs = await _inputs(result, context.ask, config, inputs.withheld)
    raise InputUnanswered(f"asked again after each of {MOST_ROUND_TRIPS} replies")


def _message(
    request: UpstreamRequest, inputs: _Inputs, *, wants_log: bool
) -> "sdk.Request[Any, Any]":
    params: dict[str, Json] = {**request.params, **inputs.params}
    meta = dict(without_capabilities(inputs.withheld))
    if wants_log:
        meta[sdk.LOG_LEVEL_META_KEY] = "debug"  # the caller filters
    if meta:
        params["_meta"] = meta
    kind = _REQUESTS[request.method]
    return kind.model_validate({"method": request.method, "params": params})


async def _inputs(
    result: sdk.InputRequiredResult,
    ask: InputHandler,
    config: ServerConfig,
    withheld: frozenset[str],
) -> _Inputs:
    """What to send along the next time. Raises `InputUnanswered`."""
    state: JsonObject = {"requestState": result.request_state} if result.request_state else {}
    if not result.input_requests:
        await asyncio.sleep(PAUSE_S)  # it only wants more time
        return _Inputs(state, withheld)
    questions = {key: _question(each) for key, each in result.input_requests.items()}
    allowed = {key: question_for_caller(config, *each) for key, each in questions.items()}
    replies = await ask({key: each for key, each in allowed.items() if each})
    responses: dict[str, Json] = {}
    for key, question in questions.items():
        reply = replies.get(key, _NO_REPLY.get(question.question))
        if reply is not None:
            responses[key] = reply
    if len(responses) < len(questions):
        if withheld:
            raise InputUnanswered("wants a message of a model, and nobody here can give it one")
        withheld = _NO_MODEL
    return _Inputs({"inputResponses": responses, **state}, withheld)


def _question(request: sdk.InputRequest) -> InputRequest:
    params = request.params.model_dump(**sdk.AS_SENT) if request.params else {}
    return InputRequest(request.method, params)


def outcome_of(result: sdk.BaseModel, server: str) -> Outcome:
    """The result as it came; an error if the tool says that it is one.

    The content is the content blocks of a tool, else all fields of the result.
    """
    dumped = result.model_dump(**sdk.AS_SENT, exclude={"result_type"})
    meta = dumped.pop("_meta", {})
    if not isinstance(result, sdk.CallToolResult):
        return Outcome(dumped, meta=meta)
    blocks, structured = dumped["content"], result.structured_content
    if not result.is_error:
        return Outcome(blocks, structured, meta=meta, blocks=True)
    message = (
        short_line(" ".join(_texts(result)), LONGEST_ERROR) or "the tool failed, and gave no reason"
    )
    error = CallError("tool_failed", "call", message, server, effect="failed")
    return Outcome(blocks, structured, error, meta=meta, blocks=True)


def failed_outcome(
    error: BaseException, server: str, last_words: str = "", redactor: Redactor | None = None
) -> Outcome:
    """The outcome of a request that was sent and that has no usable reply.

    If the server refused it, `meta` has the `code` of JSON-RPC, and the `data` in which the server
    names the client capabilities that it needs.
    """
    code, phase, retryable, effect = _kind(error)
    text = (redactor or Redactor()).text(str(error))
    message = short_line(f"MCP server {server!r}: {text}. {last_words}", LONGEST_ERROR)
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
