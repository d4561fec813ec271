"""The tables of the catalog file, version by version.

A file says in `user_version` how many of the steps it has behind it, and in `application_id` that
it is ours. The tables of an index generation are not here: their engine makes and drops them.
"""

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
    CREATE TABLE reveals (
        caller TEXT, session TEXT, names TEXT NOT NULL, used INTEGER NOT NULL UNIQUE,
        PRIMARY KEY (caller, session)
    ) WITHOUT ROWID;
    """,
)


def migrate(db: apsw.Connection) -> None:
    """Bring the file up to date, each step in a transaction of its own.

    Raises `StoreError` for a file of a newer Toolcrib and for another program's database, and
    leaves both as they are.
    """
    _refuse_foreign(db)
    while (done := _version(db)) < len(MIGRATIONS):
        with transaction(db):
            if _version(db) == done:  # nobody else took this step while we waited
                db.execute(MIGRATIONS[done])
                db.pragma("user_version", done + 1)
    if done > len(MIGRATIONS):
        raise StoreError(
            f"{db.filename} was written by a newer Toolcrib (version {done} of the file, "
            f"{len(MIGRATIONS)} is known here); upgrade toolcrib, or name another file"
        )


def _refuse_foreign(db: apsw.Connection) -> None:
    ours = db.pragma("application_id") == APPLICATION
    if not ours and db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)").get:
        raise StoreError(f"{db.filename} is another program's database; name another file")


def _version(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))
