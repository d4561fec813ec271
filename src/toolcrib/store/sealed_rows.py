"""The rows of decisions as their seals vouch for them.

The seal of the whole is checked once for each version of the file. The rows of a source are checked
by its seal whenever they are read: so whoever has read some knows that they are what was written.
"""

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from toolcrib.errors import StoreError
from toolcrib.store.decision_rows import Decision, entry_of, is_filed, rows_of
from toolcrib.store.seals import SealedSources, Seals


class SourceRows(NamedTuple):
    """What is filed about a source: its rows, its configuration, what is wrong with its seal."""

    rows: list[Decision]
    entry: str | None
    problem: str = ""

    def sealed(self) -> list[object]:
        """All that the seal of a source covers."""
        entry = [["configuration", self.entry]] if self.entry is not None else []
        return [*self.rows, *entry]


class SealedRows:
    """Of one connection. Each method is called within a transaction of it."""

    def __init__(self, seals: Seals) -> None:
        self._seals = seals
        self._written = 0
        self._whole: tuple[object, SealedSources] | None = None
        self._marks: dict[str, str] = {}

    def version(self, db: apsw.Connection) -> tuple[object, ...]:
        """Another one whenever the file may have changed, here or in another process."""
        return int(db.pragma("data_version")), self._written, self._seals.version()

    def written(self) -> None:
        """Something is written, or was, or is taken back."""
        self._written += 1
        self._whole = None
        self._marks.clear()

    def whole(self, db: apsw.Connection) -> SealedSources:
        """The seals of all sources: checked as a whole, once for each version of the file."""
        if checked := self.last_checked(db):
            return checked
        self._marks.clear()
        self._whole = self.version(db), self._seals.read(db)
        return self._whole[1]

    def last_checked(self, db: apsw.Connection) -> SealedSources | None:
        """The same, if they were checked and the file has not changed since.

        This one may be called outside of a transaction.
        """
        return self._whole[1] if self._whole and self._whole[0] == self.version(db) else None

    def last_mark(self, db: apsw.Connection, source: str) -> str | None:
        """The mark of a source in them, which is made once for each version of the file."""
        if (checked := self.last_checked(db)) is None:
            return None
        if source not in self._marks:
            self._marks[source] = checked.mark(source)
        return self._marks[source]

    def of(self, db: apsw.Connection, source: str) -> SourceRows:
        """What is filed about a source, whether or not it is under a broken seal."""
        found = _filed(db, source)
        seal = self.whole(db).seal_of(source)
        return found._replace(problem=self._seals.broken_at(source, seal, found.sealed()))

    def checked(self, db: apsw.Connection, source: str) -> SourceRows:
        """The same. Raises `StoreError` if the source, or the whole, is under a broken seal."""
        whole, found = self.whole(db).problem, self.of(db, source)
        if whole or found.problem:
            raise StoreError(whole or found.problem)
        return found

    def elsewhere(self, db: apsw.Connection, source: str) -> Iterator[SourceRows]:
        """Those of the same server as it is, or was, configured otherwise, under whole seals."""
        every = (self.of(db, other) for other in self.whole(db).others(source))
        return (found for found in every if not found.problem)

    def is_known(self, db: apsw.Connection, source: str) -> bool:
        """Whether there is something about the server, however it was configured."""
        return is_filed(db, source) or bool(self.whole(db).others(source))

    def seal(self, db: apsw.Connection, source: str) -> None:
        """Seal what is filed about a source."""
        self._seals.seal(db, source, _filed(db, source).sealed())


def _filed(db: apsw.Connection, source: str) -> SourceRows:
    return SourceRows(rows_of(db, source), entry_of(db, source))
