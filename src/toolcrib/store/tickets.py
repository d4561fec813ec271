"""Calls that wait for approval, or have it, in a file: a restart loses none, and repeats none.

Beside the decisions, for its owner alone, and written through to the disk. Leave to make a call is
a MAC over what it is for: a row that somebody else has written gives none. It is taken by the one
statement that removes the row, so that no two calls get it, in whatever process they come.
"""

import hashlib
import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import apsw

from toolcrib.store.database import (
    DAMAGE,
    explained_faults,
    migrate,
    open_private,
    set_aside,
    transaction,
)
from toolcrib.strict_json import canonical_json

MOST_OF_ONE = 100
MOST_BYTES_OF_ONE = 8 * 1024 * 1024
MOST = 1_000

APPLICATION = 0x746F6F74  # "toot"
MIGRATIONS = (
    """
    PRAGMA application_id = 0x746F6F74;
    CREATE TABLE ticket (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, caller TEXT NOT NULL,
        pin TEXT NOT NULL, digest TEXT NOT NULL, expires REAL NOT NULL, request TEXT NOT NULL,
        leave BLOB, UNIQUE (caller, pin, digest)
    );
    """,
    "ALTER TABLE ticket ADD COLUMN lasts REAL NOT NULL DEFAULT 300",
)

_OLDEST_OF_MOST = """
    DELETE FROM ticket WHERE number = (
        SELECT min(number) FROM ticket WHERE leave IS NULL AND caller = (
            SELECT caller FROM ticket WHERE leave IS NULL
            GROUP BY caller ORDER BY count(*) DESC, min(number) LIMIT 1
        )
    )
"""
_LASTS = "expires > ?1 AND expires <= ?1 + lasts"


TicketState: TypeAlias = Literal["waiting", "approved", "gone"]


class TicketBinding(NamedTuple):
    """What makes it this call and no other: who calls, the pin of the tool, a hash of the rest."""

    caller: str
    pin: str
    digest: str


class TicketRow(NamedTuple):
    """A call that waits. `expires` is since the epoch, `request` what its owner wrote."""

    id: str
    expires: float
    request: str


class AskedTicket(NamedTuple):
    """The ticket that a call waits for, and whether it is a new one."""

    row: TicketRow
    is_new: bool


class TicketFile:
    """One file, for all threads of a process and any number of processes; `:memory:` is for one.

    A ticket lasts for `LIFETIME_S`, or as `extend` says, approved or not. Those of one caller make
    room for one another and for nobody else; what is approved makes room for none. Everything here
    raises `StoreError` when the file cannot be read or written.
    """

    LIFETIME_S: ClassVar = 300.0

    def __init__(self, path: Path, key: bytes, clock: Callable[[], float] = time.time) -> None:
        """Opened, and made if it is not there. One that is damaged is set aside: nothing waits."""
        self._path = path
        self._key = key
        self._clock = clock
        self._turn = Lock()
        self._expired: deque[TicketRow] = deque(maxlen=MOST)
        with explained_faults(self._path):
            try:
                self._db = _opened(path)
            except DAMAGE:
                set_aside(path)
                self._db = _opened(path)

    def ask(self, binding: TicketBinding, request: str) -> AskedTicket:
        """The ticket that a call waits for: the one it has, or a new one."""
        with self._writing() as db:
            new = secrets.token_hex(8), *binding, self._clock() + self.LIFETIME_S, request
            columns = "id, caller, pin, digest, expires, request"
            sql = f"INSERT OR IGNORE INTO ticket ({columns}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608 - our own names
            db.execute(sql, new)
            self._make_room(db, binding.caller)
            sql = "SELECT id, expires, request FROM ticket WHERE (caller, pin, digest) = (?, ?, ?)"
            row = TicketRow(*db.execute(sql, binding).get)
            return AskedTicket(row, row.id == new[0])

    def spend(self, binding: TicketBinding) -> bool:
        """Whether this call was approved; if so, that approval is gone now."""
        sql = (
            f"DELETE FROM ticket WHERE (caller, pin, digest) = (?2, ?3, ?4) AND {_LASTS}"  # noqa: S608 - our own names
            " AND leave IS NOT NULL RETURNING id, expires, leave"
        )
        with self._turn, explained_faults(self._path):
            rows = self._db.execute(sql, (self._clock(), *binding)).fetchall()
        return any(
            isinstance(leave, bytes)
            and hmac.compare_digest(leave, self._leave(id, expires, binding))
            for id, expires, leave in rows
        )

    def extend(self, id: str, lasts_s: float) -> bool:
        """Let a ticket wait for so long from now. False: no such ticket waits, or not any more."""
        with self._writing() as db:
            expires = self._clock() + lasts_s
            sql = "UPDATE ticket SET expires = ?, lasts = ? WHERE id = ? AND leave IS NULL"
            return bool(db.execute(f"{sql} RETURNING id", (expires, lasts_s, id)).fetchall())

    def state(self, id: str) -> TicketState:
        """What has become of a ticket. `gone`: it was rejected, spent, crowded out or expired."""
        sql = f"SELECT leave IS NULL FROM ticket WHERE id = ?2 AND {_LASTS}"  # noqa: S608 - our own names
        with self._turn, explained_faults(self._path):
            is_open = self._db.execute(sql, (self._clock(), id)).get
        return "gone" if is_open is None else "waiting" if is_open else "approved"

    def waiting(self) -> Sequence[TicketRow]:
        """The tickets that nobody has decided on, oldest first."""
        sql = f"SELECT id, expires, request FROM ticket WHERE leave IS NULL AND {_LASTS}"  # noqa: S608 - our own names
        with self._turn, explained_faults(self._path):
            rows = self._db.execute(f"{sql} ORDER BY number", (self._clock(),))
            return [TicketRow(*row) for row in rows]

    def approve(self, id: str) -> TicketRow | None:
        """Give leave for one call. None: no such ticket waits, or not any more."""
        with self._writing() as db:
            columns = "expires, request, caller, pin, digest"
            sql = f"SELECT {columns} FROM ticket WHERE id = ? AND leave IS NULL"  # noqa: S608 - our own names
            for expires, request, *binding in db.execute(sql, (id,)).fetchall():
                leave = self._leave(id, expires, TicketBinding(*binding))
                db.execute("UPDATE ticket SET leave = ? WHERE id = ?", (leave, id))
                return TicketRow(id, expires, request)
            return None

    def reject(self, id: str) -> TicketRow | None:
        """Take a ticket away. None: no such ticket waits, or not any more."""
        with self._writing() as db:
            sql = "DELETE FROM ticket WHERE id = ? AND leave IS NULL RETURNING id, expires, request"
            rows = db.execute(sql, (id,)).fetchall()
            return TicketRow(*rows[0]) if rows else None

    def take_expired(self) -> Sequence[TicketRow]:
        """The tickets that were found to have expired with no answer, each once."""
        return [self._expired.popleft() for _ in range(len(self._expired))]

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._db.close()

    def _make_room(self, db: apsw.Connection, caller: str) -> None:
        """Keep the newest of what waits: of this caller, then of whoever has the most."""
        sql = "SELECT number, length(request) FROM ticket WHERE caller = ? AND leave IS NULL"
        size = 0
        for count, (number, length) in enumerate(
            db.execute(f"{sql} ORDER BY number DESC", (caller,)).fetchall()
        ):
            size += length
            if count and (count >= MOST_OF_ONE or size > MOST_BYTES_OF_ONE):
                db.execute("DELETE FROM ticket WHERE number = ?", (number,))
        while db.execute("SELECT count(*) FROM ticket WHERE leave IS NULL").get > MOST:
            db.execute(_OLDEST_OF_MOST)

    def _leave(self, id: str, expires: float, binding: TicketBinding) -> bytes:
        text = canonical_json([id, repr(expires), *binding])
        return hashlib.blake2b(text.encode(), key=self._key).digest()

    @contextmanager
    def _writing(self) -> Generator[apsw.Connection]:
        """One transaction on what has not expired."""
        with self._turn, explained_faults(self._path), transaction(self._db):
            returned = "RETURNING id, expires, request, leave IS NULL"
            gone = f"DELETE FROM ticket WHERE NOT ({_LASTS}) {returned}"  # noqa: S608 - our own names
            rows = self._db.execute(gone, (self._clock(),)).fetchall()
            yield self._db
        self._expired += (TicketRow(*row) for *row, is_open in rows if is_open)


def _opened(path: Path) -> apsw.Connection:
    if str(path) == ":memory:":
        db = apsw.Connection(":memory:")
        _prepare(db)
        return db
    return open_private(path, _prepare)


def _prepare(db: apsw.Connection) -> None:
    db.pragma("synchronous", "full")
    db.pragma("secure_delete", 1)  # arguments may hold what nobody else is to read
    migrate(db, MIGRATIONS, APPLICATION)
