"""The rows of one tenant: a transaction that sees no others, and changes that replicas hear of."""

import json
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, LiteralString, NamedTuple

from psycopg import sql

from toolcrib.errors import StoreError
from toolcrib.store.postgres.database import ANSWER_S, Connection, Database, TransactionKind

CHANNEL = "toolcrib"

_NEXT = sql.SQL("""
    INSERT INTO tenant DEFAULT VALUES
    ON CONFLICT (tenant) DO UPDATE SET generation = tenant.generation + 1 RETURNING generation
""")
_MARKS = {
    "keys": sql.SQL("UPDATE tenant SET keys = generation"),
    "decisions": sql.SQL("UPDATE tenant SET decisions = generation"),
}
TELL = f"SELECT pg_notify('{CHANNEL}', current_setting('toolcrib.tenant'))"
_TURN = "hashtextextended(%s, hashtextextended(current_setting('toolcrib.tenant'), 0))"


class ChangeBlock(NamedTuple):
    """A transaction that changes something, and the generation that this makes."""

    db: Connection
    generation: int


class TenantDatabase:
    """A database as one store of one tenant sees it. Everything here raises `StoreError`."""

    def __init__(self, database: Database, tenant: str) -> None:
        self.database = database
        self.tenant = tenant
        self._closed = False

    @property
    def place(self) -> str:
        """What messages call it."""
        return self.database.address.shown

    def transaction(
        self, kind: TransactionKind, within_s: float = ANSWER_S
    ) -> AbstractContextManager[Connection]:
        """As `Database.transaction`."""
        self._check_open()
        return self.database.transaction(self.tenant, kind, within_s)

    def ask(self, query: LiteralString, **values: object) -> list[tuple[Any, ...]]:
        """As `Database.ask`."""
        self._check_open()
        return self.database.ask(self.tenant, query, values)

    @contextmanager
    def change(
        self,
        what: Literal["documents", "listings", "keys", "decisions"],
        within_s: float = ANSWER_S,
    ) -> Generator[ChangeBlock]:
        """A durable transaction that replicas hear of when it is committed.

        Writers of one tenant take turns from the first line on.
        """
        with self.transaction("durable", within_s) as db:
            [(generation,)] = db.execute(_NEXT).fetchall()
            yield ChangeBlock(db, generation)
            if mark := _MARKS.get(what):
                db.execute(mark)
            db.execute(TELL)

    def close(self) -> None:
        """Whatever comes after it raises; the connections stay, for others."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError(f"{self.place} was closed; open it again")


def take_turns(db: Connection, *about: str) -> None:
    """Wait for whoever else of this tenant does something about the same, until it commits.

    For what has no row yet that could be locked.
    """
    db.execute(f"SELECT pg_advisory_xact_lock({_TURN})", (json.dumps(about),))


def may_begin(db: Connection, *about: str) -> bool:
    """The same, but False instead of a wait."""
    sql = f"SELECT pg_try_advisory_xact_lock({_TURN})"
    [(begun,)] = db.execute(sql, (json.dumps(about),)).fetchall()
    return bool(begun)
