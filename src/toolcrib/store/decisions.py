"""What was decided about definitions: approved at first sight or by the operator, or rejected.

Not part of the catalog, which can be made again: this cannot. It has a file of its own, written
through to the disk, and each row carries a MAC. In doubt it is closed: a row that somebody altered
approves nothing, and once the file was lost or damaged, nothing is trusted at first sight until the
operator has seen to all that waits. What the operator decides is written in `verdicts`.
"""

import hashlib
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Literal, NamedTuple

import apsw

from toolcrib.errors import StoreError
from toolcrib.store.faults import DAMAGE, FAULTS, explain, set_aside
from toolcrib.store.migrations import migrate
from toolcrib.store.private import open_private
from toolcrib.store.transaction import transaction
from toolcrib.text.canonical import canonical

APPLICATION = 0x746F6F64  # "tood"
MIGRATIONS = (
    """
    PRAGMA application_id = 0x746F6F64;
    CREATE TABLE decision (
        source TEXT, name TEXT, verdict TEXT, pin TEXT, by TEXT, at REAL, definition TEXT, mac BLOB,
        PRIMARY KEY (source, name, verdict)
    ) WITHOUT ROWID;
    CREATE TABLE first_sight (trusted INTEGER, mac BLOB);
    """,
)

Verdict = Literal["approved", "rejected"]
By = Literal["first sight", "operator"]


class Decision(NamedTuple):
    """One row. `definition` is what was decided on, as JSON; `at` is in seconds since the epoch."""

    source: str
    name: str
    verdict: Verdict
    pin: str
    by: By
    at: float
    definition: str


class Decided(NamedTuple):
    """What there is about one tool. `doubtful`: a row about it was altered, so that none counts."""

    approved: Decision | None = None
    rejected: Decision | None = None
    doubtful: bool = False


class Decisions:
    """One file, for all threads of a process and any number of processes.

    Everything here raises `StoreError` when the file cannot be read or written.
    """

    def __init__(self, path: Path, key: bytes, *, lost: bool = False) -> None:
        """`lost`: there was a file here once. One that is damaged is set aside, and lost too."""
        self._path = path
        self._key = key
        self._turn = RLock()
        self._written = 0
        with self._explained():
            try:
                self._db = open_private(path, _prepare)
            except DAMAGE:
                set_aside(path)
                self._db, lost = open_private(path, _prepare), True
            self._begin(trusted=not lost)

    @property
    def trusts_first_sight(self) -> bool:
        """Whether what was never seen may be approved for that; not after a loss."""
        with self._reading() as db:
            return db.execute("SELECT * FROM first_sight").get == (1, self._mac(["first_sight", 1]))

    def version(self) -> tuple[int, int]:
        """Another one whenever something may have been decided, here or in another process."""
        with self._reading() as db:
            return int(db.pragma("data_version")), self._written

    def of(self, source: str) -> Mapping[str, Decided]:
        """What was decided about the tools of a source, by their own names."""
        found: dict[str, Decided] = {}
        with self._reading() as db:
            rows = db.execute("SELECT * FROM decision WHERE source = ?", (source,)).fetchall()
        for *values, mac in rows:
            decision = Decision(*values)
            known = found.get(decision.name, Decided())
            if mac != self._mac(values):
                found[decision.name] = Decided(doubtful=True)
            elif not known.doubtful:
                found[decision.name] = known._replace(**{decision.verdict: decision})
        return found

    def trust(self, source: str, seen: Mapping[str, tuple[str, str]]) -> None:
        """Approve what is seen for the first time: pins and definitions by name.

        Never changes a decision that is there, and does nothing after a loss.
        """
        with self.writing() as db:
            if self.trusts_first_sight:
                known = db.execute("SELECT name FROM decision WHERE source = ?", (source,))
                decided = {str(name) for (name,) in known}
                for name, (pin, definition) in seen.items():
                    if name not in decided:
                        row = Decision(
                            source, name, "approved", pin, "first sight", time.time(), definition
                        )
                        self.put(db, row)

    def put(self, db: apsw.Connection, decision: Decision) -> None:
        """Write a row in place of the one with the same verdict."""
        values = (*decision, self._mac(decision))
        db.execute("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def set_first_sight(self, db: apsw.Connection, *, trusted: bool) -> None:
        db.execute("DELETE FROM first_sight")
        mac = self._mac(["first_sight", int(trusted)])
        db.execute("INSERT INTO first_sight VALUES (?, ?)", (int(trusted), mac))

    @contextmanager
    def writing(self) -> Generator[apsw.Connection]:
        """One transaction: all that the block writes, or nothing of it."""
        with self._turn, self._explained(), transaction(self._db):
            self._written += 1
            yield self._db

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._db.close()

    def _begin(self, *, trusted: bool) -> None:
        """A new file trusts first sight unless there was one before it."""
        if self._db.execute("SELECT EXISTS (SELECT 1 FROM first_sight)").get:
            return
        with self.writing() as db:
            new = not db.execute("SELECT EXISTS (SELECT 1 FROM decision)").get
            if not db.execute("SELECT EXISTS (SELECT 1 FROM first_sight)").get:
                self.set_first_sight(db, trusted=trusted and new)

    def _mac(self, values: Sequence[object]) -> bytes:
        return hashlib.blake2b(canonical(list(values)).encode(), key=self._key).digest()

    @contextmanager
    def _reading(self) -> Generator[apsw.Connection]:
        with self._turn, self._explained():
            yield self._db

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except DAMAGE as error:
            told = "is damaged, so nothing is approved; start again, then run `toolcrib review`"
            raise StoreError(f"{self._path} {told}") from error
        except (*FAULTS, OSError) as error:
            raise StoreError(explain(self._path, error)) from error


def prepare(path: Path) -> None:
    """Make the file, if there is none. Raises `StoreError`."""
    try:
        open_private(path, _prepare).close()
    except DAMAGE:
        return  # whoever opens it sets it aside
    except (*FAULTS, OSError) as error:
        raise StoreError(explain(path, error)) from error


def _prepare(db: apsw.Connection) -> None:
    db.pragma("synchronous", "full")
    migrate(db, MIGRATIONS, APPLICATION)
    _check(db)


def _check(db: apsw.Connection) -> None:
    if db.pragma("quick_check") != "ok":
        raise apsw.CorruptError(f"{db.filename} fails its check")
