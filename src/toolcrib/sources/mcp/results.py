"""From what the SDK returns or raises to an outcome. Text from a server is shown, never obeyed."""

from collections.abc import Iterator

from toolcrib.model import CallError, Effect, Outcome, Phase
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.shown import shown

LONGEST_MESSAGE = 2_000


def outcome(result: sdk.CallToolResult, server: str) -> Outcome:
    """The content blocks and the structured content as they came; an error if it says it is one."""
    blocks = [
        block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content
    ]
    if not result.is_error:
        return Outcome(blocks, result.structured_content)
    message = shown(" ".join(_texts(result)), LONGEST_MESSAGE) or "the tool failed, without a word"
    error = CallError("tool_failed", "call", message, server, effect="failed")
    return Outcome(blocks, result.structured_content, error)


def failure(error: BaseException, server: str, last_words: str = "") -> Outcome:
    """What became of a call that was sent and whose reply did not come, or not in good order."""
    code, phase, retryable, effect = _kind(error)
    message = shown(f"MCP server {server!r}: {error}. {last_words}", LONGEST_MESSAGE)
    return Outcome(error=CallError(code, phase, message, server, retryable, effect))


def _kind(error: BaseException) -> tuple[str, Phase, bool, Effect]:
    if isinstance(error, TimeoutError):
        return "deadline", "call", True, "unknown"
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
