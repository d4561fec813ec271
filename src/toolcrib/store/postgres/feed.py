"""How a gateway hears that something of its tenants changed.

One connection and one thread a process listen for all tenants. Whoever follows some of them asks
for their generations every two seconds besides, in one query: a listener that was lost, or that a
pooler keeps from hearing, costs these two seconds and no change.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from threading import Condition, Thread
from typing import get_args

from toolcrib.errors import StoreError
from toolcrib.store.postgres.database import BEGIN_S, Database, HeldConnection
from toolcrib.store.postgres.faults import explained
from toolcrib.store.postgres.tenant import CHANNEL, TenantDatabase
from toolcrib.store.postgres.tenant_registry import TenantRegistry
from toolcrib.store.source_protocol import (
    Changes,
    DocumentName,
    ListingHead,
    ListingKey,
    StoredListing,
)

REOPEN_S = 1.0
"""How long a lost listener waits before it is opened again."""
BATCH, BATCH_S = 100, 60.0
"""So many listings are asked for in one transaction, and so long that may take."""
LISTEN_S = 5.0
"""So often a listener that hears nothing makes sure that it is still connected."""

_CHANGES = """
    SELECT generation, keys, decisions, disabled,
        ARRAY(SELECT name::text FROM document WHERE generation > %(since)s),
        (
            SELECT coalesce(json_agg(json_build_array(server, config_hash)
                ORDER BY server, config_hash), '[]')
            FROM listing WHERE generation > %(since)s
        )
    FROM tenant
"""
_LISTINGS = """
    SELECT server, config_hash, version, fetched, start_s, body FROM listing
    JOIN unnest(%s::text[], %s::text[]) AS asked (server, config_hash) USING (server, config_hash)
    WHERE body IS NOT NULL
"""


class ChangeListener:
    """Hears of changes of all tenants, on a connection and a thread of its own.

    Keeps `TenantsFeed`.
    """

    def __init__(self, database: Database, tenants: TenantRegistry) -> None:
        self._database = database
        self._tenants = tenants
        self._changed = Condition()
        self._heard = 0
        self._seen = 0
        self._closed = False
        self._held: HeldConnection | None = None
        self._thread: Thread | None = None

    def wait(self, timeout_s: float) -> bool:
        """As the protocol says."""
        with self._changed:
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="toolcrib changes", daemon=True)
                self._thread.start()
            heard = self._changed.wait_for(
                lambda: self._closed or self._heard > self._seen, timeout_s
            )
            self._seen = self._heard
            return heard

    def generations(self, tenants: Collection[str]) -> Mapping[str, int]:
        """As the protocol says."""
        return self._tenants.generations(tenants)

    def wake(self) -> None:
        """As the protocol says."""
        with self._changed:
            self._heard += 1
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            if self._held:
                self._held.shut_down()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed:
            try:
                self._listen()
            except StoreError:  # whoever polls says so
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, REOPEN_S)

    def _listen(self) -> None:
        """Listen until the connection is lost. Raises `StoreError`."""
        held = self._database.connect()
        with self._changed:
            self._held = held
        try:
            with explained(self._database.address.shown):
                self._ask(held, f"LISTEN {CHANNEL}")
                self.wake()  # something may have been missed
                while not self._closed:
                    for _notice in held.connection.notifies(timeout=LISTEN_S):
                        self.wake()
                    self._ask(held, "SELECT 1")
        finally:
            with self._changed:
                self._held = None
            held.close()

    def _ask(self, held: HeldConnection, query: str) -> None:
        with self._database.watchdog.watching(held.socket, BEGIN_S):
            held.connection.execute(query.encode())


class PostgresFeed:
    """The changes of one tenant. Keeps `ChangeFeed`."""

    def __init__(self, tenant: TenantDatabase) -> None:
        self._tenant = tenant

    def changes(self, since: int) -> Changes:
        """As the protocol says."""
        found = self._tenant.ask(_CHANGES, since=since)
        generation, keys, decisions, disabled, names, listed = (
            found[0] if found else (0, 0, 0, False, (), ())
        )
        documents = tuple(name for name in get_args(DocumentName) if name in names)
        listings = tuple(ListingKey(*each) for each in listed)
        changed = keys > since, decisions > since
        return Changes(generation, documents, listings, *changed, disabled)

    def listings(self, keys: Sequence[ListingKey]) -> Iterator[tuple[ListingKey, StoredListing]]:
        """As the protocol says. A transaction for some of them at a time, in one round trip."""
        for start in range(0, len(keys), BATCH):
            some = keys[start : start + BATCH]
            with self._tenant.transaction("read", BATCH_S) as db, db.cursor(binary=True) as cursor:
                for server, hashed, *head, body in cursor.stream(_LISTINGS, _columns(some)):
                    yield ListingKey(server, hashed), StoredListing(ListingHead(*head), body)


def _columns(keys: Sequence[ListingKey]) -> tuple[list[str], list[str]]:
    return [key.server for key in keys], [key.config_hash for key in keys]
