"""What is in memory for those who look on: what has just happened, and what was searched for.

One who is slow skips, and nobody waits for them. The texts of queries are in no file.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, Self

from toolcrib.model import Event, Json

MOST_UNTAKEN = 1_000
MOST_QUERIES = 1_000


class LoggedEvent(NamedTuple):
    """An event, and its id in the file; 0 if no file has it."""

    id: int
    event: Event

    def as_json(self) -> Json:
        """As a list: the id, and the fields of the event in their order."""
        return [self.id, *self.event]

    @classmethod
    def of_json(cls, given: Sequence[Any]) -> Self:
        """What `as_json` made. Raises `TypeError` for what another version did."""
        id, *fields = given
        return cls(id, Event._make(fields))


class WatchedEvents(NamedTuple):
    """What came since the last time, the oldest first, and how many before that were skipped."""

    events: Sequence[LoggedEvent]
    skipped: int


class Watcher:
    """The events that one who looks on has not taken yet. `ended`: there will be no more.

    `on_ready` is called, in the thread of the log, when there is something to take.
    """

    def __init__(self, on_ready: Callable[[], None]) -> None:
        self.ended = False
        self._on_ready = on_ready
        self._untaken: deque[LoggedEvent] = deque(maxlen=MOST_UNTAKEN)
        self._came = self._taken = 0
        self._changing = Lock()

    def put(self, events: Sequence[LoggedEvent]) -> None:
        """Add these; of too many the oldest go."""
        with self._changing:
            self._untaken.extend(events)
            self._came += len(events)
        self._on_ready()

    def take(self) -> WatchedEvents:
        """All that is there, and how many were lost before."""
        with self._changing:
            events, came = list(self._untaken), self._came
            skipped = came - self._taken - len(events)
            self._untaken.clear()
            self._taken = came
        return WatchedEvents(events, skipped)

    def end(self) -> None:
        """There will be no more: the log is closed."""
        self.ended = True
        self._on_ready()


class RecentQueries:
    """The texts of the last searches, by the ids of their events. Safe to share between threads."""

    def __init__(self, most: int = MOST_QUERIES) -> None:
        self._most = most
        self._texts: OrderedDict[int, str] = OrderedDict()
        self._changing = Lock()

    def put(self, texts: Mapping[int, str]) -> None:
        """Remember the texts of events, and forget the oldest where there are too many."""
        with self._changing:
            self._texts.update(texts)
            while len(self._texts) > self._most:
                self._texts.popitem(last=False)

    def of(self, ids: Iterable[int]) -> Mapping[int, str]:
        """The texts of these events, as far as they are remembered."""
        with self._changing:
            return {id: self._texts[id] for id in ids if id in self._texts}
