"""Results that are too large to give whole: the first part now, the rest behind a handle."""

import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock

from toolcrib.execute.caller import Caller
from toolcrib.execute.refusal import Refused
from toolcrib.model import Json, Outcome

KEPT_S = 600.0
KEPT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Kept:
    """A whole result as text, for one caller, until it expires."""

    caller: str
    text: str
    expires: float


class Results:
    """Keeps what did not fit. The oldest makes room when there is too much of it."""

    def __init__(self, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most_bytes
        self._clock = clock
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._changing = Lock()

    def capped(self, outcome: Outcome, caller: Caller) -> Outcome:
        """The outcome, if it fits; else its first part, and a handle to the rest.

        Structured content stays as it is unless it is too large by itself: then it is a part of
        the text.
        """
        if _size(outcome.content) + _size(outcome.structured) <= self._most:
            return outcome
        fits = _size(outcome.structured) <= self._most
        structured = outcome.structured if fits else None
        both: Json = {"content": outcome.content, "structured": outcome.structured}
        text = _text(outcome.content if fits else both)
        part = self._part(text, 0)
        handle = self._keep(text, caller) if len(part) < len(text) else ""
        return replace(outcome, content=part, structured=structured, handle=handle, blocks=False)

    def rest(self, handle: str, caller: Caller, offset: int) -> Outcome:
        """The part of a result that begins at this character, with the handle if there is more.

        Raises `Refused` when there is no such result for this caller, or not any more.
        """
        with self._changing:
            self._forget()
            kept = self._kept.get(handle)
        if kept is None or kept.caller != caller.id:
            message = "no result has this handle, or not any more; make the call again"
            raise Refused("unknown_handle", "result", message)
        part = self._part(kept.text, max(0, offset))
        more = max(0, offset) + len(part) < len(kept.text)
        return Outcome(part, handle=handle if more else "")

    def _part(self, text: str, offset: int) -> str:
        """As many whole characters from there on as the most bytes hold."""
        window = text[offset : offset + self._most]
        encoded = window.encode("utf-8", "replace")[: self._most]
        return window[: len(encoded.decode("utf-8", "ignore"))]

    def _keep(self, text: str, caller: Caller) -> str:
        handle = secrets.token_urlsafe(16)
        with self._changing:
            self._forget()
            self._kept[handle] = Kept(caller.id, text, self._clock() + KEPT_S)
            while sum(len(kept.text) for kept in self._kept.values()) > KEPT_BYTES:
                self._kept.popitem(last=False)
        return handle

    def _forget(self) -> None:
        now = self._clock()
        for handle in [each for each, kept in self._kept.items() if kept.expires <= now]:
            del self._kept[handle]


def _size(value: Json) -> int:
    """The bytes of a value as JSON; nothing counts as nothing."""
    return (
        0
        if value is None
        else len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    )


def _text(content: Json) -> str:
    """Text as it is, also that of a single text block; anything else as JSON."""
    match content:
        case str(text) | [{"type": "text", "text": str(text)}]:
            return text
        case _:
            return json.dumps(content, ensure_ascii=False)
