"""One PostgreSQL database, for all threads and all tenants of a process.

A block is a transaction, and belongs to one tenant: the server's row security shows it the rows of
that tenant and no others. The first thing that a block sends is who it is for and how long the
server may take; a connection that went stale is noticed by that, and replaced.

Nothing here waits without a bound. Whatever goes wrong is a `StoreError`, and a `StoreAway` where
the database cannot be reached: then nobody knows whether the last commit took place.
"""

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Lock
from typing import Any, Literal, LiteralString, NamedTuple, TypeAlias, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from toolcrib.errors import StoreAway, StoreError
from toolcrib.store.postgres.address import DatabaseAddress
from toolcrib.store.postgres.faults import explained
from toolcrib.store.postgres.watchdog import Watchdog

MOST_CONNECTIONS = 8
ANSWER_S = 5.0
"""How long a transaction may take, unless it says otherwise; then its socket is shut down."""
BEGIN_S = 2.0
"""How long the first reply of a connection may take."""
AWAY_S = 0.5
"""For so long after a failure to connect nobody tries again."""
OLDEST_SERVER = 140_000

Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"
T = TypeVar("T")
TransactionKind = Literal["read", "durable", "quick"]
"""`read` sees one state and writes nothing. What a `durable` one wrote is on disk once it is
acknowledged; of `quick` ones a crash of the server may lose the last."""

_BEGIN = """
    {how};
    SELECT set_config('toolcrib.tenant', %(tenant)s, true),
        set_config('search_path', 'toolcrib', true),
        set_config('statement_timeout', %(server_ms)s, true),
        set_config('idle_in_transaction_session_timeout', %(idle_ms)s, true),
        set_config('synchronous_commit', CASE
            WHEN %(kind)s = 'quick' THEN 'off'
            WHEN current_setting('synchronous_commit') IN ('on', 'remote_apply')
            THEN current_setting('synchronous_commit') ELSE 'on' END, true)
"""
_READ = _BEGIN.format(how="BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").encode()
_WRITE = _BEGIN.format(how="BEGIN").encode()
_ROLE = """
    SELECT rolname, rolsuper, rolbypassrls, current_setting('server_version_num')::int,
        current_setting('server_encoding')
    FROM pg_roles WHERE rolname = current_user
"""


class HeldConnection(NamedTuple):
    """A connection, and its socket for the watchdog: a copy, so that it is nobody else's later."""

    connection: Connection
    socket: socket.socket

    def shut_down(self) -> None:
        """End what waits on it, in whatever thread."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of both."""
        with suppress(psycopg.Error):
            self.connection.close()
        self.socket.close()


class Database:
    """At most so many connections at once, made when they are needed. See `open_database`."""

    def __init__(self, address: DatabaseAddress, most: int = MOST_CONNECTIONS) -> None:
        self.address = address
        self.watchdog = Watchdog()
        self._places = BoundedSemaphore(most)
        self._idle: deque[HeldConnection] = deque()
        self._turn = Lock()
        self._away: tuple[float, str] = 0.0, ""
        self._closed = False

    @contextmanager
    def transaction(
        self, tenant: str, kind: TransactionKind, within_s: float = ANSWER_S
    ) -> Generator[Connection]:
        """Commit when the block ends, roll back when it raises. An empty tenant sees no rows."""
        values = _begin_values(tenant, kind, within_s)
        with explained(self.address.shown), self._place(within_s):
            held, _ = self._first(lambda connection: _begin(connection, values), BEGIN_S)
            try:
                with self.watchdog.watching(held.socket, within_s):
                    yield held.connection
                    held.connection.commit()
            except BaseException:
                self._roll_back(held)
                raise
            finally:
                self._put_back(held)

    def ask(
        self, tenant: str, query: LiteralString, values: Mapping[str, object]
    ) -> list[tuple[Any, ...]]:
        """The rows of one query, of one state, as `transaction` sees them; in one round trip.

        Values are named as `%(this)s`, and are no bytes.
        """
        every = {**_begin_values(tenant, "read", ANSWER_S), **values}
        text = b"%b; %b; COMMIT" % (_READ, query.encode())
        with explained(self.address.shown), self._place(ANSWER_S):
            held, rows = self._first(lambda connection: _rows(connection, text, every), ANSWER_S)
            self._put_back(held)
            return rows

    def connect(self) -> HeldConnection:
        """A connection of its own, for whoever has to keep it. In no transaction."""
        until, problem = self._away
        if time.monotonic() < until:
            raise StoreAway(problem)
        try:
            with explained(self.address.shown):
                connection = psycopg.connect(
                    **self.address.parameters(), prepare_threshold=None, autocommit=True
                )
                held = HeldConnection(connection, _copied(connection))
                try:
                    with self.watchdog.watching(held.socket, BEGIN_S):
                        _check_role(connection)
                except BaseException:
                    held.close()
                    raise
                return held
        except StoreAway as error:
            self._away = time.monotonic() + AWAY_S, str(error)
            raise

    def close(self) -> None:
        """Let go of all connections; whoever is at work closes its own when done."""
        self._closed = True
        self._drop_idle()
        self.watchdog.close()

    @contextmanager
    def _place(self, within_s: float) -> Generator[None]:
        if self._closed:
            raise StoreError(f"{self.address.shown} was closed; open it again")
        if not self._places.acquire(timeout=within_s):
            raise StoreAway(f"{self.address.shown}: all connections are busy; try again later")
        try:
            yield
        finally:
            self._places.release()

    def _first(self, send: Callable[[Connection], T], within_s: float) -> tuple[HeldConnection, T]:
        """Send the first thing on a connection, on a new one where that has gone stale.

        Nothing may come of it if it gets lost.
        """
        while True:
            idle = self._taken()
            held = idle or self.connect()
            try:
                with self.watchdog.watching(held.socket, within_s):
                    return held, send(held.connection)
            except (psycopg.OperationalError, TimeoutError):
                held.close()
                if idle is None:
                    raise
                self._drop_idle()  # they were made before it
            except BaseException:
                held.close()
                raise

    def _taken(self) -> HeldConnection | None:
        with self._turn:
            return self._idle.pop() if self._idle else None

    def _roll_back(self, held: HeldConnection) -> None:
        if not held.connection.closed:
            with (
                suppress(psycopg.Error, TimeoutError),
                self.watchdog.watching(held.socket, BEGIN_S),
            ):
                held.connection.rollback()

    def _put_back(self, held: HeldConnection) -> None:
        status = held.connection.info.transaction_status
        if status is not TransactionStatus.IDLE or self._closed:
            held.close()
            return
        with self._turn:
            self._idle.append(held)

    def _drop_idle(self) -> None:
        while held := self._taken():
            held.close()


def _begin_values(tenant: str, kind: TransactionKind, within_s: float) -> dict[str, object]:
    return {
        "tenant": tenant,
        "kind": kind,
        "server_ms": str(int(within_s * 900)),  # the server's own answer comes first
        "idle_ms": str(int(within_s * 1_000)),
    }


def _rows(
    connection: Connection, text: bytes, values: Mapping[str, object]
) -> list[tuple[Any, ...]]:
    """The rows of the third statement of a text: two begin the transaction."""
    cursor = psycopg.ClientCursor(connection).execute(text, values)
    cursor.nextset()
    cursor.nextset()
    return cursor.fetchall()


def _begin(connection: Connection, values: Mapping[str, object]) -> None:
    """Begin a transaction, in one round trip: as two statements in one text.

    Not in a pipeline of psycopg, which writes to the log whenever a connection is lost.
    """
    sql = _READ if values["kind"] == "read" else _WRITE
    psycopg.ClientCursor(connection).execute(sql, values)


def _copied(connection: Connection) -> socket.socket:
    return socket.socket(fileno=os.dup(connection.fileno()))


def _check_role(connection: Connection) -> None:
    """Raises `StoreError` for a server that is too old, and a role that row security is not for.

    And for a database that cannot hold every text.
    """
    [(role, is_super, bypasses, version, encoding)] = connection.execute(_ROLE).fetchall()
    if version < OLDEST_SERVER:
        number = f"{version // 10_000}"
        raise StoreError(f"the server is PostgreSQL {number}; use PostgreSQL 14 or newer")
    if encoding not in ("UTF8", b"UTF8"):  # in SQL_ASCII all text is read as bytes, this too
        remedy = "make one: CREATE DATABASE toolcrib ENCODING 'UTF8' TEMPLATE template0"
        raise StoreError(f"the database has another encoding than UTF-8; {remedy}")
    if is_super or bypasses:
        why = "is a superuser" if is_super else "has BYPASSRLS"
        remedy = (
            "so it would see the rows of every tenant; use a role without that:"
            " CREATE ROLE toolcrib LOGIN NOSUPERUSER NOBYPASSRLS"
        )
        raise StoreError(f"the role {role!r} {why}, {remedy}")
