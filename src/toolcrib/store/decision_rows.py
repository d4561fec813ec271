"""The rows of the file of decisions, and its tables. Only `Decisions` reads and writes them."""

from typing import Literal, NamedTuple

import apsw

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


def rows_of(db: apsw.Connection, source: str) -> list[Decision]:
    sql = "SELECT * FROM decision WHERE source = ? ORDER BY name, verdict"
    return [Decision(*row) for row in db.execute(sql, (source,)).fetchall()]


def entry_of(db: apsw.Connection, source: str) -> str | None:
    return db.execute("SELECT entry FROM configuration WHERE source = ?", (source,)).get


def sealed(db: apsw.Connection, source: str) -> list[object]:
    """All that the seal of a source covers."""
    entry = entry_of(db, source)
    return [*rows_of(db, source), *([["configuration", entry]] if entry is not None else [])]


def is_filed(db: apsw.Connection, source: str) -> bool:
    """Whether there is something about just this source."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM source WHERE id = ?)", (source,)).get)
