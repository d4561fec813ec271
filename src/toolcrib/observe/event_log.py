"""The one path of events: from whoever sees something happen to the file and to those who look on.

    append ──> a bounded queue ──> a thread ──> file, texts of queries, watchers

The thread writes a moment later, so that nobody waits for a disk. When the process is killed, the
events of the last half second are lost. What cannot be written waits in an `EventSpool`.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Event as Signal
from threading import Lock, Thread
from typing import TypeAlias

from toolcrib.errors import StoreError
from toolcrib.model import Event, EventKind
from toolcrib.observe.event_spool import AUDITED, EventSpool
from toolcrib.observe.masking import mask_personal
from toolcrib.observe.metrics import EventCounters
from toolcrib.observe.recording import query_text, recorded
from toolcrib.observe.watcher import LoggedEvent, RecentQueries, Watcher
from toolcrib.store import EventStore

PAUSE_S = 0.5
AGAIN_S = 1.0
"""So often a file that could not be written is tried again."""
END_S = 5.0
IDLE_S = 10.0
"""A thread that nothing comes to ends after this time: a process may have a log for each tenant."""
MOST_WAITING = 10_000
COMPLAIN_EVERY_S = 60.0

Record: TypeAlias = Callable[[Event], None]
"""Takes an event, and never fails: `EventLog.append`."""
MakeEvent: TypeAlias = Callable[[], Event]

_log = logging.getLogger(__name__)


def drop(_event: Event) -> None:
    """The `Record` of whoever has no log."""


class EventLog:
    """Takes events. Safe to share between threads; the file is opened with the first of them.

    Without a file, events go to those who look on, and nowhere if nobody does. `keep_queries`: the
    file gets the texts of queries too, masked. `counters` hear of every event. While the file
    cannot be written, events wait, also in the file `spool`. `dropped` counts events that are in no
    file, because too many came at once or waited.
    """

    def __init__(
        self,
        open_file: Callable[[], EventStore] | None = None,
        *,
        keep_queries: bool = False,
        counters: EventCounters | None = None,
        spool: Path | None = None,
    ) -> None:
        self.dropped = 0
        self.spool = EventSpool(spool)
        self.counters = counters
        self.queries = RecentQueries()
        self._open_file = open_file
        self._keep_queries = keep_queries
        self._file: EventStore | None = None
        self._waiting: deque[Event | MakeEvent] = deque()
        self._watchers: tuple[Watcher, ...] = ()
        self._is_heard = self._is_kept = open_file is not None or counters is not None
        self._ids = count(1)
        self._woken, self._closing = Signal(), Signal()
        self._changing = Lock()
        self._thread: Thread | None = None
        self._crowded_out = 0
        self._complaints: dict[str, float] = {}

    def append(self, event: Event) -> None:
        """Have it kept. Never waits and never raises; with too many waiting it is dropped."""
        if self._is_heard and (len(self._waiting) < MOST_WAITING or self._has_room(event.kind)):
            self._waiting.append(event)
            if not self._woken.is_set():
                self._wake()

    def append_later(self, kind: EventKind, make: MakeEvent) -> None:
        """The same of an event of this kind that takes a while to make: the thread makes it."""
        if self._is_heard and (len(self._waiting) < MOST_WAITING or self._has_room(kind)):
            self._waiting.append(make)
            if not self._woken.is_set():
                self._wake()

    def watch(self, on_ready: Callable[[], None]) -> Watcher:
        """Let somebody look on from now on, until `unwatch`; see `Watcher`."""
        watcher = Watcher(on_ready)
        with self._changing:
            self._watchers += (watcher,)
            self._is_heard = True
        return watcher

    def unwatch(self, watcher: Watcher) -> None:
        """Let them look on no longer."""
        with self._changing:
            self._watchers = tuple(each for each in self._watchers if each is not watcher)
            self._is_heard = self._is_kept or bool(self._watchers)

    def close(self) -> None:
        """Write what waits, and end the thread. What comes after that is not kept."""
        self._closing.set()
        self._woken.set()
        with self._changing:
            thread, watchers = self._thread, self._watchers
        if thread:
            thread.join(END_S)
        elif self._file:
            self._file.close()
        for watcher in watchers:
            with suppress(Exception):  # whoever looked on may be gone
                watcher.end()

    def _has_room(self, kind: EventKind) -> bool:
        """Whether one more of this kind may wait, though there are many; if not, it is dropped."""
        if kind in AUDITED and len(self._waiting) < 2 * MOST_WAITING:
            return True
        self._drop(1)
        self._crowded_out += 1
        return False

    def _drop(self, number: int) -> None:
        with self._changing:
            self.dropped += number

    def _wake(self) -> None:
        self._woken.set()
        if self._thread is None:
            with self._changing:
                if self._thread is None and not self._closing.is_set():
                    self._thread = Thread(target=self._work, name="toolcrib-events", daemon=True)
                    self._thread.start()

    def _work(self) -> None:
        while not self._closing.is_set():
            if not self._woken.wait(AGAIN_S if self.spool else IDLE_S) and self._may_rest():
                return
            self._closing.wait(PAUSE_S)
            self._woken.clear()
            self._hand_on()
        try:
            self._hand_on()  # what came between the last look and the end
            if lost := self.spool.close():
                self._drop(lost)
                self._complain(f"{lost} events are not logged", "the process ends")
        finally:
            if self._file:
                self._file.close()

    def _may_rest(self) -> bool:
        """Whether this thread may end, because nothing comes; the next event starts another."""
        with self._changing:
            thread, self._thread = self._thread, None
            # Whoever appends wakes first and then looks for a thread; here it is the other way
            # round, so that one of the two sees the other.
            if self._woken.is_set() or self._closing.is_set() or self.spool:
                self._thread = thread
            return self._thread is None

    def _hand_on(self) -> None:
        """Give what waits to the file and to those who look on, and tell what was dropped."""
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        events = [event for each in waiting if (event := self._made(each))]
        if events:
            ids = self._keep([self._for_file(event) for event in events])
            self.queries.put({id: e.query for id, e in zip(ids, events, strict=True) if e.query})
            if self.counters:
                self.counters.add(events)
            if watchers := self._watchers:
                logged = [LoggedEvent(id, event) for id, event in zip(ids, events, strict=True)]
                for watcher in watchers:
                    self._show(watcher, logged)
        elif self.spool:
            self._keep([])
        if self._crowded_out:
            crowded_out, self._crowded_out = self._crowded_out, 0
            self._complain(f"{crowded_out} events are not logged", "too many came at once")

    def _show(self, watcher: Watcher, logged: Sequence[LoggedEvent]) -> None:
        try:
            watcher.put(logged)
        except Exception:  # noqa: BLE001 - the others go on
            _log.exception("one who looks on at events could not be told")

    def _made(self, given: Event | MakeEvent) -> Event | None:
        """The event as it may be kept; None if it cannot be made, and then it is dropped."""
        try:
            event = recorded(given if isinstance(given, Event) else given())
            text = query_text(event.query) if event.query else ""
            return event if text == event.query else event._replace(query=text)
        except Exception:  # noqa: BLE001 - whatever it is, the others are kept
            _log.exception("an event could not be made")
            self._drop(1)
            return None

    def _for_file(self, event: Event) -> Event:
        if not event.query:
            return event
        return event._replace(query=mask_personal(event.query) if self._keep_queries else "")

    def _keep(self, events: Sequence[Event]) -> Sequence[int]:
        """Write them behind those that wait; their ids, or as many zeros where they wait too."""
        if self._open_file is None:
            return [next(self._ids) for _ in events]
        try:
            self._file = self._file or self._open_file()
            self.spool.send(self._file)
            return self._file.write(events) if events else ()
        except StoreError as error:
            full = self.spool.add(events) if events else 0
            self._drop(full)
            lost = f"{full} events are not logged, and " if full else ""
            self._complain(f"{lost}{len(self.spool)} events wait to be logged", str(error))
            return [0] * len(events)

    def _complain(self, what: str, reason: str) -> None:
        """Say that events are lost or wait: once a reason, and now and then while it lasts."""
        now = time.monotonic()
        if now - self._complaints.get(reason, -COMPLAIN_EVERY_S) >= COMPLAIN_EVERY_S:
            self._complaints = {reason: now}
            _log.warning("%s: %s", what, reason)
