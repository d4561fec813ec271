"""The log of events: one row each, bounded for each kind by itself, and hourly roll-ups of them.

Not part of the catalog, which can be made again: it has a file of its own beside it. How old a row
is, the file counts itself (`elapsed`): whoever puts the clock forward erases nothing. A kind has
its own bound, so that a flood of searches erases no call.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar, get_args

import apsw

from toolcrib.model import Event, EventKind
from toolcrib.store import file_clock
from toolcrib.store.database import (
    DAMAGE,
    explained_faults,
    migrate,
    open_private,
    set_aside,
    transaction,
    write_ahead,
)
from toolcrib.store.event_filter import EventFilter
from toolcrib.store.file_clock import DAY_S, ClockReading
from toolcrib.store.former_audit import former_calls, is_former_log, remove_former
from toolcrib.store.rollups import (
    TABLE,
    Rollup,
    RollupFolder,
    RollupKey,
    add_rollups,
    prepare_rollups,
    read_rollups,
    read_totals,
    sweep_rollups,
)

SWEEP_SHARE = 100
"""Old rows go when so small a share of the bound was written, and when a file is first written."""
RECENT = 20_000
"""Among so many events the conversations are looked for."""
MOST_FACTS = 4_000
"""Characters of facts as JSON; an event with more of them is kept without."""
CUT = '{"cut": true}'
APPLICATION = 0x746F6F65  # "tooe"
MIGRATIONS = (
    f"""
    PRAGMA application_id = 0x746F6F65;
    CREATE TABLE event (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, kind TEXT NOT NULL,
        caller TEXT NOT NULL, client TEXT NOT NULL, conversation TEXT NOT NULL, name TEXT NOT NULL,
        server TEXT NOT NULL, seconds REAL NOT NULL, code TEXT NOT NULL, trace TEXT NOT NULL,
        facts TEXT NOT NULL, query TEXT NOT NULL, seen REAL NOT NULL
    );
    CREATE INDEX event_kind ON event (kind, id);
    CREATE INDEX event_query ON event (seen) WHERE query != '';
    {TABLE}
    {file_clock.TABLE};
    """,
    "CREATE INDEX event_conversation ON event (conversation, id) WHERE conversation != '';",
)
_COLUMNS = ", ".join(Event._fields)
_MARKS = ", ".join("?" * (len(Event._fields) + 1))
_INSERT = f"INSERT INTO event ({_COLUMNS}, seen) VALUES ({_MARKS})"  # noqa: S608 - our own names
_CONVERSATIONS = """
    SELECT conversation, max(caller), max(client), min(at), max(at),
        sum(kind = 'search'), sum(kind = 'call'), max(id) AS newest
    FROM event WHERE conversation != '' AND id > (SELECT max(id) FROM event) - ?
    GROUP BY conversation HAVING newest < ? ORDER BY newest DESC LIMIT ?
"""
_encode = json.JSONEncoder(check_circular=False).encode  # facts are ours, and a tree

T = TypeVar("T")


class LoggedConversation(NamedTuple):
    """What the newest events say of a conversation. `newest` is the id of its last one."""

    conversation: str
    caller: str
    client: str
    began: float
    ended: float
    searches: int
    calls: int
    newest: int


class Retention(NamedTuple):
    """What stays: so many rows of a kind, none older than so many days by the file's own count.

    The text of a query is gone after `query_days`; 0: no text is kept.
    """

    rows: int
    days: float
    query_days: float


class EventFile:
    """One file, for all threads of a process and any number of processes.

    `former` is the log of calls of a Toolcrib before this one: it is taken over, once. Everything
    here raises `StoreError` when the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path,
        retention: Retention,
        former: Path | None = None,
        clock: Callable[[], ClockReading] = file_clock.read_clock,
    ) -> None:
        """Opened, and made if it is not there. One that is damaged is set aside."""
        self._path = path
        self._retention = retention
        self._former = former
        self._clock = clock
        self._turn = Lock()
        self._folder = RollupFolder()
        self._unswept = retention.rows
        with explained_faults(path):
            self._open()

    def write(self, events: Sequence[Event]) -> range:
        """All of them, and let go of what is too old or too much; nothing when it raises.

        Returns their ids. A file that turns out to be damaged is set aside, and one that is gone is
        made anew.
        """
        return self._on_sound_file(lambda: self._write(events))

    def newest(
        self, limit: int, which: EventFilter | None = None, before: int = 0
    ) -> Mapping[int, Event]:
        """The last events by their ids, the latest first; with `before`, those before that id."""
        bound = (("id < ?", (before,)),) if before else ()
        return self._on_sound_file(lambda: dict(self._select(bound, which, limit)))

    def after(self, id: int, limit: int, which: EventFilter | None = None) -> Mapping[int, Event]:
        """The last events since that id, by their ids, the latest last; ids only ever grow."""
        bound = (("id > ?", (id,)),)
        return self._on_sound_file(lambda: dict(reversed([*self._select(bound, which, limit)])))

    def rollups(self, since_hour: int, *kinds: EventKind) -> Sequence[tuple[RollupKey, Rollup]]:
        """The roll-ups of an hour and later, of some kinds or of all, the earliest first."""
        return self._on_sound_file(lambda: list(read_rollups(self._db, since_hour, kinds)))

    def totals(
        self, since_hour: int, kinds: Sequence[EventKind], by: Sequence[str], name: str = ""
    ) -> Mapping[RollupKey, Rollup]:
        """The roll-ups of some kinds from an hour on, of one name if it says so, added up.

        `by` are the columns of the key that stay apart.
        """
        return self._on_sound_file(lambda: dict(read_totals(self._db, since_hour, kinds, by, name)))

    def call_times(self, limit: int, since: float) -> Sequence[tuple[str, str, float]]:
        """Caller, tool and time of the last calls since a moment, the latest first."""
        sql = "SELECT caller, name, at FROM event WHERE kind = 'call' AND at >= ?"
        last = f"{sql} ORDER BY id DESC LIMIT ?"
        return self._on_sound_file(lambda: list(self._db.execute(last, (since, limit))))

    def conversations(self, limit: int, before: int = 0) -> Sequence[LoggedConversation]:
        """Those among the last `RECENT` events, the latest first; with `before`, older ones."""
        values = (RECENT, before or sys.maxsize, limit)
        rows = self._on_sound_file(lambda: list(self._db.execute(_CONVERSATIONS, values)))
        return [LoggedConversation._make(row) for row in rows]

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._db.close()

    def _on_sound_file(self, work: Callable[[], T]) -> T:
        """Do it, on a fresh file if this one is gone, or proves to be damaged."""
        with self._turn, explained_faults(self._path):
            if not self._is_in_place():
                self._db.close()
                self._open()
            try:
                return work()
            except DAMAGE:
                self._db.close()
                if self._is_in_place():  # else another process has seen to it
                    set_aside(self._path)
                self._open()
                return work()

    def _open(self) -> None:
        try:
            self._db = open_private(self._path, _prepare)
        except DAMAGE:
            set_aside(self._path)
            self._db = open_private(self._path, _prepare)
        self._file = self._path.stat()
        if self._former and is_former_log(self._former):
            self._take_over(self._former)

    def _is_in_place(self) -> bool:
        """Whether the file at our path is the one that we have."""
        with suppress(FileNotFoundError):
            return os.path.samestat(self._path.stat(), self._file)
        return False

    def _take_over(self, former: Path) -> None:
        """Make events of the calls in a former log, and remove it; one that is damaged stays aside.

        Whoever is killed before the end of it repeats nothing: only calls that are newer than all
        of ours are taken.
        """
        with transaction(self._db):
            newest = self._db.execute("SELECT max(at) FROM event WHERE kind = 'call'").get
            try:
                for calls in former_calls(former, newest or 0.0):
                    self._insert(calls)
            except DAMAGE:
                set_aside(former)
        remove_former(former)

    def _write(self, events: Sequence[Event]) -> range:
        with transaction(self._db):
            seen = self._passed()
            self._insert([(event, seen) for event in events])
            last: int = self._db.last_insert_rowid()
            self._unswept += len(events)
            if self._unswept * SWEEP_SHARE >= self._retention.rows:
                self._sweep(seen)
        return range(last - len(events) + 1, last + 1)

    def _insert(self, rows: Sequence[tuple[Event, float]]) -> None:
        """Add events, each with when the file saw it, the latest last."""
        self._db.executemany(_INSERT, (_row(event, seen) for event, seen in rows))
        add_rollups(self._db, self._folder.fold(event for event, _ in rows), rows[-1][1])

    def _passed(self) -> float:
        """The time by the count of the file, which begins with the newest row that it has."""
        moment = self._clock()
        newest = self._db.execute("SELECT seen FROM event ORDER BY id DESC LIMIT 1").get
        return file_clock.advance(self._db, moment, first=newest or moment.wall)

    def _sweep(self, seen: float) -> None:
        """Let go of what is too old, and of what is too much of its kind."""
        rows, days, query_days = self._retention
        texts = "UPDATE event SET query = '' WHERE query != '' AND seen <= ?"
        self._db.execute(texts, (seen - query_days * DAY_S,))
        young = "SELECT id FROM event WHERE seen >= ? ORDER BY id LIMIT 1"
        self._db.execute(f"DELETE FROM event WHERE id < ({young})", (seen - days * DAY_S,))  # noqa: S608 - no word of others
        extra = "SELECT id FROM event WHERE kind = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2"
        for kind in get_args(EventKind):
            sql = f"DELETE FROM event WHERE kind = ?1 AND id <= ({extra})"  # noqa: S608 - the same
            self._db.execute(sql, (kind, rows))
        sweep_rollups(self._db, seen)
        self._unswept = 0

    def _select(
        self,
        bounds: Iterable[tuple[str, Sequence[Any]]],
        which: EventFilter | None,
        limit: int,
    ) -> Iterator[tuple[int, Event]]:
        clauses = [*bounds, *(which or EventFilter()).clauses()]
        where = " AND ".join(["TRUE", *(sql for sql, _ in clauses)])
        sql = f"SELECT id, {_COLUMNS} FROM event WHERE {where} ORDER BY id DESC LIMIT ?"  # noqa: S608 - our own names
        values = [value for _, values in clauses for value in values]
        for id, *row in self._db.execute(sql, (*values, limit)):
            yield id, _event(row)


def _row(event: Event, seen: float) -> Sequence[Any]:
    written = _encode(event.facts) if event.facts else "{}"
    return *event[:-2], written if len(written) <= MOST_FACTS else CUT, event.query, seen


def _event(row: Sequence[Any]) -> Event:
    *columns, facts, query = row
    return Event._make((*columns, json.loads(facts), query))


def _prepare(db: apsw.Connection) -> None:
    write_ahead(db)
    db.pragma("synchronous", "normal")
    db.pragma("secure_delete", 1)  # the text of a query goes with its row
    prepare_rollups(db)
    migrate(db, MIGRATIONS, APPLICATION)
