"""The rows of the file of decisions, and its tables. Only `Decisions` reads and writes them.

Before they were sealed, decisions were filed by name alone, each row with a MAC of its own:
`adopt_former` files those under the configurations that they were made for.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import apsw

from toolcrib.store.checked_file import CheckedFile
from toolcrib.store.database import migrate
from toolcrib.strict_json import canonical_json

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
    """
    ALTER TABLE decision RENAME TO former_decision;
    ALTER TABLE first_sight RENAME TO former_first_sight;
    CREATE TABLE decision (
        source TEXT, name TEXT, verdict TEXT, pin TEXT, by TEXT, at REAL, definition TEXT,
        PRIMARY KEY (source, name, verdict)
    ) WITHOUT ROWID;
    CREATE TABLE source (id TEXT PRIMARY KEY, used REAL, seal BLOB) WITHOUT ROWID;
    CREATE TABLE whole (count INTEGER, first_sight INTEGER, seal BLOB);
    """,
    """
    CREATE TABLE configuration (source TEXT PRIMARY KEY, entry TEXT) WITHOUT ROWID;
    """,
)

COLUMNS = {
    "decision": "source, name, verdict, pin, by, at, definition",
    "source": "id, used, seal",
    "whole": "count, first_sight, seal",
    "configuration": "source, entry",
}

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


class FiledSource(NamedTuple):
    """All that is filed about a source: its rows, and how it was configured, if that is known."""

    source: str
    rows: Sequence[Decision]
    entry: str | None


def prepare_tables(db: apsw.Connection) -> None:
    """Bring the file up to date. Raises `CorruptError` for a damaged one.

    The file is looked through only if it has changed since that was done last.
    """
    db.pragma("synchronous", "full")
    migrate(db, MIGRATIONS, APPLICATION)
    CheckedFile(Path(db.filename)).check(db)
    try:
        for table, columns in COLUMNS.items():
            db.execute(f"SELECT {columns} FROM {table} LIMIT 0")  # noqa: S608 - our own names
    except apsw.SQLError as error:
        raise apsw.CorruptError(f"{db.filename} has lost a table or a column") from error


def rows_of(db: apsw.Connection, source: str) -> list[Decision]:
    sql = "SELECT * FROM decision WHERE source = ? ORDER BY name, verdict"
    return [Decision(*row) for row in db.execute(sql, (source,)).fetchall()]


def put_row(db: apsw.Connection, decision: Decision) -> None:
    """Write a row in place of the one with the same verdict."""
    db.execute("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?, ?)", decision)


def entry_of(db: apsw.Connection, source: str) -> str | None:
    return db.execute("SELECT entry FROM configuration WHERE source = ?", (source,)).get


def is_filed(db: apsw.Connection, source: str) -> bool:
    """Whether there is something about just this source."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM source WHERE id = ?)", (source,)).get)


class FormerDecisions(NamedTuple):
    """The sources that were taken over, and whether first sight was trusted."""

    sources: tuple[str, ...]
    trusted: bool


def adopt_former(db: apsw.Connection, key: bytes) -> FormerDecisions:
    """File the rows of before under the configurations that they were made for.

    Of a server with a row that was altered none counts, and it is known all the same.
    """
    former = db.execute("SELECT * FROM former_decision").fetchall()
    altered = {row[0] for row in former if not _is_former_whole(row, key)}
    filed = [(_former_source(row), *row[1:-1]) for row in former if row[0] not in altered]
    db.executemany("INSERT OR REPLACE INTO decision VALUES (?, ?, ?, ?, ?, ?, ?)", filed)
    trust = db.execute("SELECT * FROM former_first_sight").fetchall()
    trusted = trust == [(1, _former_mac(["first_sight", 1], key))] or not (trust or former)
    db.execute("DROP TABLE former_decision; DROP TABLE former_first_sight")
    sources = dict.fromkeys([row[0] for row in filed] + [f"{each}#altered" for each in altered])
    return FormerDecisions(tuple(sources), trusted)


def _is_former_whole(row: Sequence[object], key: bytes) -> bool:
    try:
        return row[-1] == _former_mac(row[:-1], key) and bool(_former_source(row))
    except (TypeError, ValueError, LookupError, RecursionError):
        return False


def _former_source(row: Sequence[object]) -> str:
    """Under its server as that was configured. Raises what the parser raises, `LookupError`."""
    return f"{row[0]}#{json.loads(str(row[6]))['config_hash']}"


def _former_mac(values: Sequence[object], key: bytes) -> bytes:
    return hashlib.blake2b(canonical_json(list(values)).encode(), key=key).digest()
