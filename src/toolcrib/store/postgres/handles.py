"""Reveal sets, long results, suspended programs: under handles that any gateway of a tenant knows.

Owners, handles and results are kept as bytes: a text of PostgreSQL takes no NUL, and no half of a
surrogate pair, and either may come from a model or a tool.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Literal, LiteralString

from toolcrib.store.handle_protocol import (
    HELD_BYTES,
    MOST_SET_TOOLS,
    MOST_SETS,
    UNUSED_S,
    StoredSet,
)
from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.tenant import TenantDatabase

RESULT_S = 20.0
"""How long it may take to send a result, or to get one."""

_NOW = "extract(epoch FROM clock_timestamp())::float8"
_PUT_SET = f"""
    INSERT INTO reveal_set (owner, handle, pins, used) VALUES (%s, %s, %s, {_NOW})
    ON CONFLICT (tenant, owner, handle) DO UPDATE
    SET pins = excluded.pins, used = excluded.used, number = DEFAULT
"""
_FORGET_SETS = f"DELETE FROM reveal_set WHERE owner = %s AND used <= {_NOW} - %s"
_LIVE_SET = "SELECT pins FROM reveal_set WHERE owner = %s AND handle = %s FOR UPDATE"
_BEYOND = """
    DELETE FROM reveal_set WHERE owner = %(owner)s AND number IN (
        SELECT number FROM reveal_set WHERE owner = %(owner)s ORDER BY number DESC OFFSET %(most)s
    )
"""
_TOUCH = f"""
    UPDATE reveal_set SET used = {_NOW}, number = DEFAULT
    WHERE owner = %s AND handle = %s AND used > {_NOW} - %s RETURNING pins
"""
_SETS = f"""
    SELECT handle, pins, used FROM reveal_set WHERE owner = %s AND used > {_NOW} - %s
    ORDER BY number DESC
"""
_PUT = f"""
    INSERT INTO {{table}} (handle, caller, body, expires) VALUES (%s, %s, %s, {_NOW} + %s)
"""
_OLDEST_OF_LARGEST = """
    DELETE FROM {table} WHERE number = (
        SELECT min(number) FROM {table} WHERE caller = (
            SELECT caller FROM {table} GROUP BY caller
            ORDER BY sum(length(body)) DESC, caller LIMIT 1
        )
    )
"""
_LIVE = f"WHERE handle = %s AND caller = %s AND expires > {_NOW}"
Table = Literal["result", "suspension"]


class PostgresSets:
    """The reveal sets of one tenant. Keeps `RevealSetStore`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def add_to_set(self, owner: str, handle: str, pins: Mapping[str, str], new: str) -> str:
        """As the protocol says."""
        with self._tenant.transaction("durable") as db:
            db.execute(_FORGET_SETS, (_bytes(owner), UNUSED_S))
            row = db.execute(_LIVE_SET, (_bytes(owner), _bytes(handle))).fetchone()
            before: dict[str, str] = json.loads(row[0]) if row else {}
            kept = dict([*{**before, **pins}.items()][-MOST_SET_TOOLS:])
            handle = handle if row else new
            db.execute(_PUT_SET, (_bytes(owner), _bytes(handle), json.dumps(kept)))
            db.execute(_BEYOND, {"owner": _bytes(owner), "most": MOST_SETS})
        return handle

    def set_pins(self, owner: str, handle: str) -> Mapping[str, str] | None:
        """As the protocol says."""
        with self._tenant.transaction("quick") as db:
            values = (_bytes(owner), _bytes(handle), UNUSED_S)
            row = db.execute(_TOUCH, values).fetchone()
        return json.loads(row[0]) if row else None

    def sets(self, owner: str) -> Sequence[StoredSet]:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            rows = db.execute(_SETS, (_bytes(owner), UNUSED_S)).fetchall()
        return [
            StoredSet(_text(handle), tuple(json.loads(pins)), used) for handle, pins, used in rows
        ]


class PostgresResults:
    """The long results of one tenant. Keeps `ResultStore`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def keep_result(self, handle: str, caller: str, text: str, lasts_s: float) -> bool:
        """As the protocol says."""
        return _keep(self._tenant, "result", (handle, caller), _bytes(text), lasts_s)

    def result(self, handle: str, caller: str) -> str | None:
        """As the protocol says."""
        sql = f"SELECT body FROM result {_LIVE}"
        with self._tenant.transaction("read", RESULT_S) as db:
            row = db.execute(sql, (_bytes(handle), _bytes(caller)), binary=True).fetchone()
        return _text(row[0]) if row else None


class PostgresSuspensions:
    """The suspended programs of one tenant. Keeps `SuspensionStore`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def keep_suspension(self, handle: str, caller: str, content: bytes, lasts_s: float) -> bool:
        """As the protocol says."""
        return _keep(self._tenant, "suspension", (handle, caller), content, lasts_s)

    def suspension(self, handle: str, caller: str) -> bytes | None:
        """As the protocol says."""
        return self._one("read", f"SELECT body FROM suspension {_LIVE}", handle, caller)

    def take_suspension(self, handle: str, caller: str) -> bytes | None:
        """As the protocol says."""
        where = f"WHERE handle = %s AND caller = %s AND expires > {_NOW}"
        return self._one(
            "durable", f"DELETE FROM suspension {where} RETURNING body", handle, caller
        )

    def _one(
        self, how: Literal["read", "durable"], sql: LiteralString, handle: str, caller: str
    ) -> bytes | None:
        with self._tenant.transaction(how, RESULT_S) as db:
            row = db.execute(sql, (_bytes(handle), _bytes(caller)), binary=True).fetchone()
        return bytes(row[0]) if row else None


def _keep(
    tenant: TenantDatabase, table: Table, key: tuple[str, str], body: bytes, lasts_s: float
) -> bool:
    if len(body) > HELD_BYTES:
        return False
    with tenant.transaction("durable", RESULT_S) as db:
        db.execute(f"DELETE FROM {table} WHERE expires <= {_NOW}")
        db.execute(_PUT.format(table=table), (*map(_bytes, key), body, lasts_s))
        while _held_bytes(db, table) > HELD_BYTES:
            db.execute(_OLDEST_OF_LARGEST.format(table=table))
    return True


def _held_bytes(db: Connection, table: Table) -> int:
    [(held,)] = db.execute(f"SELECT coalesce(sum(length(body)), 0) FROM {table}").fetchall()
    return int(held)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
