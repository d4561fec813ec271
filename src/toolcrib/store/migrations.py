"""The tables of a file of ours, version by version; those of the catalog file are here.

A file says in `user_version` how many of the steps it has behind it, and in `application_id` that
it is ours. The tables of an index generation are not here: their engine makes and drops them.
"""

from collections.abc import Sequence

import apsw

from toolcrib.errors import StoreError
from toolcrib.store.transaction import transaction

APPLICATION = 0x746F6F6C  # "tool"

MIGRATIONS = (
    """
    PRAGMA application_id = 0x746F6F6C;
    CREATE TABLE embedding (
        model TEXT, text_hash BLOB, vector BLOB NOT NULL, PRIMARY KEY (model, text_hash)
    ) WITHOUT ROWID;
    CREATE TABLE pointer (
        generation INTEGER NOT NULL, tables INTEGER NOT NULL, format INTEGER NOT NULL,
        mark TEXT NOT NULL
    );
    INSERT INTO pointer VALUES (0, 0, 0, '');
    """,
    """
    CREATE TABLE use_key (key BLOB NOT NULL);
    INSERT INTO use_key VALUES (randomblob(16));
    CREATE TABLE use_pair (
        id INTEGER PRIMARY KEY, before TEXT NOT NULL, after TEXT NOT NULL, count INTEGER NOT NULL,
        UNIQUE (before, after)
    );
    CREATE TABLE use_lesson (
        profile BLOB, word BLOB, tool TEXT, uses INTEGER NOT NULL, weight REAL NOT NULL,
        day INTEGER NOT NULL, PRIMARY KEY (profile, word, tool)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE reveals (
        caller TEXT, session TEXT, names TEXT NOT NULL, used INTEGER NOT NULL UNIQUE,
        PRIMARY KEY (caller, session)
    ) WITHOUT ROWID;
    """,
    """
    ALTER TABLE reveals ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE reveals ADD COLUMN listed INTEGER;
    """,
)


def migrate(
    db: apsw.Connection, steps: Sequence[str] | None = None, application: int = APPLICATION
) -> None:
    """Bring the file up to date, each step in a transaction of its own; None: the catalog's steps.

    Raises `StoreError` for a file of a newer Toolcrib and for another program's database, and
    leaves both as they are.
    """
    steps = MIGRATIONS if steps is None else steps
    _refuse_foreign(db, application)
    while (done := _version(db)) < len(steps):
        with transaction(db):
            if _version(db) == done:  # nobody else took this step while we waited
                db.execute(steps[done])
                db.pragma("user_version", done + 1)
    if done > len(steps):
        raise StoreError(
            f"{db.filename} was written by a newer Toolcrib (version {done} of the file, "
            f"{len(steps)} is known here); upgrade toolcrib, or name another file"
        )


def _refuse_foreign(db: apsw.Connection, application: int) -> None:
    made = db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)").get
    # Only then: another process may be making it now, tables and id in one transaction.
    if made and db.pragma("application_id") != application:
        raise StoreError(f"{db.filename} is another program's database; name another file")


def _version(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))
