"""The log of calls: one row each, for the operator; bounded, and without any argument.

Not part of the catalog, which can be made again: it has a file of its own beside it. How old a row
is, the file counts itself (`elapsed`): whoever puts the clock forward erases nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import apsw

from toolcrib.store import file_clock
from toolcrib.store.database import DAMAGE, explained_faults, open_private, set_aside, transaction
from toolcrib.store.file_clock import ClockReading

_TABLE = """
    CREATE TABLE IF NOT EXISTS call (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, caller TEXT NOT NULL,
        tool TEXT NOT NULL, pin TEXT NOT NULL, arguments TEXT NOT NULL, verdict TEXT NOT NULL,
        code TEXT NOT NULL, effect TEXT NOT NULL, seconds REAL NOT NULL,
        source TEXT NOT NULL DEFAULT '', seen REAL NOT NULL
    )
"""
_WITHOUT_SEEN = """
    ALTER TABLE call ADD COLUMN seen REAL NOT NULL DEFAULT 0;
    UPDATE call SET seen = at;
"""
_WITHOUT_SOURCE = "ALTER TABLE call ADD COLUMN source TEXT NOT NULL DEFAULT ''"
_WHICH = """
    (?1 = '' OR source = ?1 OR source = '' AND substr(tool, 1, length(?2)) = ?2)
    AND (code != '' OR NOT ?3)
"""


class AuditRow(NamedTuple):
    """A call: when (seconds since the epoch), by whom, of what, and how it ended.

    `arguments` is a hash of them. `pin`, `arguments` and `verdict` are empty for a call that was
    refused before they were known; `code` and `effect` for one that went well. `source` is the MCP
    server or the app that was called; empty for others, and where no tool has the name.
    """

    at: float
    caller: str
    tool: str
    pin: str
    arguments: str
    verdict: str
    code: str
    effect: str
    seconds: float
    source: str = ""


class CallFilter(NamedTuple):
    """Which calls to show: those of one source, those that did not end well.

    `stem` is how names from that source begin, for calls of names that no tool of it has.
    """

    source: str = ""
    stem: str = ""
    failed: bool = False


class Retention(NamedTuple):
    """What stays: so many rows at most, and none older than this by the file's own count."""

    rows: int
    days: float


class AuditFile:
    """One file, for all threads of a process and any number of processes.

    Everything here raises `StoreError` when the file cannot be read or written.
    """

    def __init__(
        self,
        path: Path,
        retention: Retention,
        clock: Callable[[], ClockReading] = file_clock.read_clock,
    ) -> None:
        """Opened, and made if it is not there. One that is damaged is set aside."""
        self._path = path
        self._retention = retention
        self._clock = clock
        self._turn = Lock()
        with explained_faults(self._path):
            try:
                self._db = open_private(path, _prepare)
            except DAMAGE:
                set_aside(path)
                self._db = open_private(path, _prepare)

    def write(self, rows: Iterable[AuditRow]) -> None:
        """All of them, and let go of what is too old or too much; nothing when it raises."""
        columns = (*AuditRow._fields, "seen")
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO call ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - our own names
        with self._turn, explained_faults(self._path), transaction(self._db):
            seen = self._passed()
            self._db.executemany(sql, [(*row, seen) for row in rows])
            oldest = seen - self._retention.days * file_clock.DAY_S
            self._db.execute("DELETE FROM call WHERE seen < ?", (oldest,))
            last = "SELECT max(id) FROM call"
            sql = f"DELETE FROM call WHERE id <= ({last}) - ?"  # noqa: S608 - no word of others
            self._db.execute(sql, (self._retention.rows,))

    def _passed(self) -> float:
        """The time by the count of the file, which begins with the newest row that it has."""
        moment = self._clock()
        newest = self._db.execute("SELECT max(seen) FROM call").get
        return file_clock.advance(self._db, moment, first=newest or moment.wall)

    def newest(self, limit: int, which: CallFilter | None = None) -> Sequence[AuditRow]:
        """The last calls, the latest first."""
        return [row for _, row in self._select(0, limit, which or CallFilter())]

    def after(self, id: int, limit: int, which: CallFilter | None = None) -> Mapping[int, AuditRow]:
        """The last calls since that id, by their ids, the latest last; ids only ever grow."""
        return dict(reversed(self._select(id, limit, which or CallFilter())))

    def _select(self, after: int, limit: int, which: CallFilter) -> list[tuple[int, AuditRow]]:
        fields = ", ".join(AuditRow._fields)
        where = f"id > ?4 AND {_WHICH}"
        sql = f"SELECT id, {fields} FROM call WHERE {where} ORDER BY id DESC LIMIT ?5"  # noqa: S608 - our own names
        parameters = (*which, after, limit)
        with self._turn, explained_faults(self._path):
            return [
                (id, AuditRow(*row)) for id, *row in self._db.execute(sql, parameters).fetchall()
            ]

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._db.close()


def _prepare(db: apsw.Connection) -> None:
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")
    with transaction(db):
        db.execute(_TABLE)
        db.execute(file_clock.TABLE)
        columns = [name for _, name, *_ in db.execute("PRAGMA table_info(call)")]
        if "seen" not in columns:
            db.execute(_WITHOUT_SEEN)
        if "source" not in columns:
            db.execute(_WITHOUT_SOURCE)
