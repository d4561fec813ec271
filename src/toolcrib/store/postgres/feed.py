"""How a gateway hears that something of a tenant changed.

One connection a process listens for all tenants, and whoever waits for a tenant asks for its
generation every two seconds besides: a listener that was lost, or that a pooler keeps from hearing,
costs these two seconds and no change.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from threading import Condition, Thread
from typing import get_args

from toolcrib.errors import StoreError
from toolcrib.store.postgres.database import BEGIN_S, Database, HeldConnection
from toolcrib.store.postgres.faults import explained
from toolcrib.store.postgres.tenant import CHANNEL, TenantDatabase
from toolcrib.store.source_protocol import (
    Changes,
    DocumentName,
    ListingHead,
    ListingKey,
    StoredListing,
)

POLL_S = 2.0
REOPEN_S = 1.0
"""How long a lost listener waits before it is opened again."""
BATCH, BATCH_S = 100, 60.0
"""So many listings are asked for in one transaction, and so long that may take."""
LISTEN_S = 5.0
"""So often a listener that hears nothing makes sure that it is still connected."""

_CHANGES = """
    SELECT generation, keys, decisions,
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
    """Hears of changes of all tenants, on a connection and a thread of its own."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._heard = Condition()
        self._times: defaultdict[str, int] = defaultdict(int)
        self._closed = False
        self._held: HeldConnection | None = None
        self._thread: Thread | None = None

    def times(self, tenant: str) -> int:
        """How often something of a tenant was heard; also when the listener is opened again."""
        return self._times[tenant] + self._times[""]

    def wait(self, tenant: str, times: int, timeout_s: float) -> bool:
        """Whether something more was heard than so many times, before the time is over."""
        with self._heard:
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name="toolcrib changes", daemon=True)
                self._thread.start()
            return self._heard.wait_for(
                lambda: self._closed or self.times(tenant) > times, timeout_s
            )

    def wake(self) -> None:
        """Let everybody look who waits."""
        self._note("")

    def close(self) -> None:
        """End the thread."""
        with self._heard:
            self._closed = True
            self._heard.notify_all()
            if self._held:
                self._held.shut_down()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed:
            try:
                self._listen()
            except StoreError:  # whoever polls says so
                with self._heard:
                    self._heard.wait_for(lambda: self._closed, REOPEN_S)

    def _listen(self) -> None:
        """Listen until the connection is lost. Raises `StoreError`."""
        held = self._database.connect()
        with self._heard:
            self._held = held
        try:
            with explained(self._database.address.shown):
                self._ask(held, f"LISTEN {CHANNEL}")
                self._note("")  # something may have been missed
                while not self._closed:
                    for notice in held.connection.notifies(timeout=LISTEN_S):
                        self._note(notice.payload)
                    self._ask(held, "SELECT 1")
        finally:
            with self._heard:
                self._held = None
            held.close()

    def _ask(self, held: HeldConnection, query: str) -> None:
        with self._database.watchdog.watching(held.socket, BEGIN_S):
            held.connection.execute(query.encode())

    def _note(self, tenant: str) -> None:
        with self._heard:
            self._times[tenant] += 1
            self._heard.notify_all()


class PostgresFeed:
    """The changes of one tenant. Keeps `ChangeFeed`."""

    def __init__(self, tenant: TenantDatabase, listener: ChangeListener) -> None:
        self._tenant = tenant
        self._listener = listener
        self._seen = 0
        self._heard = 0
        self._closed = False

    def generation(self) -> int:
        """As the protocol says."""
        rows = self._tenant.ask("SELECT generation FROM tenant")
        return rows[0][0] if rows else 0

    def changes(self, since: int) -> Changes:
        """As the protocol says."""
        self._heard = self._listener.times(self._tenant.tenant)
        found = self._tenant.ask(_CHANGES, since=since)
        generation, keys, decisions, names, listed = found[0] if found else (0, 0, 0, (), ())
        self._seen = generation
        documents = tuple(name for name in get_args(DocumentName) if name in names)
        listings = tuple(ListingKey(*each) for each in listed)
        return Changes(generation, documents, listings, keys > since, decisions > since)

    def listings(self, keys: Sequence[ListingKey]) -> Iterator[tuple[ListingKey, StoredListing]]:
        """As the protocol says. A transaction for some of them at a time, in one round trip."""
        for start in range(0, len(keys), BATCH):
            some = keys[start : start + BATCH]
            with self._tenant.transaction("read", BATCH_S) as db, db.cursor(binary=True) as cursor:
                for server, hashed, *head, body in cursor.stream(_LISTINGS, _columns(some)):
                    yield ListingKey(server, hashed), StoredListing(ListingHead(*head), body)

    def wait(self, timeout_s: float) -> bool:
        """As the protocol says."""
        end = time.monotonic() + timeout_s
        while not self._closed:
            left = max(0.0, end - time.monotonic())
            if self._listener.wait(self._tenant.tenant, self._heard, min(left, POLL_S)):
                self._heard = self._listener.times(self._tenant.tenant)
                return True
            if not left:
                return False
            if self.generation() != self._seen:
                return True
        return False

    def close(self) -> None:
        """As the protocol says."""
        self._closed = True
        self._listener.wake()


def _columns(keys: Sequence[ListingKey]) -> tuple[list[str], list[str]]:
    return [key.server for key in keys], [key.config_hash for key in keys]
