"""The keys of clients of a tenant: what each is good for, and hashes of its secrets.

A key is found by its id among those of all tenants, and row security shows that one alone. All else
is about the keys of one tenant.
"""

import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from toolcrib.store.keys import KeyHash, StoredKey
from toolcrib.store.postgres.database import Connection
from toolcrib.store.postgres.tenant import TenantDatabase

_COLUMNS = """
    id, tenant, name, profiles, scopes, made_at, expires_at, rate, at_once, salt, hashed, has_id,
    former_salt, former_hashed, former_has_id, former_until, used_at
"""
_SELECT = f"SELECT {_COLUMNS} FROM client_key"
_OWN = f"{_SELECT} WHERE tenant = current_setting('toolcrib.tenant')"
_INSERT = f"""
    INSERT INTO client_key ({_COLUMNS})
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT DO NOTHING RETURNING TRUE
"""
_ROTATE = f"""
    UPDATE client_key SET
        former_salt = CASE WHEN %(until)s > 0 THEN salt END,
        former_hashed = CASE WHEN %(until)s > 0 THEN hashed END,
        former_has_id = CASE WHEN %(until)s > 0 THEN has_id END,
        former_until = %(until)s, salt = %(salt)s, hashed = %(hashed)s, has_id = %(has_id)s,
        expires_at = %(expires_at)s
    WHERE name = %(name)s RETURNING {_COLUMNS}
"""


class PostgresKeys:
    """The keys of one tenant. Keeps `KeyStore`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def version(self) -> int:
        """As the protocol says; of keys of whatever tenant."""
        [(number,)] = self._tenant.ask("SELECT number FROM key_version")
        return number

    def is_at_hand(self, id: str) -> bool:  # noqa: ARG002 - as of any
        """As the protocol says."""
        return False

    def find(self, id: str) -> StoredKey | None:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            db.execute("SELECT set_config('toolcrib.key_id', %s, true)", (id,))
            row = db.execute(f"{_SELECT} WHERE id = %s", (id,)).fetchone()
        return _key(row) if row else None

    def all(self) -> Sequence[StoredKey]:
        """As the protocol says."""
        return self._keys(f"{_OWN} ORDER BY name")

    def without_id(self) -> Sequence[StoredKey]:
        """As the protocol says."""
        return self._keys(f"{_OWN} AND (NOT has_id OR NOT former_has_id) ORDER BY name")

    def add(self, key: StoredKey) -> bool:
        """As the protocol says."""
        with self._changing() as db:
            return db.execute(_INSERT, _row(key, self._tenant.tenant)).fetchone() is not None

    def remove(self, name: str) -> bool:
        """As the protocol says."""
        with self._changing() as db:
            return db.execute("DELETE FROM client_key WHERE name = %s", (name,)).rowcount > 0

    def rotate(
        self, name: str, secret: KeyHash, former_until: float, expires_at: float | None
    ) -> StoredKey | None:
        """As the protocol says."""
        values = {"until": former_until, "expires_at": expires_at, "name": name}
        with self._changing() as db:
            row = db.execute(_ROTATE, {**values, **secret._asdict()}).fetchone()
        return _key(row) if row else None

    def replace(self, keys: Iterable[StoredKey]) -> None:
        """As the protocol says."""
        with self._changing() as db:
            db.execute("DELETE FROM client_key")
            for key in keys:
                db.execute(_INSERT, _row(key, self._tenant.tenant))

    def note_used(self, at: Mapping[str, float]) -> None:
        """As the protocol says."""
        sql = "UPDATE client_key SET used_at = greatest(used_at, %s) WHERE id = %s"
        with self._tenant.transaction("quick") as db:
            db.cursor().executemany(sql, [(when, id) for id, when in sorted(at.items())])

    def close(self) -> None:
        """As the protocol says."""
        self._tenant.close()

    def _keys(self, query: str) -> Sequence[StoredKey]:
        with self._tenant.transaction("read") as db:
            return [_key(row) for row in db.execute(query.encode()).fetchall()]

    @contextmanager
    def _changing(self) -> Generator[Connection]:
        """A change after which the version is another."""
        with self._tenant.change("keys") as (db, _):
            yield db
            db.execute("UPDATE key_version SET number = number + 1")


def _row(key: StoredKey, tenant: str) -> tuple[Any, ...]:
    """A key is of the tenant whose store keeps it."""
    return (
        *(key.id, tenant, key.name, json.dumps(key.profiles), json.dumps(key.scopes)),
        *(key.made_at, key.expires_at, key.rate, key.at_once, *key.secret),
        *(key.former or (None, None, None)),
        *(key.former_until, key.used_at),
    )


def _key(row: Sequence[Any]) -> StoredKey:
    former = KeyHash(*row[12:15]) if row[12] is not None else None
    return StoredKey(
        id=row[0],
        tenant=row[1],
        name=row[2],
        profiles=tuple(json.loads(row[3])),
        scopes=tuple(json.loads(row[4])),
        made_at=row[5],
        expires_at=row[6],
        rate=row[7],
        at_once=row[8],
        secret=KeyHash(*row[9:12]),
        former=former,
        former_until=row[15] or 0.0,
        used_at=row[16],
    )
