"""The two ends of a copy: the files of one user, and one tenant of a database.

An end reads all that lasts, and puts it in place of what it has. What lasts for minutes is left
out (tickets, reveal sets, results), and so is what can be made again (vectors, packs).
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import apsw

from toolcrib.settings import DEFAULT_TENANT
from toolcrib.store.database import BUSY_MS, explained_faults, transaction
from toolcrib.store.decisions import Decisions
from toolcrib.store.file_stores import (
    DECISIONS_FILE,
    EVENTS_FILE,
    KEY_FILE,
    LISTINGS_FOLDER,
    LOGINS_FOLDER,
    FileStores,
    StorePlaces,
)
from toolcrib.store.keys import StoredKey
from toolcrib.store.postgres.copied_tables import CopiedTable
from toolcrib.store.postgres.stores import PostgresStores
from toolcrib.store.postgres.tenant import TenantDatabase
from toolcrib.store.source_protocol import ListingKey
from toolcrib.store.trust_protocol import Login
from toolcrib.system import create_private_file, make_private_folder

COPY_S = 600.0
"""How long one kind may take."""
_LAST_EVENT = """
    INSERT INTO event_count AS old (last) SELECT coalesce(max(id), 0) FROM event
    ON CONFLICT (tenant) DO UPDATE SET last = greatest(old.last, excluded.last)
"""


class FiledLogin(NamedTuple):
    """A login, and the server that it is for."""

    server: str
    login: Login


class CopyEnd(Protocol):
    """One end. Everything here raises `StoreError`."""

    @property
    def stores(self) -> FileStores | PostgresStores:
        """Its stores."""
        ...

    @property
    def tenant(self) -> str:
        """Whose keys it has."""
        ...

    def rows(self, table: CopiedTable) -> Sequence[Sequence[Any]]:
        """All rows of a kind, in order."""
        ...

    def put_rows(self, table: CopiedTable, rows: Iterable[Sequence[Any]]) -> None:
        """Put these in place of all rows of a kind, in one step."""
        ...

    def logins(self) -> Sequence[FiledLogin]:
        """All logins that can be read."""
        ...

    def listing_keys(self) -> Sequence[ListingKey]:
        """The servers that were listed."""
        ...


class FileEnd:
    """The files of one user. Made with a key, they get it where they have none yet."""

    tenant = DEFAULT_TENANT

    def __init__(self, places: StorePlaces, key: bytes) -> None:
        self.stores = FileStores(places)
        self._places = places
        file = places.state / KEY_FILE
        with suppress(FileExistsError), explained_faults(file):
            if not file.exists():
                make_private_folder(file.parent)
                Decisions.prepare(places.state / DECISIONS_FILE)  # first: else it counts as lost
                create_private_file(file, key)

    def rows(self, table: CopiedTable) -> Sequence[Sequence[Any]]:
        """As the protocol says."""
        with closing(self._open(table)) as db:
            return db.execute(table.sqlite_read).fetchall()

    def put_rows(self, table: CopiedTable, rows: Iterable[Sequence[Any]]) -> None:
        """As the protocol says."""
        with closing(self._open(table)) as db, transaction(db):
            db.execute(table.sqlite_clear)
            db.executemany(table.sqlite_write, [tuple(row) for row in rows])

    def logins(self) -> Sequence[FiledLogin]:
        """As the protocol says."""
        found = (_filed_login(path) for path in (self._places.state / LOGINS_FOLDER).glob("*.json"))
        return sorted((each for each in found if each), key=lambda each: each.server)

    def listing_keys(self) -> Sequence[ListingKey]:
        """As the protocol says. A file that cannot be read counts as none."""
        found: list[ListingKey] = []
        for path in (self._places.state / LISTINGS_FOLDER).glob("*.json"):
            with suppress(OSError, ValueError, LookupError, TypeError):
                entry = json.loads(path.read_bytes())["entry"]
                found.append(ListingKey(str(entry["server"]), str(entry["config_hash"])))
        return sorted(found)

    def _open(self, table: CopiedTable) -> apsw.Connection:
        """A connection to the file that has these rows; the store behind it has made it."""
        catalog = self._places.catalog or Path(os.devnull)
        if table.file == "catalog":
            path, _ = catalog, self.stores.catalog
        else:
            path, _ = catalog.with_name(EVENTS_FILE), self.stores.events
        with explained_faults(path):
            db = apsw.Connection(str(path))
            db.set_busy_timeout(BUSY_MS)
            return db


class DatabaseEnd:
    """One tenant of a database."""

    def __init__(self, stores: PostgresStores, tenant: TenantDatabase) -> None:
        self.stores = stores
        self.tenant = tenant.tenant
        self._tenant = tenant

    def rows(self, table: CopiedTable) -> Sequence[Sequence[Any]]:
        """As the protocol says."""
        with self._tenant.transaction("read", COPY_S) as db:
            return db.execute(table.read.encode()).fetchall()

    def put_rows(self, table: CopiedTable, rows: Iterable[Sequence[Any]]) -> None:
        """As the protocol says."""
        with self._tenant.transaction("durable", COPY_S) as db:
            db.execute(table.clear.encode())
            db.cursor().executemany(table.write.encode(), [[*map(_plain, row)] for row in rows])
            db.execute(_LAST_EVENT)

    def logins(self) -> Sequence[FiledLogin]:
        """As the protocol says."""
        with self._tenant.transaction("read") as db:
            servers = [name for (name,) in db.execute("SELECT server FROM login ORDER BY server")]
        found = ((server, self.stores.logins.login(server)) for server in servers)
        return [FiledLogin(server, login) for server, login in found if login]

    def listing_keys(self) -> Sequence[ListingKey]:
        """As the protocol says."""
        sql = """
            SELECT server, config_hash FROM listing WHERE body IS NOT NULL
            ORDER BY server, config_hash
        """
        with self._tenant.transaction("read") as db:
            return [ListingKey(*row) for row in db.execute(sql)]


def keys_for(end: CopyEnd, keys: Iterable[StoredKey]) -> Iterator[StoredKey]:
    """The keys as those of another end."""
    return (replace(key, tenant=end.tenant) for key in keys)


def _filed_login(path: Path) -> FiledLogin | None:
    try:
        content = json.loads(path.read_bytes())
        server = str(content.pop("server"))
        content.pop("format")
        return FiledLogin(server, Login(**content))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _plain(value: object) -> object:
    """The value as PostgreSQL takes it: a text has no NUL."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value
