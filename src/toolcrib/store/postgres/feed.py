"""How a gateway hears that something of its tenants changed.

One connection and one thread a process listen for all tenants. Whoever follows some of them asks
for their generations every two seconds besides, in one query: a listener that was lost, or that a
pooler keeps from hearing, costs these two seconds and no change.
"""

from collections.abc import Collection, Mapping
from threading import Condition, Thread
from typing import get_args

from toolcrib.errors import StoreError
from toolcrib.store.postgres.database import BEGIN_S, Database, HeldConnection
from toolcrib.store.postgres.faults import explained
from toolcrib.store.postgres.tenant import CHANNEL, TenantDatabase
from toolcrib.store.postgres.tenant_registry import TenantRegistry
from toolcrib.store.source_protocol import Changes, DocumentName, ListingKey

REOPEN_S = 1.0
"""How long a lost listener waits before it is opened again."""
LISTEN_S = 5.0
"""So often a listener that hears nothing makes sure that it is still connected."""


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
                held.connection.autocommit = True
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
        with self._tenant.transaction("read") as db:
            row = db.execute("SELECT generation, keys, decisions, disabled FROM tenant").fetchone()
            generation, keys, decisions, disabled = row or (0, 0, 0, False)
            sql = "SELECT name FROM document WHERE generation > %s ORDER BY name"
            names = {name for (name,) in db.execute(sql, (since,)).fetchall()}
            sql = """
                SELECT server, config_hash FROM listing WHERE generation > %s
                ORDER BY server, config_hash
            """
            listings = [ListingKey(*row) for row in db.execute(sql, (since,)).fetchall()]
        documents = tuple(name for name in get_args(DocumentName) if name in names)
        changed = keys > since, decisions > since
        return Changes(generation, documents, tuple(listings), *changed, disabled)
