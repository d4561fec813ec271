"""From what the SDK returns or raises to an outcome. Text from a server is shown, never obeyed."""

from collections.abc import Iterator

from toolcrib.model import CallError, Effect, Json, Outcome, Phase
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.rounds import Unanswered
from toolcrib.sources.mcp.shown import shown
from toolcrib.text.redactor import Redactor

LONGEST_MESSAGE = 2_000


def outcome(result: sdk.BaseModel, server: str) -> Outcome:
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
        shown(" ".join(_texts(result)), LONGEST_MESSAGE) or "the tool failed, and gave no reason"
    )
    error = CallError("tool_failed", "call", message, server, effect="failed")
    return Outcome(blocks, structured, error, meta=meta, blocks=True)


def failure(
    error: BaseException, server: str, last_words: str = "", redactor: Redactor | None = None
) -> Outcome:
    """What became of a call that was sent and whose reply did not come, or not in good order.

    `meta` has the protocol's own `code` where the server refused it, and the `data` with which it
    says what its client has to be able to.
    """
    code, phase, retryable, effect = _kind(error)
    said = (redactor or Redactor()).text(str(error))
    message = shown(f"MCP server {server!r}: {said}. {last_words}", LONGEST_MESSAGE)
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
    if isinstance(error, Unanswered):
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
