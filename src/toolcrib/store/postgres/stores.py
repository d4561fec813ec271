"""All stores of one tenant in a database, and the database of a process that shares it."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import NamedTuple, TypeVar, cast

from toolcrib.errors import StoreAway, StoreError
from toolcrib.store.events import Retention
from toolcrib.store.postgres.catalog import PostgresCatalog
from toolcrib.store.postgres.database import Database
from toolcrib.store.postgres.decisions import PostgresDecisions
from toolcrib.store.postgres.events import PostgresEvents
from toolcrib.store.postgres.feed import ChangeListener, PostgresFeed
from toolcrib.store.postgres.handles import PostgresResults, PostgresSets, PostgresSuspensions
from toolcrib.store.postgres.keys import PostgresKeys
from toolcrib.store.postgres.logins import PostgresLogins
from toolcrib.store.postgres.migrations import check_migrated
from toolcrib.store.postgres.packs import PostgresPacks
from toolcrib.store.postgres.sealing import derived_key
from toolcrib.store.postgres.sources import PostgresDocuments, PostgresListings
from toolcrib.store.postgres.tenant import TenantDatabase
from toolcrib.store.postgres.tenant_registry import TenantRegistry
from toolcrib.store.postgres.tickets import PostgresTickets
from toolcrib.store.seals import SealCounter
from toolcrib.system import make_private_folder

COUNTER_FILE = "shared-decisions.counter"
"""Another one than that of a file of decisions, which may lie in the same folder."""

T = TypeVar("T")


class SharedDatabase:
    """A database that is up to date, for all tenants of a process. Raises `StoreError`."""

    def __init__(self, database: Database) -> None:
        with suppress(StoreAway):  # whoever needs it hears of it, and it may be back by then
            check_migrated(database)
        self.database = database
        self.tenants = TenantRegistry(database)
        self.listener = ChangeListener(database, self.tenants)

    def close(self) -> None:
        """Let go of all connections."""
        self.listener.close()
        self.database.close()


class TenantPlaces(NamedTuple):
    """Of one tenant: its name, the folder of this machine for it, what is kept of its events.

    `install_key` is the secret that all gateways share. `retention` None: no event is logged.
    """

    tenant: str
    folder: Path
    install_key: bytes
    retention: Retention | None


class PostgresStores:
    """The stores of one tenant. Keeps `SharedStores`. Each is opened when it is first asked for."""

    def __init__(self, shared: SharedDatabase, places: TenantPlaces) -> None:
        self._shared = shared
        self._places = places
        self._opening = RLock()
        self._opened: dict[str, object] = {}
        self._tenants: list[TenantDatabase] = []

    @property
    def folder(self) -> Path:
        """As the protocol says."""
        return self._places.folder

    @property
    def install_key(self) -> bytes:
        """As the protocol says."""
        return self._places.install_key

    @property
    def catalog(self) -> PostgresCatalog:
        """As the protocol says."""
        return self._once("catalog", PostgresCatalog)

    @property
    def decisions(self) -> PostgresDecisions:
        """As the protocol says. What was counted is noted in the folder of this machine."""
        return self._once("decisions", self._decisions)

    @property
    def tickets(self) -> PostgresTickets:
        """As the protocol says."""
        return self._once("tickets", lambda tenant: PostgresTickets(tenant, self.install_key))

    @property
    def sets(self) -> PostgresSets:
        """As the protocol says."""
        return self._once("sets", PostgresSets)

    @property
    def results(self) -> PostgresResults:
        """As the protocol says."""
        return self._once("results", PostgresResults)

    @property
    def suspensions(self) -> PostgresSuspensions:
        """As the protocol says."""
        return self._once("suspensions", PostgresSuspensions)

    @property
    def events(self) -> PostgresEvents:
        """As the protocol says."""
        return self._once("events", self._events)

    @property
    def has_events(self) -> bool:
        """As the protocol says."""
        return True

    @property
    def logins(self) -> PostgresLogins:
        """As the protocol says."""
        return self._once("logins", lambda tenant: PostgresLogins(tenant, self.install_key))

    @property
    def keys(self) -> PostgresKeys:
        """As the protocol says."""
        return self._once("keys", PostgresKeys)

    @property
    def documents(self) -> PostgresDocuments:
        """As the protocol says."""
        return self._once("documents", PostgresDocuments)

    @property
    def listings(self) -> PostgresListings:
        """As the protocol says."""
        return self._once("listings", PostgresListings)

    @property
    def packs(self) -> PostgresPacks:
        """As the protocol says."""
        return self._once("packs", lambda tenant: PostgresPacks(tenant, self.install_key))

    @property
    def feed(self) -> PostgresFeed:
        """As the protocol says."""
        return self._once("feed", PostgresFeed)

    @property
    def tenant(self) -> str:
        """As the protocol says."""
        return self._places.tenant

    @property
    def tenants_feed(self) -> ChangeListener:
        """As the protocol says."""
        return self._shared.listener

    def close(self) -> None:
        """As the protocol says; the database stays open, for other tenants."""
        with self._opening:
            for each in self._tenants:
                each.close()

    def _decisions(self, tenant: TenantDatabase) -> PostgresDecisions:
        make_private_folder(self.folder)
        key = derived_key(self.install_key, COUNTER_FILE, self._places.tenant)
        counter = SealCounter(self.folder / COUNTER_FILE, key)
        return PostgresDecisions(tenant, self.install_key, counter)

    def _events(self, tenant: TenantDatabase) -> PostgresEvents:
        if self._places.retention is None:
            raise StoreError("these settings log no events: see `observe.enabled`")
        return PostgresEvents(tenant, self._places.retention)

    def _once(self, name: str, open_one: Callable[[TenantDatabase], T]) -> T:
        with self._opening:
            if name not in self._opened:
                tenant = TenantDatabase(self._shared.database, self._places.tenant)
                self._opened[name] = open_one(tenant)
                self._tenants.append(tenant)
            return cast("T", self._opened[name])
