"""All stores of one user, each in its file.

    beside the catalog    catalog.db  events.db  handles.db
    in the state folder   decisions.db  tickets.db  keys.db  mcp/  logins/  and secrets of ours
    where they are kept   servers.json  rules.json  settings.toml

This is the one place that opens them. Without a catalog file nothing of a conversation is left on
disk: its tickets, sets and results are in memory, and no event is logged.
"""

# ruff: noqa: PLC0415 - whoever needs one store loads that one alone

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, cast

from toolcrib.errors import StoreError

if TYPE_CHECKING:
    from toolcrib.store.catalog_file import SqliteStore
    from toolcrib.store.decisions import Decisions
    from toolcrib.store.document_files import DocumentFiles
    from toolcrib.store.events import EventFile, Retention
    from toolcrib.store.handle_file import HandleFile
    from toolcrib.store.keys import KeyFile
    from toolcrib.store.listing_files import ListingFiles
    from toolcrib.store.login_files import LoginFiles
    from toolcrib.store.source_protocol import DocumentName
    from toolcrib.store.tickets import TicketFile

KEY_FILE, DECISIONS_FILE = "install.key", "decisions.db"
TICKETS_FILE, TICKETS_KEY = "tickets.db", "tickets.key"
EVENTS_FILE, FORMER_LOG = "events.db", "audit.db"
"""The log of events, and where a Toolcrib before this one logged calls, beside it."""
HANDLES_FILE = "handles.db"
KEYS_FILE, FORMER_KEYS = "keys.db", "keys.json"
LISTINGS_FOLDER, LOGINS_FOLDER = "mcp", "logins"
KEY_BYTES = 32

T = TypeVar("T")


class StorePlaces(NamedTuple):
    """Where the files are. `catalog` None: in memory. `retention` None: no event is logged.

    `are_copies`: the listings are those of a shared store; see `ListingFiles`.
    """

    state: Path
    catalog: Path | None = None
    retention: Retention | None = None
    documents: Mapping[DocumentName, Path] = {}
    are_copies: bool = False


class _Closed(Protocol):
    def close(self) -> None: ...


class FileStores:
    """The stores of one user. Safe to share between threads; see `Stores`."""

    def __init__(self, places: StorePlaces, clock: Callable[[], float] = time.time) -> None:
        """`clock` is the one on the wall, for what expires."""
        self._places = places
        self._clock = clock
        self._opening = RLock()
        self._opened: dict[str, object] = {}

    @property
    def folder(self) -> Path:
        """As the protocol says."""
        return self._places.state

    @property
    def install_key(self) -> bytes:
        """As the protocol says. It is made after the file of decisions: see `decisions`."""
        return self._once("install key", self._open_key)

    @property
    def catalog(self) -> SqliteStore:
        """As the protocol says."""
        return self._once("catalog", self._open_catalog)

    @property
    def decisions(self) -> Decisions:
        """As the protocol says.

        The file is made before the key. So a key without that file means that the file was lost,
        whichever process looks.
        """
        return self._once("decisions", self._open_decisions)

    @property
    def tickets(self) -> TicketFile:
        """As the protocol says."""
        return self._once("tickets", self._open_tickets)

    @property
    def sets(self) -> HandleFile:
        """As the protocol says."""
        return self._once("handles", self._open_handles)

    results = suspensions = sets

    @property
    def events(self) -> EventFile:
        """As the protocol says."""
        return self._once("events", self._open_events)

    @property
    def has_events(self) -> bool:
        """As the protocol says: whether there is a file, of this Toolcrib or of one before it."""
        catalog = self._places.catalog
        names = (EVENTS_FILE, FORMER_LOG) if catalog else ()
        return any(catalog.with_name(name).exists() for name in names if catalog)

    @property
    def logins(self) -> LoginFiles:
        """As the protocol says."""
        from toolcrib.store.login_files import LoginFiles

        return self._once("logins", lambda: LoginFiles(self.folder / LOGINS_FOLDER))

    @property
    def keys(self) -> KeyFile:
        """As the protocol says."""
        from toolcrib.store.keys import KeyFile

        path = self.folder / KEYS_FILE
        return self._once("keys", lambda: KeyFile(path, self.folder / FORMER_KEYS))

    @property
    def documents(self) -> DocumentFiles:
        """As the protocol says."""
        from toolcrib.store.document_files import DocumentFiles

        return self._once("documents", lambda: DocumentFiles(self._places.documents))

    @property
    def listings(self) -> ListingFiles:
        """As the protocol says."""
        from toolcrib.store.listing_files import ListingFiles

        folder, are_copies = self.folder / LISTINGS_FOLDER, self._places.are_copies
        return self._once("listings", lambda: ListingFiles(folder, are_copies=are_copies))

    def close(self) -> None:
        """As the protocol says."""
        with self._opening:
            for each in self._opened.values():
                if hasattr(each, "close"):
                    cast("_Closed", each).close()

    def _once(self, name: str, open_one: Callable[[], T]) -> T:
        with self._opening:
            if name not in self._opened:
                self._opened[name] = open_one()
            return cast("T", self._opened[name])

    def _open_key(self) -> bytes:
        from toolcrib.store.decisions import Decisions
        from toolcrib.store.seals import install_key

        path = self.folder / KEY_FILE
        if not path.exists():
            Decisions.prepare(self.folder / DECISIONS_FILE)
        return install_key(path)

    def _open_catalog(self) -> SqliteStore:
        from toolcrib.store.catalog_file import SqliteStore

        return SqliteStore.open(self._places.catalog or ":memory:")

    def _open_decisions(self) -> Decisions:
        from toolcrib.store.decisions import Decisions

        path = self.folder / DECISIONS_FILE
        lost = (self.folder / KEY_FILE).exists() and not path.exists()
        return Decisions(path, self.install_key, lost=lost)

    def _open_tickets(self) -> TicketFile:
        from toolcrib.store.seals import install_key
        from toolcrib.store.tickets import TicketFile

        if self._places.catalog is None:
            return TicketFile(Path(":memory:"), secrets.token_bytes(KEY_BYTES), self._clock)
        key = install_key(self.folder / TICKETS_KEY)
        return TicketFile(self.folder / TICKETS_FILE, key, self._clock)

    def _open_handles(self) -> HandleFile:
        from toolcrib.store.handle_file import HandleFile

        catalog = self._places.catalog
        path = catalog.with_name(HANDLES_FILE) if catalog else Path(":memory:")
        return HandleFile(path, self._clock)

    def _open_events(self) -> EventFile:
        from toolcrib.store.events import EventFile

        catalog, retention = self._places.catalog, self._places.retention
        if catalog is None or retention is None:
            raise StoreError("these settings log no events: see `observe.enabled` and `store`")
        former = catalog.with_name(FORMER_LOG)
        return EventFile(catalog.with_name(EVENTS_FILE), retention, former)
