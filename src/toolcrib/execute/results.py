"""Results that are too long for a model: held for a while, read by pages and searched by lines.

They are in a store, so that a restart ends none, and any replica has them. The last few are in
memory too, by pages. What of a result is text is for `result_text` to say.
"""

import asyncio
import json
import logging
import secrets
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TypeVar

from toolcrib.errors import StoreError
from toolcrib.execute.caller import Caller
from toolcrib.execute.gates import CallRefused
from toolcrib.execute.line_search import LineMatch, as_grep, find_lines
from toolcrib.execute.pages import line_count, page_at, page_starts, size_in_words
from toolcrib.execute.result_text import most_characters, result_text
from toolcrib.model import Json, Outcome, Page
from toolcrib.store import HandleFile, ResultStore
from toolcrib.text import BadPattern, most_tokens

HELD_S = 600.0
RECENT_BYTES = 8 * 1024 * 1024
"""So much of the results that were read or made last is in memory..."""
RECENT_S = 60.0
"""...and one that was read so long, before the store is asked again whether it still has it."""

_GONE = (
    "no result is held under this handle: results are held for ten minutes, and the oldest go when"
    " there are too many. The call itself was made: repeat it only if that does no harm"
)

_log = logging.getLogger(__name__)

OutcomeT = TypeVar("OutcomeT", bound=Outcome)


@dataclass(frozen=True, slots=True)
class _HeldResult:
    """The text of a result and where its pages begin, for one caller, until it expires."""

    caller: str
    text: str
    starts: Sequence[int]
    expires: float

    @property
    def size(self) -> int:
        """What it takes of memory, in bytes."""
        return sys.getsizeof(self.text)

    @property
    def about(self) -> str:
        """How large it is, in words."""
        lines = line_count(self.text)
        return f"{size_in_words(self.text)} of text, {lines:,} {'line' if lines == 1 else 'lines'}"


def in_memory() -> ResultStore:
    """For a door that leaves nothing on disk."""
    return HandleFile(Path(":memory:"))


class HeldResults:
    """Holds results that are longer than a page. Safe to share between threads.

    How many bytes are held, and who makes room, is for `ResultStore` to say. Where the store fails,
    what is in memory counts.
    """

    def __init__(
        self,
        page_tokens: int,
        open_store: Callable[[], ResultStore] = in_memory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """The store is opened when the first result is held or asked for."""
        self.page_tokens = page_tokens
        self._open_store = open_store
        self._clock = clock
        self._store: ResultStore | None = None
        self._recent: OrderedDict[str, _HeldResult] = OrderedDict()
        self._changing = Lock()
        self._is_away = False

    async def paged(self, outcome: OutcomeT, caller: Caller) -> OutcomeT:
        """The outcome itself if its text fits on a page; else its first page, and a handle.

        Blocks that are no text go with the first page. `structured` stays as it is: who sends the
        page decides whether it is sent as well.
        """
        if most_characters(outcome, self.page_tokens) <= self.page_tokens:
            return outcome  # no character is more than a token
        text, others = result_text(outcome)
        if most_tokens(text) <= self.page_tokens:
            return outcome
        first = await asyncio.to_thread(self._first_page, text, caller)
        content: Json = [{"type": "text", "text": first.content}, *others]
        return replace(
            outcome,
            content=content if others else first.content,
            blocks=bool(others),
            handle=first.handle,
            page=first.page,
        )

    def page(self, handle: str, caller: Caller, number: int) -> Outcome:
        """One page of a held result, from 1.

        Raises `CallRefused` when this caller has no such result, or not any more, or it has no such
        page.
        """
        held = self._of(handle, caller)
        if not 1 <= number <= len(held.starts):
            message = f"there is no page {number}: this result has pages 1 to {len(held.starts)}"
            raise CallRefused("bad_arguments", "arguments", message)
        return _page(held, handle, number)

    def find(self, handle: str, caller: Caller, words: str, number: int = 1) -> Outcome:
        """The lines of a held result that have these words, or fit a `/pattern/`, by pages.

        May take seconds. Raises `CallRefused` as `page`, and for a pattern that cannot be used.
        """
        held = self._of(handle, caller)
        try:
            found = find_lines(held.text, words)
        except BadPattern as error:
            message = f"{words!r:.200}: {error}; without the slashes it is looked for as it stands"
            raise CallRefused("bad_arguments", "arguments", message) from None
        text = "\n".join(_by_pages(held, found.matches))
        starts = page_starts(text, self.page_tokens)
        if not 1 <= number <= len(starts):
            message = f"there is no page {number} of these matches; the last is {len(starts)}"
            raise CallRefused("bad_arguments", "arguments", message)
        about = _about_matches(len(found.matches), words, held.about, whole=found.whole)
        page = Page(number, len(starts), about, words)
        return Outcome(_slice(text, starts, number), handle=handle, page=page)

    def _first_page(self, text: str, caller: Caller) -> Outcome:
        """Hold a text under a new handle, or under none if it is too large to be held at all."""
        held = _HeldResult(
            caller.id, text, page_starts(text, self.page_tokens), self._clock() + HELD_S
        )
        handle = new_handle()
        try:
            is_kept = self._opened().keep_result(handle, caller.id, text, HELD_S)
            self._is_away = False
        except StoreError as error:
            self._complain(error)
            is_kept = held.size <= RECENT_BYTES
        if is_kept:
            self._note(handle, held)
        return _page(held, handle if is_kept else "", 1)

    def _of(self, handle: str, caller: Caller) -> _HeldResult:
        with self._changing:
            held = self._recent.get(handle)
        if held is None or held.expires <= self._clock():
            held = self._stored(handle, caller)
        if held is None or held.caller != caller.id:
            raise CallRefused("unknown_handle", "result", _GONE)
        self._note(handle, held)
        return held

    def _stored(self, handle: str, caller: Caller) -> _HeldResult | None:
        try:
            text = self._opened().result(handle, caller.id)
        except StoreError as error:
            message = f"the result cannot be read now; ask again later: {error}"
            raise CallRefused("store_away", "result", message) from None
        if text is None:
            return None
        starts = page_starts(text, self.page_tokens)
        return _HeldResult(caller.id, text, starts, self._clock() + RECENT_S)

    def _note(self, handle: str, held: _HeldResult) -> None:
        with self._changing:
            self._recent[handle] = held
            self._recent.move_to_end(handle)
            while sum(each.size for each in self._recent.values()) > RECENT_BYTES:
                self._recent.popitem(last=False)

    def _opened(self) -> ResultStore:
        with self._changing:
            self._store = self._store or self._open_store()
            return self._store

    def _complain(self, error: StoreError) -> None:
        """Once, until the store is back."""
        if not self._is_away:
            self._is_away = True
            _log.warning("long results are held in memory only: %s", error)


def new_handle() -> str:
    """A name that nobody guesses, short enough for a model to repeat."""
    return secrets.token_urlsafe(9)


def is_json(outcome: Outcome) -> bool:
    """Whether what a tool returned can be sent as JSON."""
    try:
        for value in (outcome.content, outcome.structured):
            if not isinstance(value, str):
                json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _page(held: _HeldResult, handle: str, number: int) -> Outcome:
    text = _slice(held.text, held.starts, number)
    about = f"{held.about}; {_part(held, held.starts[number - 1], text)}"
    return Outcome(text, handle=handle, page=Page(number, len(held.starts), about))


def _part(held: _HeldResult, start: int, text: str) -> str:
    """Which lines a page has; of a single line, which characters."""
    if line_count(held.text) == 1:
        return f"characters {start + 1:,} to {start + len(text):,}"
    first = held.text.count("\n", 0, start) + 1
    last = first + line_count(text) - 1
    return f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"


def _by_pages(held: _HeldResult, matches: Sequence[LineMatch]) -> Iterator[str]:
    """The matches, with a line before the first on each page that says which page it is."""
    last = 0
    for match, lines in as_grep(held.text, matches):
        page = page_at(held.starts, match.offset)
        yield lines if page == last else f"(page {page})\n{lines.lstrip()}"
        last = page


def _slice(text: str, starts: Sequence[int], number: int) -> str:
    end = starts[number] if number < len(starts) else len(text)
    return text[starts[number - 1] : end]


def _about_matches(count: int, words: str, about: str, *, whole: bool) -> str:
    more = "" if whole else " at least (look for something rarer to see the rest)"
    matches = "1 match" if count == 1 else f"{count:,} matches"
    return f"{matches} of {words!r:.200}{more} in {about}"
