"""From the outcome of a call to the result that goes on the wire."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from toolcrib.gateway import sdk
from toolcrib.gateway.fixed_tool_definitions import RESULT
from toolcrib.gateway.sdk import Result
from toolcrib.model import CallError, Json, JsonObject, Outcome, Page
from toolcrib.program import ProgramOutcome
from toolcrib.session import RUN_TOOL, calls_text

HANDLE_KEY: Final = "toolcrib/handle"
PAGE_KEY: Final = "toolcrib/page"
PAGES_KEY: Final = "toolcrib/pages"
REPAIRED_KEY: Final = "toolcrib/repaired"
CALLS_KEY: Final = "toolcrib/calls"
SUSPENDED_KEY: Final = "toolcrib/suspended"

_EFFECTS = {
    "not_sent": "Nothing was sent.",
    "failed": "",
    "unknown": "Nobody knows whether it took effect: look before you call again.",
}
_ASK_A_PERSON = (
    "Tell the person: `toolcrib approvals list` shows this call, `toolcrib approvals allow ID`"
    " approves it. Then make the very same call again, within five minutes."
)

_GO_ON = (
    "Nothing is lost. Tell the person: `toolcrib approvals list` shows what waits, `toolcrib"
    ' approvals allow ID` approves it. Then `{1}` with handle "{0}" goes on where it is.'
)


def text_result(text: str, meta: JsonObject | None = None) -> Result:
    """A text for a model, and `_meta` for programs."""
    return {"content": [_block(text)], **({"_meta": meta} if meta else {})}


def error_result(error: CallError, approve: str = _ASK_A_PERSON) -> Result:
    """An error of ours: for the model as text, for programs as structured content, both whole.

    `approve` says what to do where a person has to approve.
    """
    return {
        "content": [_block(error_text(error, approve))],
        "structuredContent": {"error": _fields(error, approve)},
        "isError": True,
    }


def error_text(error: CallError, approve: str = _ASK_A_PERSON) -> str:
    """Code, cause and remedy, what became of the call, and the schema where that helps."""
    lines = [f"{error.code}: {error.message}", _EFFECTS[error.effect]]
    if error.ticket:
        lines.append(approve)
    if error.schema is not None:
        lines.append(f"Parameters: {compact(error.schema)}")
    return "\n".join(filter(None, lines))


def outcome_result(outcome: Outcome, *, modern: bool, promised: bool = False) -> Result:
    """An outcome as it came: blocks, structured content, `_meta`, error.

    A long result is a page of text. Structured content goes with it only if it is `promised` by an
    output schema that the client was shown. Raises `MCPError` for the one error of a server that a
    client of the modern era acts on: a capability that it has to declare.
    """
    needs_more = outcome.meta.get("code") == sdk.MISSING_REQUIRED_CLIENT_CAPABILITY
    if modern and needs_more and outcome.error:
        raise sdk.MCPError(
            sdk.MISSING_REQUIRED_CLIENT_CAPABILITY, outcome.error.message, outcome.meta.get("data")
        )
    if outcome.error and outcome.content is None:
        return error_result(outcome.error)
    result: Result = {"content": _blocks(outcome)}
    structured = _structured(outcome, modern=modern)
    if outcome.page and not promised:
        structured = None
    if structured is not None:
        result["structuredContent"] = structured
    if meta := _meta(outcome):
        result["_meta"] = meta
    if outcome.error:
        result["isError"] = True
    return result


def program_result(outcome: ProgramOutcome, *, modern: bool) -> Result:
    """What a program printed and returned, why it ended or waits, and what became of its calls."""
    blocks: list[Json] = []
    result: Result = {}
    if outcome.content is not None:
        result = outcome_result(replace(outcome, error=None), modern=modern)
        blocks = [*result["content"]]
    if outcome.error:
        failed = error_result(outcome.error, _GO_ON.format(outcome.suspended, RUN_TOOL.name))
        result |= failed
        blocks += failed["content"]
    if outcome.calls:
        blocks.append(_block(calls_text(outcome.calls)))
        made: list[Json] = [call._asdict() for call in outcome.calls]
        result["_meta"] = {**result.get("_meta", {}), CALLS_KEY: made}
    if outcome.suspended:
        result["_meta"] = {**result.get("_meta", {}), SUSPENDED_KEY: outcome.suspended}
    return {**result, "content": blocks}


def compact(value: Json) -> str:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _blocks(outcome: Outcome) -> list[Json]:
    content = outcome.content
    blocks: list[Json] = [_block(_as_text(content))]
    if outcome.blocks and isinstance(content, list):
        blocks = [*content]
    return [_block(_page_note(outcome)), *blocks] if outcome.page else blocks


def _page_note(outcome: Outcome) -> str:
    """How large the result is, which page of it this is, and how to go on."""
    page, handle = outcome.page or Page(1, 1, ""), outcome.handle
    following = f'`{RESULT}` with handle "{handle}", page {page.number + 1}'
    if page.found:
        following += " and the same find"
    finding = f'`{RESULT}` with handle "{handle}" and find'
    return page.note(following if handle else "", finding if handle else "")


def _structured(outcome: Outcome, *, modern: bool) -> Json:
    """Structured content, if any. Only clients of the modern era take other than an object."""
    value = outcome.structured
    if value is None and isinstance(outcome.content, Mapping):
        value = outcome.content
    return value if modern or isinstance(value, Mapping) else None


def _meta(outcome: Outcome) -> dict[str, Json]:
    ours: dict[str, Json] = {}
    if outcome.handle:
        ours[HANDLE_KEY] = outcome.handle
    if outcome.page:
        ours[PAGE_KEY], ours[PAGES_KEY] = outcome.page.number, outcome.page.of
    if outcome.repaired:
        ours[REPAIRED_KEY] = list(outcome.repaired)
    return {**outcome.meta, **ours}


def _as_text(content: Json) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _block(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def _fields(error: CallError, approve: str) -> dict[str, Json]:
    """The error for programs, without what is empty."""
    fields: dict[str, Json] = {
        "code": error.code,
        "phase": error.phase,
        "message": error.message,
        "effect": error.effect,
        "retryable": error.retryable,
    }
    if error.server:
        fields["server"] = error.server
    if error.ticket:
        fields |= {"ticket": error.ticket, "remedy": approve}
    if error.schema is not None:
        fields["schema"] = error.schema
    return fields
