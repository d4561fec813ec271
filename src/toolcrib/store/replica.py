"""What a replica keeps of a shared store on its own machine, so that it goes on alone for a while.

    documents, listings   a mirror: files, brought up to date whenever the feed says so
    decisions             what was read since something was decided last
    all else              asked of the database each time

Searches and lists read what is here and never wait for the database. Whoever sends a call asks
first whether this replica is still in step (`DecisionStore.check_current`): one that has not heard
of its database for `stale_s` may not know what was forbidden meanwhile.
"""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING, Self

from toolcrib.errors import StoreAway, StoreError
from toolcrib.store.followed_decisions import FollowedDecisions, Freshness
from toolcrib.store.recent_keys import RecentKeys
from toolcrib.system import make_private_folder, read_private_file, write_private_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from toolcrib.store.event_protocol import EventStore
    from toolcrib.store.file_stores import FileStores
    from toolcrib.store.handle_protocol import ResultStore, RevealSetStore, SuspensionStore
    from toolcrib.store.protocol import SharedStores, Store
    from toolcrib.store.source_protocol import (
        ChangeFeed,
        Changes,
        DocumentName,
        DocumentStore,
        ListingHead,
        ListingKey,
        ListingStore,
        PackStore,
        StoredListing,
        TenantsFeed,
    )
    from toolcrib.store.trust_protocol import LoginStore, TicketStore

GENERATION_FILE, KNOWN_FILE = "generation", "decisions.known"
LONGEST_GENERATION, LONGEST_KNOWN = 128, 16 * 1024 * 1024

_log = logging.getLogger(__name__)


class MirroredListings:
    """Listings in files of this machine, each written to the shared store first.

    Keeps `ListingStore`. A listing that comes while the database is away stays here alone, and is
    sent by `send_rest`.
    """

    def __init__(self, local: ListingStore, remote: ListingStore) -> None:
        self._local = local
        self._remote = remote
        self._unsent: set[ListingKey] = set()

    def listing(self, key: ListingKey) -> StoredListing | None:
        """As the protocol says."""
        return self._local.listing(key)

    def listing_head(self, key: ListingKey) -> ListingHead | None:
        """As the protocol says."""
        return self._local.listing_head(key)

    def put_listing(self, key: ListingKey, listing: StoredListing) -> None:
        """As the protocol says."""
        try:
            self._remote.put_listing(key, listing)
        except StoreAway:
            self._unsent.add(key)
        else:
            self._unsent.discard(key)
        self._local.put_listing(key, listing)

    def forget_listing(self, key: ListingKey) -> None:
        """As the protocol says."""
        self._remote.forget_listing(key)
        self._local.forget_listing(key)

    def failure(self, key: ListingKey) -> bytes | None:
        """As the protocol says: how it failed on this machine."""
        return self._local.failure(key)

    def put_failure(self, key: ListingKey, failure: bytes | None) -> None:
        """As the protocol says."""
        self._local.put_failure(key, failure)

    def send_rest(self) -> None:
        """Send what came while the database was away, unless that has a later one by now.

        Raises `StoreError`.
        """
        for key in tuple(self._unsent):
            ours, theirs = self._local.listing(key), self._remote.listing(key)
            if ours and (theirs is None or theirs.head.fetched < ours.head.fetched):
                self._remote.put_listing(key, ours)
            self._unsent.discard(key)


class Mirror:
    """The files of this machine as of a generation of the shared store.

    `place` names the database: files of another one are brought up to date from the beginning.
    Nobody waits for the disk before a change is searchable: the generation on the disk is that of
    `settle`, and a process that ends without it fetches again what came since.
    """

    def __init__(self, remote: SharedStores, local: FileStores, place: str) -> None:
        self._remote = remote
        self._local = local
        self._mark = hashlib.sha256(place.encode()).hexdigest()[:16]
        self._generation = self._settled = self._read_generation()
        self._unsettled: set[ListingKey] = set()
        self._known = b""

    def fetch(self) -> Changes:
        """Write what has changed to the files of this machine. Raises `StoreError`.

        A file is written in one step. Until `note` the same is fetched again.
        """
        since = self._generation
        changes = self._remote.feed.changes(since)
        if changes.generation < since:  # the database was put back to an earlier state
            changes = self._remote.feed.changes(0)
        for name in changes.documents:
            self._fetch_document(name)
        self._fetch_listings(changes.listings)
        return changes

    @property
    def generation(self) -> int:
        """As of which generation the files are."""
        return self._generation

    def note(self, generation: int) -> None:
        """All until this generation is here, and whoever needs it has it."""
        self._generation = generation

    def settle(self) -> None:
        """Have on the disk what was noted, for the next start. Raises `StoreError`."""
        generation, keys = self._generation, self._unsettled
        if generation != self._settled:
            self._local.listings.sync(keys)
            self._write_generation(generation)
            self._settled, self._unsettled = generation, set()

    def read_known(self) -> dict[tuple[str, ...], object]:
        """What `write_known` wrote last, for this database; nothing if nobody did."""
        try:
            mark, every = json.loads(read_private_file(self._known_file, LONGEST_KNOWN))
        except (OSError, ValueError):
            return {}
        return {tuple(what): value for what, value in every} if mark == self._mark else {}

    def write_known(self, known: Mapping[tuple[str, ...], object]) -> None:
        """Have this for a start while the database is away. A failure to write it is ignored."""
        content = json.dumps([self._mark, [*known.items()]]).encode()
        if content != self._known:
            with suppress(OSError):
                make_private_folder(self._local.folder)
                write_private_file(self._known_file, content)
                self._known = content

    @property
    def _known_file(self) -> Path:
        return self._local.folder / KNOWN_FILE

    def _fetch_document(self, name: DocumentName) -> None:
        found, local = self._remote.documents.document(name), self._local.documents
        before = local.document(name)
        if found and (before is None or before.content != found.content):
            if before and not self._generation:
                self._put_aside(name, before.content)
            local.put_document(name, found.content, before.version if before else None)

    def _put_aside(self, name: DocumentName, content: bytes) -> None:
        """Keep what this machine had before it was a replica."""
        aside = self._local.folder / f"{name}.before-shared"
        make_private_folder(aside.parent)
        write_private_file(aside, content)
        _log.warning("%s comes from the shared store now; what was here is in %s", name, aside)

    def _fetch_listings(self, keys: Sequence[ListingKey]) -> None:
        gone, local = set(keys), self._local.listings
        self._unsettled |= gone
        for key, found in self._remote.feed.listings(keys):
            gone.discard(key)
            if not _is_whole(local, key, found.head):
                local.put_listing(key, found)
        for key in gone:
            local.forget_listing(key)

    @property
    def _file(self) -> Path:
        return self._local.folder / GENERATION_FILE

    def _read_generation(self) -> int:
        try:
            mark, _, number = read_private_file(self._file, LONGEST_GENERATION).partition(b" ")
        except OSError:
            return 0
        return int(number) if mark == self._mark.encode() and number.strip().isdigit() else 0

    def _write_generation(self, generation: int) -> None:
        try:
            make_private_folder(self._local.folder)
            write_private_file(self._file, f"{self._mark} {generation}\n".encode())
        except OSError as error:
            problem = f"{self._file}: cannot be written ({error.strerror})"
            raise StoreError(f"{problem}; check space and permissions") from error


def _is_whole(local: ListingStore, key: ListingKey, head: ListingHead) -> bool:
    """Whether the listing with this head is here; a loss of power may have left the head alone."""
    try:
        return local.listing_head(key) == head and local.listing(key) is not None
    except StoreError:
        return False


class ReplicaStores:
    """The stores of one tenant as a replica has them. Keeps `SharedStores`.

    `local` has the files of this machine. Its documents are the mirror's, and so are its listings.
    """

    def __init__(
        self,
        remote: SharedStores,
        local: FileStores,
        stale_s: float,
        place: str,
        *,
        on_close: Callable[[], None] = lambda: None,
    ) -> None:
        self._remote = remote
        self._local = local
        self._freshness = Freshness(stale_s)
        self._mirror = Mirror(remote, local, place)
        self._on_close = on_close
        self._opening = RLock()
        self._decisions: FollowedDecisions | None = None
        self._keys: RecentKeys | None = None
        self._listings = MirroredListings(local.listings, remote.listings)
        self._disabled = False

    @property
    def is_disabled(self) -> bool:
        """Whether the tenant was switched off, as of the last `catch_up`."""
        return self._disabled

    def is_current(self, asked: float, generation: int) -> bool:
        """Whether nothing has to be caught up with: the tenant is at this generation.

        That it is was asked at this time, by the clock that does not jump.
        """
        is_behind = self._decisions is not None and self._decisions.is_behind
        if is_behind or generation != self._mirror.generation:
            return False
        self._freshness.confirm(asked)
        return True

    def catch_up(self, apply: Callable[[Changes], None] = lambda _: None) -> Changes:
        """Bring this machine up to date, and say what has changed. Raises `StoreError`.

        `apply` is told of it as soon as the files have it. Only when it returns does this replica
        count as current: after a cut no call is made before what was decided meanwhile holds here.
        """
        asked = self._freshness.now()
        changes = self._with_decisions(self._mirror.fetch())
        self._disabled = changes.disabled
        apply(changes)
        self._freshness.confirm(asked)
        self._mirror.note(changes.generation)
        return changes

    def settle(self) -> None:
        """Have on the disk what `catch_up` has fetched, when there is time. Raises `StoreError`."""
        self._mirror.settle()
        if self._decisions:
            self._mirror.write_known(self._decisions.known)

    def _with_decisions(self, changes: Changes) -> Changes:
        """The same; decisions are read again where they have changed."""
        decisions = self._decisions
        if decisions is None or not (changes.decisions or decisions.is_behind):
            return changes
        decisions.changed()
        return changes._replace(decisions=True)

    @property
    def generation(self) -> int:
        """As of which generation the files of this machine are; 0: nothing was ever fetched."""
        return self._mirror.generation

    @property
    def folder(self) -> Path:
        """As the protocol says."""
        return self._local.folder

    @property
    def install_key(self) -> bytes:
        """As the protocol says."""
        return self._remote.install_key

    @property
    def catalog(self) -> Store:
        """As the protocol says."""
        return self._remote.catalog

    @property
    def decisions(self) -> FollowedDecisions:
        """As the protocol says."""
        with self._opening:
            if self._decisions is None:
                former = self._mirror.read_known()
                remote = lambda: self._remote.decisions  # noqa: E731 - it may be away
                self._decisions = FollowedDecisions(remote, self._freshness, former)
            return self._decisions

    @property
    def tickets(self) -> TicketStore:
        """As the protocol says."""
        return self._remote.tickets

    @property
    def sets(self) -> RevealSetStore:
        """As the protocol says."""
        return self._remote.sets

    @property
    def results(self) -> ResultStore:
        """As the protocol says."""
        return self._remote.results

    @property
    def suspensions(self) -> SuspensionStore:
        """As the protocol says."""
        return self._remote.suspensions

    @property
    def events(self) -> EventStore:
        """As the protocol says."""
        return self._remote.events

    @property
    def has_events(self) -> bool:
        """As the protocol says."""
        return True

    @property
    def logins(self) -> LoginStore:
        """As the protocol says."""
        return self._remote.logins

    @property
    def keys(self) -> RecentKeys:
        """As the protocol says."""
        with self._opening:
            if self._keys is None:
                self._keys = RecentKeys(self._remote.keys, tenant=self._remote.tenant)
            return self._keys

    @property
    def documents(self) -> DocumentStore:
        """As the protocol says: those of all replicas. Their copies are files of `folder`."""
        return self._remote.documents

    @property
    def listings(self) -> MirroredListings:
        """As the protocol says."""
        return self._listings

    @property
    def packs(self) -> PackStore:
        """As the protocol says."""
        return self._remote.packs

    @property
    def feed(self) -> ChangeFeed:
        """As the protocol says."""
        return self._remote.feed

    @property
    def tenant(self) -> str:
        """As the protocol says."""
        return self._remote.tenant

    @property
    def tenants_feed(self) -> TenantsFeed:
        """As the protocol says."""
        return self._remote.tenants_feed

    def close(self) -> None:
        """As the protocol says."""
        with suppress(StoreError):  # then more is fetched at the next start
            self.settle()
        self._remote.close()
        self._local.close()
        self._on_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
