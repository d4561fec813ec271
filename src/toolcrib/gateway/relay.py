"""From an outcome to what goes on the wire, and what is told meanwhile."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

from toolcrib.gateway import sdk
from toolcrib.gateway.sdk import Result
from toolcrib.gateway.surface import RESULT
from toolcrib.model import CallError, Json, JsonObject, Outcome, Page
from toolcrib.session.result_page import in_words

MOST_WAITING = 64

HANDLE: Final = "toolcrib/handle"
PAGE: Final = "toolcrib/page"
PAGES: Final = "toolcrib/pages"
REPAIRED: Final = "toolcrib/repaired"

_EFFECTS = {
    "not_sent": "Nothing was sent.",
    "failed": "",
    "unknown": "Nobody knows whether it took effect: look before you call again.",
}
_PERSON = (
    "Tell the person: `toolcrib approvals list` shows this call, `toolcrib approvals allow ID`"
    " approves it. Then make the very same call again, within five minutes."
)


def text_result(text: str, meta: JsonObject | None = None) -> Result:
    """A text for a model, and what programs may want beside it."""
    return {"content": [_block(text)], **({"_meta": meta} if meta else {})}


def error_result(error: CallError) -> Result:
    """An error of ours: for the model as text, for programs as structured content, both whole."""
    return {
        "content": [_block(error_text(error))],
        "structuredContent": {"error": _fields(error)},
        "isError": True,
    }


def error_text(error: CallError) -> str:
    """Code, cause and remedy, what became of the call, and the schema where that helps."""
    lines = [f"{error.code}: {error.message}", _EFFECTS[error.effect]]
    if error.ticket:
        lines.append(_PERSON)
    if error.schema is not None:
        lines.append(f"Parameters: {compact(error.schema)}")
    return "\n".join(filter(None, lines))


def outcome_result(outcome: Outcome, *, modern: bool, promised: bool = False) -> Result:
    """An outcome as it came: blocks, structured content, `_meta`, error.

    Of a long result it is a page of text, once: structured content goes with it only if it is
    `promised`, by an output schema that the client was shown. Raises `MCPError` for the one error
    of a server that a client of the modern era acts on: what it has to declare.
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


def compact(value: Json) -> str:
    """JSON without a space to spare."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class ProgressRelay:
    """Hands progress on to whoever made the front request, in order, and none after its result.

    A client that does not read fast enough misses the oldest.
    """

    def __init__(
        self, report: Callable[[float, float | None, str | None], Awaitable[None]]
    ) -> None:
        self._report = report
        self._waiting: deque[tuple[float, float | None, str]] = deque(maxlen=MOST_WAITING)
        self._sending: asyncio.Task[None] | None = None
        self._over = False

    def __call__(self, done: float, every: float | None, message: str) -> None:
        """As `Progress` in the model."""
        if not self._over:
            self._waiting.append((done, every, message))
            if self._sending is None or self._sending.done():
                self._sending = asyncio.ensure_future(self._send())

    async def end(self) -> None:
        """Return when all is sent that was told until now; what comes later is not.

        Cancelled, it sends no more.
        """
        self._over = True
        if self._sending:
            await self._sending

    async def _send(self) -> None:
        with suppress(Exception):  # the client is gone: its call ends by itself
            while self._waiting:
                done, every, message = self._waiting.popleft()
                await self._report(done, every, message or None)


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
    return in_words(page, following if handle else "", finding if handle else "")


def _structured(outcome: Outcome, *, modern: bool) -> Json:
    """Structured content, where there is some: an object, but for the modern era."""
    value = outcome.structured
    if value is None and isinstance(outcome.content, Mapping):
        value = outcome.content
    return value if modern or isinstance(value, Mapping) else None


def _meta(outcome: Outcome) -> dict[str, Json]:
    ours: dict[str, Json] = {}
    if outcome.handle:
        ours[HANDLE] = outcome.handle
    if outcome.page:
        ours[PAGE], ours[PAGES] = outcome.page.number, outcome.page.of
    if outcome.repaired:
        ours[REPAIRED] = list(outcome.repaired)
    return {**outcome.meta, **ours}


def _as_text(content: Json) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def _block(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def _fields(error: CallError) -> dict[str, Json]:
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
        fields |= {"ticket": error.ticket, "remedy": _PERSON}
    if error.schema is not None:
        fields["schema"] = error.schema
    return fields
