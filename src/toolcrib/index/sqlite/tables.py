"""The tables of one generation, and the pointer to the current one.

The tables carry the number of their generation in their names, so that the next generation is made
beside them: virtual tables do not survive being renamed. In the statements of this package `_N`
stands for the number. One row, the pointer, says which generation is current.

    doc_N       a number for each id, and the hash of the text that was embedded
    spelling_N  the folded spellings of its name
    label_N     the words of its labels, each with the label's length in characters
    bm25_N      its terms by field: FTS5 without the text, which nobody reads back
    vocabulary_N how many have each term: a window on bm25_N that stores nothing
    vector_N    its vector, as sqlite-vec reads it
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import apsw

from toolcrib.index.document import FIELDS

Bindings: TypeAlias = Sequence[int | float | bytes | str | None]

FORMAT = 3
"""Raise it when these tables, or the terms that go into them, change their meaning."""

_MADE = f"""
CREATE TABLE doc_N (doc INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text_hash BLOB);
CREATE TABLE spelling_N (
    spelling TEXT, doc INTEGER, PRIMARY KEY (spelling, doc)
) WITHOUT ROWID;
CREATE INDEX spelling_by_doc_N ON spelling_N (doc);
CREATE TABLE label_N (
    word TEXT, length INTEGER, doc INTEGER, number INTEGER,
    PRIMARY KEY (word, length, doc, number)
) WITHOUT ROWID;
CREATE INDEX label_by_doc_N ON label_N (doc);
CREATE VIRTUAL TABLE bm25_N USING fts5(
    {", ".join(FIELDS)}, content='', contentless_delete=1, tokenize='ascii'
);
CREATE VIRTUAL TABLE vocabulary_N USING fts5vocab(bm25_N, row);
CREATE TABLE vector_N (doc INTEGER PRIMARY KEY, vector BLOB NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables with one number, on one connection."""

    db: apsw.Connection
    number: int

    def run(self, sql: str, bindings: Bindings = ()) -> apsw.Cursor:
        """One statement, or several without bindings."""
        return self.db.execute(self._numbered(sql), bindings)

    def run_each(self, sql: str, rows: Iterable[Bindings]) -> None:
        """One statement for each row of bindings."""
        self.db.executemany(self._numbered(sql), rows)

    def make(self) -> None:
        """Make them, empty."""
        self.run(_MADE)

    def drop(self) -> None:
        """Drop whatever has the number, in whichever format it was made."""
        names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*_N'"
        for (name,) in self.run(names).fetchall():
            self.run(f"DROP TABLE {name}")

    def _numbered(self, sql: str) -> str:
        return sql.replace("_N", f"_{self.number}")


class Pointer(NamedTuple):
    """`generation` grows with every write; `tables` is the number in the names of the tables.

    `format` is the meaning of those tables; `mark` what their writer says they were made from.
    """

    generation: int
    tables: int
    format: int
    mark: str


def current_pointer(db: apsw.Connection) -> Pointer:
    """The pointer, read in the transaction of the connection. Raises `CorruptError` if it is gone.

    A page that was half written when the power went may read as a row of nothing, or as none.
    """
    row = db.execute("SELECT generation, tables, format, mark FROM pointer").get
    if row is None or None in row:
        raise apsw.CorruptError(f"{db.filename} has lost its pointer")
    return Pointer(*row)


def switch_pointer(db: apsw.Connection, pointer: Pointer) -> None:
    """Write the pointer, in the transaction of the connection."""
    db.execute("UPDATE pointer SET (generation, tables, format, mark) = (?, ?, ?, ?)", pointer)
