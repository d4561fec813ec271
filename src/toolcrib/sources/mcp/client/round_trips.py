"""One request to its end, and the outcome that comes of it.

A server of 2026-07-28 may answer with `InputRequiredResult`: it wants input before it goes on. Then
the same request is sent again with the replies and with its `requestState`. Older servers ask in
between instead (`client_features`). Text from a server is shown, never obeyed.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

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
from toolcrib.sources.mcp.client.senders import PlainResult, RequestSender, UpstreamResult
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
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


class InputUnanswered(Exception):
    """The server wants input that nobody here can give it, and asks for it again."""


class _Inputs(NamedTuple):
    """What the next round trip sends along, and which client capabilities it does not declare."""

    params: JsonObject
    withheld: frozenset[str]


async def run_request(
    send: RequestSender, request: UpstreamRequest, context: CallContext, config: ServerConfig
) -> UpstreamResult:
    """The server's result, after all the input that it wants. Raises `InputUnanswered`."""

    def on_progress(done: float, total: float | None, message: str) -> None:
        context.deadline.renew()
        context.progress(done, total, short_line(message, LONGEST_PROGRESS))

    inputs = _Inputs({}, frozenset())
    for _ in range(MOST_ROUND_TRIPS):
        params = _params(request, inputs, context)
        result = await send(request.method, params, on_progress)
        if not isinstance(result, sdk.InputRequiredResult):
            return result
        inputs = await _inputs(result, context.ask, config, inputs.withheld)
    raise InputUnanswered(f"asked again after each of {MOST_ROUND_TRIPS} replies")


def _params(request: UpstreamRequest, inputs: _Inputs, context: CallContext) -> JsonObject:
    params: dict[str, Json] = {**request.params, **inputs.params}
    meta = {**without_capabilities(inputs.withheld), **trace_meta(context)}
    if context.log is not log_nowhere:
        meta[sdk.LOG_LEVEL_META_KEY] = "debug"  # the caller filters
    if meta:
        params["_meta"] = meta
    return params


def trace_meta(context: CallContext) -> dict[str, str]:
    """How a request says in `_meta` which trace it is part of; empty if it is part of none."""
    if not context.trace:
        return {}
    meta = {"traceparent": context.trace}
    return {**meta, "tracestate": context.trace_state} if context.trace_state else meta


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


def outcome_of(result: UpstreamResult, server: str) -> Outcome:
    """The result as it came; an error if the tool says that it is one.

    The content is the content blocks of a tool, else all fields of the result.
    """
    if isinstance(result, Mapping):
        return _plain_outcome(result, server)
    dumped = result.model_dump(**sdk.AS_SENT, exclude={"result_type"})
    meta = dumped.pop("_meta", {})
    if not isinstance(result, sdk.CallToolResult):
        return Outcome(dumped, meta=meta)
    blocks, structured = dumped["content"], result.structured_content
    if not result.is_error:
        return Outcome(blocks, structured, meta=meta, blocks=True)
    error = _tool_failed(_texts(result), server)
    return Outcome(blocks, structured, error, meta=meta, blocks=True)


def _plain_outcome(result: PlainResult, server: str) -> Outcome:
    blocks = cast("Sequence[Mapping[str, str]]", result["content"])
    content, structured = result["content"], result.get("structuredContent")
    if not result.get("isError"):
        return Outcome(content, structured, blocks=True)
    error = _tool_failed((each["text"] for each in blocks), server)
    return Outcome(content, structured, error, blocks=True)


def _tool_failed(texts: Iterable[str], server: str) -> CallError:
    message = short_line(" ".join(texts), LONGEST_ERROR) or "the tool failed, and gave no reason"
    return CallError("tool_failed", "call", message, server, effect="failed")


def failed_outcome(
    error: BaseException, server: str, last_words: str = "", redactor: Redactor | None = None
) -> Outcome:
    """The outcome of a request that was sent and that has no usable reply.

    If the server refused it, `meta` has the `code` of JSON-RPC, and the `data` in which the server
    names the client capabilities that it needs.
    """
    code, phase, retryable, effect = _kind(error)
    text = (redactor or Redactor()).text(str(error) or type(error).__name__)
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
