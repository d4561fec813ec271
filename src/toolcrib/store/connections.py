"""Connections to the catalog: one that writes, and for each that reads one of its own.

A block is a transaction. What a block reads stays as it is until the block ends, whatever is
written meanwhile; what a block writes is there whole when it ends, or not at all when it raises.
The tables of the catalog are here, version by version. Those of an index generation are not: their
engine makes and drops them.
"""

from collections import deque
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import Protocol

import apsw
import sqlite_vec

from toolcrib.errors import StoreError
from toolcrib.store.database import BUSY_MS, migrate, transaction, write_ahead

CATALOG_APPLICATION = 0x746F6F6C  # "tool"


CATALOG_MIGRATIONS = (
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
    # Rows lie in the order in which they came, two or more a page: in a table WITHOUT ROWID each
    # took a page of its own.
    """
    CREATE TABLE vector_model (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE cached_vector (
        id INTEGER PRIMARY KEY, model INTEGER NOT NULL, text_hash BLOB NOT NULL,
        vector BLOB NOT NULL, UNIQUE (model, text_hash)
    );
    INSERT INTO vector_model (name) SELECT DISTINCT model FROM embedding;
    INSERT INTO cached_vector (model, text_hash, vector)
        SELECT id, text_hash, vector FROM embedding JOIN vector_model ON name = model;
    DROP TABLE embedding;
    """,
)


class Connections(Protocol):
    """The ways to a catalog. Each block runs in one thread."""

    def read(self) -> AbstractContextManager[apsw.Connection]:
        """A connection that sees one state of the catalog."""
        ...

    def write(self) -> AbstractContextManager[apsw.Connection]:
        """The connection that writes; writers take turns, in this process and among processes."""
        ...

    def close(self) -> None:
        """Waits for the writer; readers still at work close their own connection when done."""
        ...


class FileConnections:
    """Connections to a file in WAL mode: readers never wait. Made, the file is up to date."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._closed = False
        self._writing = RLock()
        self._idle: deque[apsw.Connection] = deque()
        self._writer = _connect(path)
        try:
            migrate(self._writer, CATALOG_MIGRATIONS, CATALOG_APPLICATION)
            write_ahead(self._writer)
        except BaseException:
            self._writer.close()
            raise

    @contextmanager
    def read(self) -> Generator[apsw.Connection]:
        """On a connection of its own, so that blocks may overlap and nest."""
        db = self._reader()
        try:
            with transaction(db, "DEFERRED"):
                yield db
        finally:
            db.close() if self._closed else self._idle.append(db)

    @contextmanager
    def write(self) -> Generator[apsw.Connection]:
        """BEGIN IMMEDIATE to COMMIT."""
        with self._writing:
            self._refuse_closed()
            with transaction(self._writer):
                yield self._writer

    def close(self) -> None:
        """Also folds the WAL into the file, if no other process has it open."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()
        with self._writing:
            self._writer.close()

    def _reader(self) -> apsw.Connection:
        self._refuse_closed()
        try:
            return self._idle.pop()
        except IndexError:
            db = _connect(self._path)
            db.pragma("query_only", value=True)
            return db

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self._path} was closed; open it again")


class MemoryConnection:
    """One connection to a catalog that is gone when it closes: whoever reads waits for who writes.

    Blocks of one thread may nest; an outer one then sees what an inner one wrote.
    """

    def __init__(self) -> None:
        self._turn = RLock()
        self._db = _connect(":memory:")
        migrate(self._db, CATALOG_MIGRATIONS, CATALOG_APPLICATION)

    @contextmanager
    def read(self) -> Generator[apsw.Connection]:
        """As `write`."""
        with self._turn, self._db:
            yield self._db

    write = read

    def close(self) -> None:
        """Forget everything."""
        with self._turn:
            self._db.close()


def _connect(path: Path | str) -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.set_busy_timeout(BUSY_MS)
    db.enable_load_extension(True)  # noqa: FBT003 - apsw takes no keyword
    db.load_extension(sqlite_vec.loadable_path())
    db.enable_load_extension(False)  # noqa: FBT003
    db.pragma("synchronous", "normal")
    return db
