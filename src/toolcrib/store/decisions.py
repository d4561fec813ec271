"""What was decided about definitions: approved at first sight or by the operator, or rejected.

Not part of the catalog, which can be made again: this cannot. It has a file of its own, written
through to the disk and sealed (`seals`). What a broken seal covers approves nothing, and is not
trusted at first sight either, until the operator decides anew, at the desk of `toolcrib.review`. A
source is a server as it is configured, or the program that it is: `mcp:name#fingerprint`. With the
decisions stands how it was configured, for the operator to compare.
"""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import NamedTuple

import apsw

from toolcrib.errors import StoreError
from toolcrib.store.checked_file import CheckedFile
from toolcrib.store.database import (
    DAMAGE,
    FAULTS,
    explain_fault,
    open_private,
    set_aside,
    transaction,
)
from toolcrib.store.decision_rows import (
    Decision,
    FiledSource,
    adopt_former,
    entry_of,
    is_filed,
    prepare_tables,
    put_row,
)
from toolcrib.store.sealed_rows import SealedRows
from toolcrib.store.seals import Seals

DAY_S = 24 * 60 * 60.0
RETENTION_S = 180 * DAY_S
"""How long the decisions about a server that nobody uses are kept."""
SPARE_PAGES = 256
"""So many free pages are given back to the disk."""


class ToolDecisions(NamedTuple):
    """What there is about one tool."""

    approved: Decision | None = None
    rejected: Decision | None = None


class Decisions:
    """One file, for all threads of a process and any number of processes.

    Everything here raises `StoreError` when the file cannot be read or written, and when what is
    asked for is under a broken seal.
    """

    def __init__(self, path: Path, key: bytes, *, lost: bool = False) -> None:
        """`lost`: there was a file here once. One that is damaged is set aside, and lost too."""
        self._path = path
        self._key = key
        self._seals = Seals(path, key)
        self._turn = RLock()
        self._checked = CheckedFile(path)
        self._rows = SealedRows(self._seals)
        self._today: float | None = None
        with self._explained():
            try:
                self._db = open_private(path, prepare_tables)
            except DAMAGE:
                set_aside(path)
                self._db, lost = open_private(path, prepare_tables), True
            self._begin(trusted=not lost)

    @staticmethod
    def prepare(path: Path) -> None:
        """Make the file, if there is none. Raises `StoreError`."""
        if path.exists():
            return
        try:
            open_private(path, prepare_tables).close()
        except DAMAGE:
            return  # whoever opens it sets it aside
        except (*FAULTS, OSError) as error:
            raise StoreError(explain_fault(path, error)) from error

    def check_current(self) -> None:
        """As the protocol says: the file is read each time."""

    @property
    def trusts_first_sight(self) -> bool:
        """Whether a server that was never seen may be approved for that; not after a loss."""
        with self._reading() as db:
            return self._rows.whole(db).first_sight

    def version(self) -> tuple[object, ...]:
        """Another one whenever something may have been decided, here or in another process."""
        with self._turn, self._explained():
            return self._rows.version(self._db)

    def mark(self, source: str) -> str:
        """The same as long as nothing else was decided about the server of this source.

        Cheap, and no decision is read. Empty if the seals do not vouch for what is decided.
        """
        with self._turn, self._explained():
            if (mark := self._rows.last_mark(self._db, source)) is not None:
                return mark
            with self._reading() as db:
                return self._rows.whole(db).mark(source)

    def of(self, source: str) -> Mapping[str, ToolDecisions]:
        """What was decided about the tools of a source, by their own names."""
        found: dict[str, ToolDecisions] = {}
        with self._reading() as db:
            rows = self._rows.checked(db, source).rows
        for row in rows:
            earlier = found.get(row.name, ToolDecisions())
            found[row.name] = earlier._replace(**{row.verdict: row})
        return found

    def elsewhere(self, source: str) -> Mapping[str, Decision]:
        """What was approved last of the same server's tools, as it is or was configured otherwise.

        By their names. Of other configurations under a broken seal nothing counts.
        """
        found: dict[str, Decision] = {}
        with self._reading() as db:
            for other in self._rows.elsewhere(db, source):
                found |= {row.name: row for row in other.rows if _is_newer(row, found)}
        return found

    def configuration(self, source: str) -> str | None:
        """How a source was configured when all of it was approved; None if nobody knows."""
        with self._reading() as db:
            return self._rows.checked(db, source).entry

    def configuration_elsewhere(self, source: str) -> str | None:
        """The same of what the server was before, when something of that was approved last."""
        found: tuple[float, str | None] = 0.0, None
        with self._reading() as db:
            for other in self._rows.elsewhere(db, source):
                at = [row.at for row in other.rows if row.verdict == "approved"]
                found = max(found, (max(at, default=-1.0), other.entry), key=_when)
        return found[1]

    def configured(self, source: str, entry: str) -> None:
        """Note how a source is configured now, if it is known."""
        with self._reading() as db:
            if not is_filed(db, source) or entry_of(db, source) == entry:
                return
        with self._writing() as db:
            self._rows.checked(db, source)
            db.execute("INSERT OR REPLACE INTO configuration VALUES (?, ?)", (source, entry))
            self._rows.seal(db, source)

    def inherit(self, source: str, former: str, renew: Callable[[Decision], Decision]) -> None:
        """As the protocol says."""
        with self._reading() as db:
            if is_filed(db, source) or not is_filed(db, former):
                return
        with self._writing() as db:
            rows = self._rows.checked(db, former).rows
            if not is_filed(db, source):
                for row in rows:
                    put_row(db, renew(row)._replace(source=source))
                which = source, former
                db.execute("UPDATE OR REPLACE configuration SET source = ? WHERE source = ?", which)
                self._rows.seal(db, source)
                self._empty(db, former)

    def is_known(self, source: str) -> bool:
        """Whether the server was listed before, as it is configured now or otherwise."""
        with self._reading() as db:
            return self._rows.is_known(db, source)

    def trust(self, source: str, seen: Mapping[str, tuple[str, str]]) -> None:
        """Approve what a server lists for the first time: pins and definitions by name.

        Never changes a decision that is there. Does nothing for a server that is known, under
        whatever configuration, nor after a loss.
        """
        if self.is_known(source) or not self.trusts_first_sight:
            return
        with self._writing() as db:
            if not self._rows.is_known(db, source):
                for name, (pin, definition) in seen.items():
                    row = Decision(
                        source, name, "approved", pin, "first sight", time.time(), definition
                    )
                    put_row(db, row)
                self._rows.seal(db, source)

    def used(self, *sources: str) -> None:
        """Note, once a day, that somebody has these: what nobody has is let go by and by.

        The days are those on which decisions were used. A clock that is set wrong adds one at most.
        """
        with self._reading() as db:
            used = self._rows.whole(db).used
        if not used:
            return
        today = self._today = self._today or min(time.time(), max(used.values()) + DAY_S)
        if not any(today - used[each] >= DAY_S for each in sources if each in used):
            return
        with self._writing() as db:
            rows = [(today, each) for each in sources if each in used]
            db.executemany("UPDATE source SET used = ? WHERE id = ?", rows)
            self._let_go(db, today)
        self._shrink()

    def approve(self, decision: Decision) -> None:
        """As the protocol says."""
        with self._deciding(decision.source) as db:
            which = decision.source, decision.name
            db.execute("DELETE FROM decision WHERE source = ? AND name = ?", which)
            put_row(db, decision)

    def reject(self, decision: Decision) -> None:
        """As the protocol says."""
        where = "source = ? AND name = ? AND verdict = 'approved' AND pin = ?"
        with self._deciding(decision.source) as db:
            which = decision.source, decision.name, decision.pin
            db.execute(f"DELETE FROM decision WHERE {where}", which)  # noqa: S608 - our own names
            put_row(db, decision)

    def set_first_sight(self, *, trusted: bool) -> None:
        """As the protocol says."""
        with self._writing(mends=True) as db:
            db.execute("UPDATE whole SET first_sight = ?", (trusted,))

    def filed(self) -> Sequence[FiledSource]:
        """All there is, by source. Raises `StoreError` if any of it is in doubt."""
        with self._reading() as db:
            if problem := self._rows.whole(db).problem:
                raise StoreError(problem)
            every = [(each, self._rows.checked(db, each)) for each in self._rows.whole(db).sources]
        return [FiledSource(source, found.rows, found.entry) for source, found in every]

    def restore(self, filed: Iterable[FiledSource], *, trusted: bool) -> None:
        """Put these in place of all there is, and whether first sight is trusted."""
        with self._writing(mends=True) as db:
            for table in ("decision", "configuration", "source"):
                db.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
            for source, rows, entry in filed:
                for row in rows:
                    put_row(db, row)
                if entry is not None:
                    db.execute("INSERT INTO configuration VALUES (?, ?)", (source, entry))
                self._rows.seal(db, source)
            db.execute("UPDATE whole SET first_sight = ?", (trusted,))

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._db.close()

    def _begin(self, *, trusted: bool) -> None:
        """A new file trusts first sight unless there was one before it."""
        if self._db.execute("SELECT EXISTS (SELECT 1 FROM whole)").get:
            return
        with self._turn, self._checked.writing():
            with transaction(self._db):
                if self._db.execute("SELECT EXISTS (SELECT 1 FROM whole)").get:
                    return
                if self._seals.was_counted:
                    return  # it was sealed once, and is no more
                former = adopt_former(self._db, self._key)
                self._seals.begin(self._db, first_sight=trusted and former.trusted)
                for source in former.sources:
                    self._rows.seal(self._db, source)
                self._seals.seal_whole(self._db)
            self._seals.note_count(self._db)

    @contextmanager
    def _deciding(self, source: str) -> Generator[apsw.Connection]:
        """One transaction of the operator about a source; what is under a broken seal goes."""
        with self._writing(mends=True) as db:
            if self._rows.of(db, source).problem:
                db.execute("DELETE FROM decision WHERE source = ?", (source,))
                db.execute("DELETE FROM configuration WHERE source = ?", (source,))
            yield db
            self._rows.seal(db, source)

    @contextmanager
    def _writing(self, *, mends: bool = False) -> Generator[apsw.Connection]:
        """One transaction, sealed at its end. Raises `StoreError` if the whole is under doubt."""
        with self._turn, self._explained(), self._checked.writing():
            try:
                with transaction(self._db):
                    if mends:
                        self._mend(self._db)
                    elif problem := self._rows.whole(self._db).problem:
                        raise StoreError(problem)
                    yield self._db
                    self._seals.seal_whole(self._db)
            finally:
                self._rows.written()
            self._seals.note_count(self._db)

    def _mend(self, db: apsw.Connection) -> None:
        """If the whole is under doubt, start afresh; that a server is known is not forgotten."""
        if not self._rows.whole(db).problem:
            return
        db.execute("DELETE FROM decision")
        db.execute("DELETE FROM configuration")
        self._seals.begin(db, first_sight=False)
        for (source,) in db.execute("SELECT id FROM source").fetchall():
            self._rows.seal(db, source)
        self._seals.seal_whole(db)
        self._rows.written()

    def _let_go(self, db: apsw.Connection, now: float) -> None:
        """Part with decisions about servers long gone; that they are known is not forgotten."""
        old = db.execute("SELECT id FROM source WHERE used < ?", (now - RETENTION_S,)).fetchall()
        for (source,) in old:
            self._empty(db, source)

    def _empty(self, db: apsw.Connection, source: str) -> None:
        db.execute("DELETE FROM decision WHERE source = ?", (source,))
        db.execute("DELETE FROM configuration WHERE source = ?", (source,))
        self._rows.seal(db, source)

    def _shrink(self) -> None:
        """Give pages that are free back to the disk."""
        with self._turn, self._explained():
            if self._db.pragma("freelist_count") >= SPARE_PAGES:
                self._db.execute("VACUUM")

    @contextmanager
    def _reading(self) -> Generator[apsw.Connection]:
        """One state of the file, whatever others write meanwhile."""
        with self._turn, self._explained():
            if self._db.in_transaction:
                yield self._db
            else:
                with transaction(self._db, "DEFERRED"):
                    yield self._db

    @contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except DAMAGE as error:
            self._checked.doubt()
            problem = "is damaged, so nothing is approved; start again, then run `toolcrib review`"
            raise StoreError(f"{self._path} {problem}") from error
        except (*FAULTS, OSError) as error:
            raise StoreError(explain_fault(self._path, error)) from error


def _when(found: tuple[float, str | None]) -> float:
    return found[0]


def _is_newer(row: Decision, found: Mapping[str, Decision]) -> bool:
    """Whether it is an approval, and later than what was found of its name."""
    return row.verdict == "approved" and (row.name not in found or found[row.name].at < row.at)
