"""The one row that says which generation is current."""

from typing import NamedTuple

import apsw


class Pointer(NamedTuple):
    """`generation` grows with every write; `tables` is the number in the names of the tables.

    `format` is the meaning of those tables; `mark` what the last writer said they were made from.
    """

    generation: int
    tables: int
    format: int
    mark: str


def current(db: apsw.Connection) -> Pointer:
    """Where the pointer stands, in the transaction of the connection."""
    return Pointer(*db.execute("SELECT generation, tables, format, mark FROM pointer").get)


def switch(db: apsw.Connection, pointer: Pointer) -> None:
    """Put the pointer there, as part of the transaction of the connection."""
    db.execute("UPDATE pointer SET (generation, tables, format, mark) = (?, ?, ?, ?)", pointer)
