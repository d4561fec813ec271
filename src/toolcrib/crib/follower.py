"""How a process keeps in step with its shared store: on one thread, from change to change.

    feed ──▶ mirror (files of this machine) ──▶ the sources that have changed ──▶ the pool

What is committed on one replica is searchable on all others a moment later. While the database is
away the files stay as they are, and all that reads them goes on. One follower is enough for all
tenants of a process: it asks for their generations together, and then for what changed.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterator
from functools import partial
from threading import Event, RLock, Thread

from toolcrib.crib.inventory import Inventory
from toolcrib.errors import StoreAway, StoreError, ToolcribError
from toolcrib.sources.mcp import McpSource
from toolcrib.store import Changes, ListingKey, ReplicaStores, TenantsFeed

POLL_S = 2.0
"""How long the feed is waited for at a time: so often a replica makes sure that it is in step."""
AGAIN_S = 1.0
"""How long to wait before a database that is away is asked again."""

_log = logging.getLogger(__name__)


class FollowedTenant:
    """One tenant as it is followed: its stores, and the crib that is made of them.

    What has changed is in force here before this replica counts as current: no call is made by what
    held before. `on_documents` is called when documents have changed, after their files were
    written and the servers were exchanged. The pool has all changes until `generation`.
    """

    def __init__(
        self,
        stores: ReplicaStores,
        inventory: Inventory,
        generation: int,
        on_documents: Callable[[], None] = lambda: None,
    ) -> None:
        self.stores = stores
        self._inventory = inventory
        self.generation = generation
        self._on_documents = on_documents
        self._stamps = {source: source.stamp() for source in self._sources()}
        self._has_keys = False
        self._turn = RLock()
        self._is_left = False

    def look(self, asked: float, generation: int) -> None:
        """Take in what has changed, if anything has. Raises `StoreError`."""
        with self._turn:
            if self._is_left:
                return
            if not self.stores.is_current(asked, generation):
                self.stores.catch_up(self._apply)
            self._refresh_keys()
            self.stores.listings.send_rest()

    def settle(self) -> None:
        """Have on the disk what came lately. Raises `StoreError`."""
        with self._turn:
            if not self._is_left:
                self.stores.settle()

    def leave(self) -> None:
        """Take in nothing any more. What is being written is written first."""
        with self._turn:
            self._is_left = True

    def _apply(self, changes: Changes) -> None:
        self._has_keys = self._has_keys and not changes.keys
        self._refresh_keys()
        if changes.documents:
            self._try(self._inventory.take_documents)
            self._on_documents()
        for source in self._changed(frozenset(changes.listings), every=changes.decisions):
            self._try(partial(self._inventory.relist, source))
        self.generation = changes.generation

    def _refresh_keys(self) -> None:
        if not self._has_keys:
            self.stores.keys.refresh()
            self._has_keys = True

    def _try(self, take: Callable[[], None]) -> None:
        """One that fails keeps no other change back."""
        try:
            take()
        except ToolcribError as error:
            self._inventory.report(str(error))

    def _changed(self, listed: frozenset[ListingKey], *, every: bool) -> Iterator[McpSource]:
        """The sources that would list something else than they did when they were asked last."""
        for source in self._sources():
            relisted = bool(listed) and source.listing_key in listed
            if relisted:
                source.reread()
            if relisted or every:
                before, now = self._stamps.get(source, ""), source.stamp()
                if not now or now != before:
                    yield source
                self._stamps[source] = now  # only now: what failed is not taken for listed

    def _sources(self) -> Collection[McpSource]:
        return self._inventory.servers.values()


class Follower:
    """Follows tenants of one database, until it is closed."""

    def __init__(self, feed: TenantsFeed) -> None:
        self._feed = feed
        self._followed: frozenset[FollowedTenant] = frozenset()
        self._changing = RLock()
        self._closing = Event()
        self._is_away = False
        self._thread: Thread | None = None

    def follow(self, tenant: FollowedTenant) -> None:
        """Follow one more, from now on."""
        with self._changing:
            self._followed |= {tenant}
            if self._thread is None:
                self._thread = Thread(target=self._run, name="toolcrib follower", daemon=True)
                self._thread.start()
        self._feed.wake()

    def leave(self, tenant: FollowedTenant) -> None:
        """Follow this one no longer."""
        with self._changing:
            self._followed -= {tenant}
        tenant.leave()

    def close(self) -> None:
        """End. What is being written is written first."""
        self._closing.set()
        self._feed.wake()
        if self._thread:
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            heard = self._feed.wait(POLL_S)
            if self._closing.is_set():
                return
            try:
                self._look()
                for each in () if heard else self._followed:  # a disk may take its time
                    each.settle()
            except StoreError as error:
                self._note_away(error)
                self._closing.wait(AGAIN_S)
            except Exception:  # noqa: BLE001 - whatever it is, the next change is followed again
                _log.exception("a change of the shared store could not be applied")
                self._closing.wait(AGAIN_S)
            else:
                self._note_back()

    def _look(self) -> None:
        """Let each tenant take in its changes. One that fails keeps no other from it.

        Raises what the last of those that failed has raised.
        """
        followed, asked = self._followed, time.monotonic()
        generations = self._feed.generations([each.stores.tenant for each in followed])
        problem: Exception | None = None
        for each in followed:
            try:
                each.look(asked, generations.get(each.stores.tenant, 0))
            except StoreAway:  # the others would wait for the same
                raise
            except Exception as error:  # noqa: BLE001 - it is raised when the others are done
                problem = error
        if problem:
            raise problem

    def _note_away(self, error: StoreError) -> None:
        if not self._is_away:
            self._is_away = True
            _log.warning("%s; searches go on with what is known here", error)

    def _note_back(self) -> None:
        if self._is_away:
            self._is_away = False
            _log.info("the shared store is back")
