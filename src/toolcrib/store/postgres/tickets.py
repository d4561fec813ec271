"""Calls that wait for approval, or have it, in a database: from any gateway, and spent once.

The same rules as in a file (`store.tickets`). Time is the server's: the clocks of several machines
differ. Leave is taken by the one statement that removes the row.
"""

import secrets
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.sealing import Sealer, derived_key
from toolcrib.store.postgres.tenant import TenantDatabase
from toolcrib.store.tickets import (
    MOST,
    MOST_BYTES_OF_ONE,
    MOST_OF_ONE,
    AskedTicket,
    TicketBinding,
    TicketFile,
    TicketRow,
    TicketState,
)

_NOW = "extract(epoch FROM clock_timestamp())::float8"
_LASTS = f"expires > {_NOW} AND expires <= {_NOW} + lasts"
_ASK = f"""
    INSERT INTO ticket (id, caller, pin, digest, expires, request)
    VALUES (%(id)s, %(caller)s, %(pin)s, %(digest)s, {_NOW} + %(lifetime)s, %(request)s)
    ON CONFLICT (tenant, caller, pin, digest) DO UPDATE SET digest = excluded.digest
    RETURNING id, expires, request
"""
_SPEND = f"""
    DELETE FROM ticket WHERE (caller, pin, digest) = (%(caller)s, %(pin)s, %(digest)s)
    AND leave IS NOT NULL AND {_LASTS} RETURNING id, expires, leave
"""
_TO_APPROVE = """
    SELECT expires, request, caller, pin, digest FROM ticket
    WHERE id = %s AND leave IS NULL FOR UPDATE
"""
_EXTEND = f"""
    UPDATE ticket SET expires = {_NOW} + %(lasts)s, lasts = %(lasts)s
    WHERE id = %(id)s AND leave IS NULL RETURNING id
"""
_REJECT = "DELETE FROM ticket WHERE id = %s AND leave IS NULL RETURNING id, expires, request"
_EXPIRE = f"DELETE FROM ticket WHERE NOT ({_LASTS}) RETURNING id, expires, request, leave IS NULL"
_OWN = """
    SELECT number, length(request) FROM ticket WHERE caller = %s AND leave IS NULL
    ORDER BY number DESC
"""
_OLDEST_OF_MOST = """
    DELETE FROM ticket WHERE number = (
        SELECT min(number) FROM ticket WHERE leave IS NULL AND caller = (
            SELECT caller FROM ticket WHERE leave IS NULL
            GROUP BY caller ORDER BY count(*) DESC, min(number) LIMIT 1
        )
    )
"""


class PostgresTickets:
    """The tickets of one tenant. Keeps `TicketStore`."""

    def __init__(self, tenant: TenantDatabase, key: bytes) -> None:
        self._tenant = tenant
        self._sealer = Sealer(derived_key(key, "tickets", tenant.tenant))
        self._expired: deque[TicketRow] = deque(maxlen=MOST)

    def ask(self, binding: TicketBinding, request: str) -> AskedTicket:
        """As the protocol says."""
        new = secrets.token_hex(8)
        lifetime = {"lifetime": TicketFile.LIFETIME_S}
        values = {"id": new, "request": request, **binding._asdict(), **lifetime}
        with self._writing() as db:
            [found] = db.execute(_ASK, values).fetchall()
            _make_room(db, binding.caller)
        row = TicketRow(*found)
        return AskedTicket(row, row.id == new)

    def spend(self, binding: TicketBinding) -> bool:
        """As the protocol says."""
        with self._tenant.transaction("durable") as db:
            rows = db.execute(_SPEND, binding._asdict()).fetchall()
        return any(
            self._sealer.is_sealed(leave, _leave(id, expires, binding))
            for id, expires, leave in rows
        )

    def extend(self, id: str, lasts_s: float) -> bool:
        """As the protocol says."""
        with self._writing() as db:
            return db.execute(_EXTEND, {"id": id, "lasts": lasts_s}).fetchone() is not None

    def state(self, id: str) -> TicketState:
        """As the protocol says."""
        sql = f"SELECT leave IS NULL FROM ticket WHERE id = %(id)s AND {_LASTS}"
        with self._tenant.transaction("read") as db:
            row = db.execute(sql, {"id": id}).fetchone()
        return "gone" if row is None else "waiting" if row[0] else "approved"

    def waiting(self) -> Sequence[TicketRow]:
        """As the protocol says."""
        sql = f"SELECT id, expires, request FROM ticket WHERE leave IS NULL AND {_LASTS}"
        with self._tenant.transaction("read") as db:
            rows = db.execute(f"{sql} ORDER BY number").fetchall()
        return [TicketRow(*row) for row in rows]

    def approve(self, id: str) -> TicketRow | None:
        """As the protocol says."""
        with self._writing() as db:
            for expires, request, *binding in db.execute(_TO_APPROVE, (id,)).fetchall():
                leave = self._sealer.seal(_leave(id, expires, TicketBinding(*binding)))
                db.execute("UPDATE ticket SET leave = %s WHERE id = %s", (leave, id))
                return TicketRow(id, expires, request)
        return None

    def reject(self, id: str) -> TicketRow | None:
        """As the protocol says."""
        with self._writing() as db:
            row = db.execute(_REJECT, (id,)).fetchone()
        return TicketRow(*row) if row else None

    def take_expired(self) -> Sequence[TicketRow]:
        """As the protocol says."""
        return [self._expired.popleft() for _ in range(len(self._expired))]

    def close(self) -> None:
        """As the protocol says."""
        self._tenant.close()

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """One durable transaction on what has not expired."""
        with self._tenant.transaction("durable") as db:
            gone = db.execute(_EXPIRE).fetchall()
            yield db
        self._expired += (TicketRow(*row) for *row, is_open in gone if is_open)


def _leave(id: str, expires: float, binding: TicketBinding) -> list[str]:
    return [id, repr(expires), *binding]


def _make_room(db: Connection, caller: str) -> None:
    """Keep the newest of what waits: of this caller, then of whoever has the most."""
    size = 0
    for count, (number, length) in enumerate(db.execute(_OWN, (caller,)).fetchall()):
        size += length
        if count and (count >= MOST_OF_ONE or size > MOST_BYTES_OF_ONE):
            db.execute("DELETE FROM ticket WHERE number = %s", (number,))
    [(waiting,)] = db.execute("SELECT count(*) FROM ticket WHERE leave IS NULL").fetchall()
    for _ in range(waiting - MOST):
        db.execute(_OLDEST_OF_MOST)
