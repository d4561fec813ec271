"""Reveal sets and long results, under handles that any gateway of a tenant knows.

Owners, handles and results are kept as bytes: a text of PostgreSQL takes no NUL, and no half of a
surrogate pair, and either may come from a model or a tool.
"""

import json
from collections.abc import Mapping, Sequence

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
_PUT_RESULT = f"""
    INSERT INTO result (handle, caller, body, expires) VALUES (%s, %s, %s, {_NOW} + %s)
"""
_OLDEST_OF_LARGEST = """
    DELETE FROM result WHERE number = (
        SELECT min(number) FROM result WHERE caller = (
            SELECT caller FROM result GROUP BY caller
            ORDER BY sum(length(body)) DESC, caller LIMIT 1
        )
    )
"""


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
        body = _bytes(text)
        if len(body) > HELD_BYTES:
            return False
        with self._tenant.transaction("durable", RESULT_S) as db:
            db.execute(f"DELETE FROM result WHERE expires <= {_NOW}")
            db.execute(_PUT_RESULT, (_bytes(handle), _bytes(caller), body, lasts_s))
            while _held_bytes(db) > HELD_BYTES:
                db.execute(_OLDEST_OF_LARGEST)
        return True

    def result(self, handle: str, caller: str) -> str | None:
        """As the protocol says."""
        sql = f"SELECT body FROM result WHERE handle = %s AND caller = %s AND expires > {_NOW}"
        with self._tenant.transaction("read", RESULT_S) as db:
            row = db.execute(sql, (_bytes(handle), _bytes(caller)), binary=True).fetchone()
        return _text(row[0]) if row else None


def _held_bytes(db: Connection) -> int:
    [(held,)] = db.execute("SELECT coalesce(sum(length(body)), 0) FROM result").fetchall()
    return int(held)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogatepass")
