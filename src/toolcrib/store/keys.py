"""The keys of clients, in a file: what each is good for, and hashes of its secrets.

Whoever reads the file learns no key. A key is found by its id, so that many cost no more than one.
Readers never wait for a writer. A damaged file is an error, and never no keys: nothing is set
aside here, and nobody is let in meanwhile.

Keys of before had no id, and stood in `keys.json`. They are taken over once, and go on working.
"""

import json
import secrets
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

import apsw

from toolcrib.errors import StoreError
from toolcrib.settings import DEFAULT_TENANT
from toolcrib.store.database import (
    explained_faults,
    migrate,
    open_private,
    transaction,
    write_ahead,
)
from toolcrib.system import read_private_file

MOST_BYTES = 1024 * 1024
ID_BYTES = 6
APPLICATION = 0x746F6F6B  # "took"
MIGRATIONS = (
    """
    PRAGMA application_id = 0x746F6F6B;
    CREATE TABLE key (
        id TEXT PRIMARY KEY, tenant TEXT NOT NULL, name TEXT NOT NULL UNIQUE,
        profiles TEXT NOT NULL, scopes TEXT NOT NULL, made_at REAL NOT NULL, expires_at REAL,
        rate INTEGER, at_once INTEGER,
        salt TEXT NOT NULL, hashed TEXT NOT NULL, has_id INTEGER NOT NULL,
        former_salt TEXT, former_hashed TEXT, former_has_id INTEGER, former_until REAL,
        used_at REAL NOT NULL DEFAULT 0
    );
    CREATE INDEX key_without_id ON key (name) WHERE has_id = 0 OR former_has_id = 0;
    CREATE TABLE version (number INTEGER NOT NULL, took_over INTEGER NOT NULL);
    INSERT INTO version VALUES (0, 0);
    """,
)
_COLUMNS = (
    "id, tenant, name, profiles, scopes, made_at, expires_at, rate, at_once, salt, hashed, has_id,"
    " former_salt, former_hashed, former_has_id, former_until, used_at"
)
_INSERT = f"INSERT OR IGNORE INTO key ({_COLUMNS}) VALUES ({', '.join('?' * 17)})"  # noqa: S608 - our own names
_SELECT = f"SELECT {_COLUMNS} FROM key"  # noqa: S608 - our own names


class KeyHash(NamedTuple):
    """What is kept of one secret. `has_id`: the id of its key is part of the text that is sent."""

    salt: str
    hashed: str
    has_id: bool = True


@dataclass(frozen=True, slots=True)
class StoredKey:
    """What is kept of a key. Times are since the epoch; None: it does not expire.

    `profiles` are those that it is good for, and `scopes` what it may do there. `rate` is how many
    requests a minute it may make, `at_once` how many at a time; None: as the settings have it.
    `former` is the secret before the last rotation, which works until `former_until`. `used_at` is
    0 for a key that was never used.
    """

    id: str
    name: str
    profiles: tuple[str, ...]
    scopes: tuple[str, ...]
    secret: KeyHash
    made_at: float
    tenant: str = DEFAULT_TENANT
    expires_at: float | None = None
    rate: int | None = None
    at_once: int | None = None
    former: KeyHash | None = None
    former_until: float = 0.0
    used_at: float = 0.0


class KeyFile:
    """One file, for all threads of a process and any number of processes.

    `before` is the file that held the keys before there was this one. It is taken over once, and
    renamed then. Raises `StoreError` if it cannot be read: keys must not get lost on the way.
    """

    def __init__(self, path: Path, before: Path | None = None) -> None:
        self._path = path
        self._reading = Lock()
        with explained_faults(path):
            self._db = open_private(path, _prepare)
        if before:
            self._take_over(before)

    def version(self) -> int:
        """As `KeyStore`."""
        return int(self._read("SELECT number FROM version")[0][0])

    def is_at_hand(self, id: str) -> bool:  # noqa: ARG002 - as of any
        """As `KeyStore`: a file answers at once."""
        return True

    def find(self, id: str) -> StoredKey | None:
        """As `KeyStore`."""
        rows = self._read(f"{_SELECT} WHERE id = ?", id)
        return _key(rows[0]) if rows else None

    def all(self) -> Sequence[StoredKey]:
        """As `KeyStore`."""
        return [_key(row) for row in self._read(f"{_SELECT} ORDER BY name")]

    def without_id(self) -> Sequence[StoredKey]:
        """As `KeyStore`."""
        return [_key(row) for row in self._read(f"{_SELECT} WHERE has_id = 0 OR former_has_id = 0")]

    def add(self, key: StoredKey) -> bool:
        """As `KeyStore`."""
        with self._writing() as db:
            return bool(db.execute(f"{_INSERT} RETURNING 1", _row(key)).fetchall())

    def remove(self, name: str) -> bool:
        """As `KeyStore`."""
        with self._writing() as db:
            sql = "DELETE FROM key WHERE name = ? RETURNING 1"
            return bool(db.execute(sql, (name,)).fetchall())

    def rotate(
        self, name: str, secret: KeyHash, former_until: float, expires_at: float | None
    ) -> StoredKey | None:
        """As `KeyStore`."""
        with self._writing() as db:
            keep = "CASE WHEN ?1 > 0 THEN"
            sql = (
                f"UPDATE key SET former_salt = {keep} salt END, former_hashed = {keep} hashed END,"  # noqa: S608 - our own names
                f" former_has_id = {keep} has_id END, former_until = ?1, salt = ?2,"
                " hashed = ?3, has_id = ?4, expires_at = ?5 WHERE name = ?6"
                f" RETURNING {_COLUMNS}"
            )
            rows = db.execute(sql, (former_until, *secret, expires_at, name)).fetchall()
            return _key(rows[0]) if rows else None

    def replace(self, keys: Iterable[StoredKey]) -> None:
        """As `KeyStore`."""
        with self._writing() as db:
            db.execute("DELETE FROM key")
            db.executemany(_INSERT, map(_row, keys))

    def note_used(self, at: Mapping[str, float]) -> None:
        """As `KeyStore`."""
        sql = "UPDATE key SET used_at = max(used_at, ?) WHERE id = ?"
        with self._transaction() as db:
            db.executemany(sql, [(when, id) for id, when in at.items()])

    def close(self) -> None:
        """Let go of the file."""
        with self._reading:
            self._db.close()

    def _take_over(self, before: Path) -> None:
        """Have the keys of the file before, unless that was done: one may be removed since."""
        if self._read("SELECT took_over FROM version")[0][0]:
            return
        former = _former_keys(before)
        with self._writing() as db:
            if not db.execute("SELECT took_over FROM version").get:
                db.executemany(_INSERT, map(_row, former))
                db.execute("UPDATE version SET took_over = 1")
        with suppress(OSError):  # it counts no more, with either name
            before.rename(before.with_name(f"{before.name}.taken-over"))

    def _read(self, sql: str, *values: str) -> list[Any]:
        with self._reading, explained_faults(self._path):
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _writing(self) -> Generator[apsw.Connection]:
        """A transaction after which the version is another."""
        with self._transaction() as db:
            yield db
            db.execute("UPDATE version SET number = number + 1")

    @contextmanager
    def _transaction(self) -> Generator[apsw.Connection]:
        """On a connection of its own: whoever reads meanwhile does not wait for the disk."""
        with explained_faults(self._path):
            db = open_private(self._path, _prepare)
            try:
                with transaction(db):
                    yield db
            finally:
                db.close()


def new_key_id() -> str:
    """An id that no other key has."""
    return secrets.token_hex(ID_BYTES)


def _prepare(db: apsw.Connection) -> None:
    write_ahead(db)
    db.pragma("synchronous", "full")
    migrate(db, MIGRATIONS, APPLICATION)


def _row(key: StoredKey) -> tuple[Any, ...]:
    return (
        *(key.id, key.tenant, key.name, json.dumps(key.profiles), json.dumps(key.scopes)),
        *(key.made_at, key.expires_at, key.rate, key.at_once, *key.secret),
        *(key.former or (None, None, None)),
        *(key.former_until, key.used_at),
    )


def _key(row: Sequence[Any]) -> StoredKey:
    id, tenant, name, profiles, scopes, made_at, expires_at, rate, at_once, *hashes, until, used = (
        row
    )
    former = KeyHash(hashes[3], hashes[4], bool(hashes[5])) if hashes[3] is not None else None
    return StoredKey(
        id,
        name,
        tuple(json.loads(profiles)),
        tuple(json.loads(scopes)),
        KeyHash(hashes[0], hashes[1], bool(hashes[2])),
        made_at,
        tenant,
        expires_at,
        rate,
        at_once,
        former,
        until or 0.0,
        used,
    )


def _former_keys(path: Path) -> Sequence[StoredKey]:
    """The keys of `keys.json`; none where there is no such file. Raises `StoreError`."""
    try:
        items = json.loads(read_private_file(path, MOST_BYTES))
        return [_former_key(item) for item in cast("list[object]", items)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError) as error:
        problem = f"{path} cannot be read, so no key works"
        raise StoreError(f"{problem}; repair it, or remove it") from error


def _former_key(item: object) -> StoredKey:
    """Raises `KeyError`, `TypeError` and `ValueError` where that is no key."""
    if not isinstance(item, dict):
        raise TypeError("not a key")
    fields = cast("dict[str, Any]", item)
    is_metrics = fields.get("metrics", False) is True
    profiles = () if is_metrics else tuple(map(str, fields["profiles"]))
    if not is_metrics and not profiles:
        raise ValueError("a key is good for some profile")
    name, salt, hashed = (str(fields[field]) for field in ("name", "salt", "hashed"))
    scopes = ("metrics",) if is_metrics else ("call",)
    secret = KeyHash(salt, hashed, has_id=False)
    return StoredKey(new_key_id(), name, profiles, scopes, secret, float(fields["made_at"]))
