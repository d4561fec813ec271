"""Reveal sets, long results and suspended programs in a file: a restart ends none of them.

Beside the catalog, for its owner alone. A killed process loses nothing that was acknowledged; when
the power fails, the last moments may be lost, at the cost of a search or a call. What is too old is
erased, and its bytes with it, when more is kept and when the file is opened.
"""

import json
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Literal

import apsw

from toolcrib.store.database import (
    DAMAGE,
    explained_faults,
    migrate,
    open_private,
    set_aside,
    transaction,
    write_ahead,
)
from toolcrib.store.handle_protocol import (
    HELD_BYTES,
    MOST_SET_TOOLS,
    MOST_SETS,
    UNUSED_S,
    StoredSet,
)

APPLICATION = 0x746F6F68  # "tooh"
MIGRATIONS = (
    """
    PRAGMA application_id = 0x746F6F68;
    CREATE TABLE reveal_set (
        turn INTEGER PRIMARY KEY, owner BLOB NOT NULL, handle BLOB NOT NULL, used REAL NOT NULL,
        pins TEXT NOT NULL, UNIQUE (owner, handle)
    );
    CREATE TABLE result (
        number INTEGER PRIMARY KEY AUTOINCREMENT, handle BLOB NOT NULL UNIQUE, caller BLOB NOT NULL,
        expires REAL NOT NULL, size INTEGER NOT NULL, text BLOB NOT NULL
    );
    CREATE INDEX result_size ON result (caller, size);
    CREATE INDEX result_expires ON result (expires);
    """,
    """
    CREATE TABLE suspension (
        number INTEGER PRIMARY KEY AUTOINCREMENT, handle BLOB NOT NULL UNIQUE, caller BLOB NOT NULL,
        expires REAL NOT NULL, size INTEGER NOT NULL, content BLOB NOT NULL
    );
    """,
)
_INCREMENTAL = 2

_OLDEST_OF_MOST = """
    DELETE FROM {table} WHERE number = (
        SELECT min(number) FROM {table} WHERE caller = (
            SELECT caller FROM {table} GROUP BY caller ORDER BY sum(size) DESC, caller LIMIT 1
        )
    )
"""


class HandleFile:
    """One file, for all threads of a process and any number of processes; `:memory:` is for one.

    It keeps what `RevealSetStore`, `ResultStore` and `SuspensionStore` promise. A call waits for
    the disk: an event loop makes it in a thread.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        """Opened, and made if it is not there. One that is damaged is set aside."""
        self._path = path
        self._clock = clock
        self._turn = Lock()
        with explained_faults(path):
            try:
                self._db = _opened(path)
            except DAMAGE:
                set_aside(path)
                self._db = _opened(path)
        with self._writing() as db:
            self._sweep(db)
        with self._turn, explained_faults(path):
            self._db.execute("PRAGMA incremental_vacuum").fetchall()

    def add_to_set(self, owner: str, handle: str, pins: Mapping[str, str], new: str) -> str:
        """As the protocol says."""
        with self._writing() as db:
            self._sweep(db)
            before = self._set(db, owner, handle) if handle else None
            handle = new if before is None else handle
            both = [*((before or {}) | dict(pins)).items()][-MOST_SET_TOOLS:]
            self._put_set(db, owner, handle, dict(both))
            sql = "SELECT turn FROM reveal_set WHERE owner = ? ORDER BY turn DESC LIMIT -1 OFFSET ?"
            extra = f"DELETE FROM reveal_set WHERE turn IN ({sql})"  # noqa: S608 - our own names
            db.execute(extra, (_key(owner), MOST_SETS))
            return handle

    def set_pins(self, owner: str, handle: str) -> Mapping[str, str] | None:
        """As the protocol says."""
        with self._writing() as db:
            pins = self._set(db, owner, handle)
            if pins is not None:
                self._put_set(db, owner, handle, pins)
            return pins

    def sets(self, owner: str) -> Sequence[StoredSet]:
        """As the protocol says."""
        sql = "SELECT handle, pins, used FROM reveal_set WHERE owner = ? AND abs(? - used) < ?"
        with self._turn, explained_faults(self._path):
            now = self._clock()
            rows = self._db.execute(f"{sql} ORDER BY turn DESC", (_key(owner), now, UNUSED_S))
            return [
                StoredSet(_text(handle), tuple(json.loads(pins)), used)
                for handle, pins, used in rows
            ]

    def keep_result(self, handle: str, caller: str, text: str, lasts_s: float) -> bool:
        """As the protocol says."""
        return self._keep("result", "text", (handle, caller), _key(text), lasts_s)

    def result(self, handle: str, caller: str) -> str | None:
        """As the protocol says."""
        sql = "SELECT text FROM result WHERE handle = ? AND caller = ? AND expires > ?"
        with self._turn, explained_faults(self._path):
            content = self._db.execute(sql, (_key(handle), _key(caller), self._clock())).get
        return None if content is None else _text(content)

    def keep_suspension(self, handle: str, caller: str, content: bytes, lasts_s: float) -> bool:
        """As the protocol says."""
        return self._keep("suspension", "content", (handle, caller), content, lasts_s)

    def suspension(self, handle: str, caller: str) -> bytes | None:
        """As the protocol says."""
        sql = "SELECT content FROM suspension WHERE handle = ? AND caller = ? AND expires > ?"
        with self._turn, explained_faults(self._path):
            return self._db.execute(sql, (_key(handle), _key(caller), self._clock())).get

    def take_suspension(self, handle: str, caller: str) -> bytes | None:
        """As the protocol says. It waits for the disk, so that no power failure brings it back."""
        sql = "DELETE FROM suspension WHERE handle = ? AND caller = ? RETURNING content, expires"
        with self._turn, explained_faults(self._path):
            self._db.pragma("synchronous", "full")
            try:
                with transaction(self._db):
                    rows = self._db.execute(sql, (_key(handle), _key(caller))).fetchall()
            finally:
                self._db.pragma("synchronous", "normal")
        return next((content for content, expires in rows if expires > self._clock()), None)

    def close(self) -> None:
        """Let go of the file; what is in it stays."""
        with self._turn:
            self._db.close()

    def _keep(
        self,
        table: Literal["result", "suspension"],
        column: Literal["text", "content"],
        key: tuple[str, str],
        content: bytes,
        lasts_s: float,
    ) -> bool:
        if len(content) > HELD_BYTES:
            return False
        with self._writing() as db:
            self._sweep(db)
            columns = f"handle, caller, expires, size, {column}"
            row = *map(_key, key), self._clock() + lasts_s, len(content), content
            db.execute(f"INSERT INTO {table} ({columns}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608 - our own names
            while db.execute(f"SELECT sum(size) FROM {table}").get > HELD_BYTES:  # noqa: S608 - our own names
                db.execute(_OLDEST_OF_MOST.format(table=table))
        return True

    def _set(self, db: apsw.Connection, owner: str, handle: str) -> dict[str, str] | None:
        sql = "SELECT pins FROM reveal_set WHERE owner = ? AND handle = ? AND abs(? - used) < ?"
        pins = db.execute(sql, (_key(owner), _key(handle), self._clock(), UNUSED_S)).get
        return None if pins is None else json.loads(pins)

    def _put_set(
        self, db: apsw.Connection, owner: str, handle: str, pins: Mapping[str, str]
    ) -> None:
        """As the one used last: the number of its turn is the largest."""
        turn = "SELECT coalesce(max(turn), 0) + 1 FROM reveal_set"
        sql = f"INSERT OR REPLACE INTO reveal_set VALUES (({turn}), ?, ?, ?, ?)"  # noqa: S608 - our own names
        db.execute(sql, (_key(owner), _key(handle), self._clock(), json.dumps(pins)))

    def _sweep(self, db: apsw.Connection) -> None:
        """Erase what is too old; sets also where the clock was put back."""
        db.execute("DELETE FROM reveal_set WHERE abs(? - used) >= ?", (self._clock(), UNUSED_S))
        db.execute("DELETE FROM result WHERE expires <= ?", (self._clock(),))
        db.execute("DELETE FROM suspension WHERE expires <= ?", (self._clock(),))

    @contextmanager
    def _writing(self) -> Generator[apsw.Connection]:
        with self._turn, explained_faults(self._path), transaction(self._db):
            yield self._db


def _key(text: str) -> bytes:
    """A model may say anything for a handle, and a tool return anything."""
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")


def _opened(path: Path) -> apsw.Connection:
    if str(path) == ":memory:":
        db = apsw.Connection(":memory:")
        _prepare(db)
        return db
    return open_private(path, _prepare)


def _prepare(db: apsw.Connection) -> None:
    db.pragma("auto_vacuum", _INCREMENTAL)
    write_ahead(db)
    db.pragma("synchronous", "normal")
    db.pragma("secure_delete", 1)  # results may hold what nobody else is to read
    migrate(db, MIGRATIONS, APPLICATION)
