"""What use teaches: heard as it happens, kept in memory, and written now and then.

Whoever calls or searches never waits for a file: what is new is gathered and goes to the store in
one transaction, a minute after the first of it and when the crib is closed. Without a store it
stays in memory.
"""

import logging
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock, Timer
from typing import Protocol

from toolcrib.errors import StoreError
from toolcrib.store import UseLesson, UseLessonKey, UsePair, UseRecord, UseStore
from toolcrib.uses.conversations import Conversations, RecentSearch
from toolcrib.uses.counts import LessonBook, PairCounts, word_hashes
from toolcrib.uses.hints import Links, UseHints, most_first, often_with

WRITE_EVERY_S = 60.0
MOST_PENDING = 256
DAY_S = 86_400
HALF_LIFE_DAYS = 30.0

_log = logging.getLogger(__name__)


class StoreOpener(Protocol):
    """The way to the store: None where there is none yet and none is to be made."""

    def __call__(self, *, make: bool) -> UseStore | None: ...


@dataclass(slots=True)
class _Unwritten:
    """What was heard and not written yet."""

    pairs: Counter[UsePair] = field(default_factory=Counter[UsePair])
    lessons: dict[UseLessonKey, UseLesson] = field(default_factory=dict[UseLessonKey, UseLesson])

    def __bool__(self) -> bool:
        return bool(self.pairs or self.lessons)


class UseHistory:
    """Hears of calls and searches, and tells what goes with what. Safe to share between threads.

    Without a `store` all stays in memory. `clock` tells the time in seconds, as `time.time` does.
    """

    def __init__(
        self,
        store: StoreOpener | None = None,
        *,
        half_life_days: float = HALF_LIFE_DAYS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._half_life_days = half_life_days
        self._clock = clock
        self._turn = Lock()
        self._writing = Lock()
        self._conversations = Conversations()
        self._pending: deque[tuple[str, str, float]] = deque()
        self._unwritten = _Unwritten()
        self._timer: Timer | None = None
        self._read = store is None
        self._key = secrets.token_bytes(16)
        self._pairs = PairCounts()
        self._lessons = LessonBook(half_life_days=half_life_days)

    def called(self, caller: str, tool: str) -> None:
        """A call of this tool went well. Costs a microsecond, and never fails.

        What it means is worked out by the next one who asks, or by the writer.
        """
        self._pending.append((caller, tool, self._clock()))
        if self._timer is None and self._store:
            self._write_later()
        if len(self._pending) >= MOST_PENDING:
            with self._turn:
                self._work_out()

    def searched(
        self, caller: str, rights: bytes, words: Sequence[str], found: Sequence[str]
    ) -> None:
        """A search that may lead to a call: what is learned from it is learned then."""
        if words and found:
            self._read_once(make=True)
            search = RecentSearch(rights, word_hashes(words, self._key), frozenset(found))
            with self._turn:
                self._work_out()
                self._conversations.of(caller, self._clock()).searches.append(search)

    def shares(self, rights: bytes, words: Sequence[str]) -> Mapping[str, float]:
        """How firmly the words of a query have led callers of this profile to which tools."""
        self._read_once(make=True)
        today = int(self._clock() // DAY_S)
        with self._turn:
            self._work_out()
            return self._lessons.shares(rights, word_hashes(words, self._key), today)

    def often_with(self, links: Links) -> Callable[[str], tuple[str, ...]]:
        """What tells of a tool what it is often used with, the most often first."""
        self._read_once()
        with self._turn:
            self._work_out()

        def of_tool(tool: str) -> tuple[str, ...]:
            with self._turn:
                pairs = self._pairs
                return often_with(
                    links.get(tool, ()), pairs.followers(tool), pairs.predecessors(tool)
                )

        return of_tool

    def hints(self, tool: str, links: Links) -> UseHints:
        """All that is known of what a tool is used with. Raises `StoreError`."""
        record = self.record()
        pairs, linked = PairCounts(record.pairs), links.get(tool, ())
        after, before = pairs.followers(tool), pairs.predecessors(tool)
        return UseHints(
            name=tool,
            often_with=often_with(linked, after, before),
            links=tuple(linked),
            followers=most_first(after),
            predecessors=most_first(before),
            lessons=sum(key.tool == tool for key in record.lessons),
        )

    def record(self) -> UseRecord:
        """Everything that is kept, written or not. Raises `StoreError`."""
        self._refresh()
        with self._turn:
            self._work_out()
            return UseRecord(dict(self._pairs.items()), dict(self._lessons.items()), self._key)

    def forget(self, tool: str = "") -> int:
        """Erase what is kept about a tool, or all of it. How many things that were.

        Raises `StoreError`.
        """
        self.write()
        with self._turn:
            self._conversations.clear()
        if self._store and (store := self._store(make=False)):
            erased = store.forget_used(tool)
            self._take(store.used())
            return erased
        return self._forget_in_memory(tool)

    def write(self) -> None:
        """Write what is new. Raises `StoreError`, and then it is lost."""
        with self._writing:
            with self._turn:
                self._work_out()
                news, self._unwritten, self._timer = self._unwritten, _Unwritten(), None
            if news and self._store and (store := self._store(make=True)):
                more = UseRecord(dict(news.pairs), news.lessons)
                store.keep_used(more, half_life_days=self._half_life_days)
                self._take(store.used())

    def close(self) -> None:
        """Write what is new; what cannot be written is logged and lost."""
        if timer := self._timer:
            timer.cancel()
        self._write_or_log()

    def _work_out(self) -> None:
        """What the calls that were heard mean, in their order. Whoever has the turn may ask."""
        while self._pending:
            caller, tool, now = self._pending.popleft()
            conversation = self._conversations.of(caller, now)
            for pair in conversation.called(tool):
                self._pairs.add(pair)
                self._unwritten.pairs[pair] += 1
            for key in conversation.taught(tool):
                self._learn(key, UseLesson(1, 1.0, int(now // DAY_S)))
        if self._store is None:
            self._unwritten = _Unwritten()

    def _learn(self, key: UseLessonKey, lesson: UseLesson) -> None:
        self._lessons.add(key, lesson)
        before = self._unwritten.lessons.get(key, UseLesson())
        self._unwritten.lessons[key] = before.again(lesson, self._half_life_days)

    def _write_later(self) -> None:
        """A minute from now, in a thread that ends with the process."""
        with self._turn:
            if self._timer is None:
                self._timer = Timer(WRITE_EVERY_S, self._write_or_log)
                self._timer.daemon = True
                self._timer.start()

    def _write_or_log(self) -> None:
        try:
            self.write()
        except StoreError as error:
            _log.warning("what was learned from use is not kept: %s", error)

    def _read_once(self, *, make: bool = False) -> None:
        """Read what is kept, once there is something to read; go on without it if that fails."""
        if not self._read:
            try:
                self._refresh(make=make)
            except StoreError as error:
                self._read = True
                _log.warning("nothing is known of earlier use: %s", error)

    def _refresh(self, *, make: bool = False) -> None:
        if self._store and (store := self._store(make=make)):
            self._take(store.used())

    def _take(self, used: UseRecord) -> None:
        """Have this in memory, with what is not written yet."""
        pairs = PairCounts(used.pairs)
        lessons = LessonBook(used.lessons, half_life_days=self._half_life_days)
        with self._turn:
            for pair, count in self._unwritten.pairs.items():
                pairs.add(pair, count)
            for key, lesson in self._unwritten.lessons.items():
                lessons.add(key, lesson)
            self._pairs, self._lessons, self._key = pairs, lessons, used.key
            self._read = True

    def _forget_in_memory(self, tool: str) -> int:
        with self._turn:
            pairs = {
                pair: count for pair, count in self._pairs.items() if tool and tool not in pair
            }
            lessons = {
                key: each for key, each in self._lessons.items() if tool and tool != key.tool
            }
            erased = len(self._pairs) - len(pairs) + len(self._lessons) - len(lessons)
            self._pairs = PairCounts(pairs)
            self._lessons = LessonBook(lessons, half_life_days=self._half_life_days)
            return erased
