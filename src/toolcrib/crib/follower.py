"""How a replica keeps in step with its shared store: on a thread, from change to change.

    feed ──▶ mirror (files of this machine) ──▶ the sources that have changed ──▶ the pool

What is committed on one replica is searchable on all others a moment later. While the database is
away the files stay as they are, and all that reads them goes on.
"""

import logging
from collections.abc import Collection, Iterator
from threading import Event, Thread

from toolcrib.crib.inventory import Inventory
from toolcrib.errors import StoreError, ToolcribError
from toolcrib.sources.mcp import McpSource
from toolcrib.store import Changes, ListingKey, ReplicaStores

POLL_S = 2.0
"""How long the feed is waited for at a time: so often a replica makes sure that it is in step."""
AGAIN_S = 1.0
"""How long to wait before a database that is away is asked again."""

_log = logging.getLogger(__name__)


class Follower:
    """Follows the feed of one tenant for one crib, until it is closed.

    Documents that have changed are written to their files, and whoever watches those takes them in.
    The pool has all changes of listings and decisions until `generation`.
    """

    def __init__(self, stores: ReplicaStores, inventory: Inventory, generation: int) -> None:
        self._stores = stores
        self._inventory = inventory
        self.generation = generation
        self._stamps: dict[McpSource, str] = {}
        self._closing = Event()
        self._is_away = False
        self._thread = Thread(target=self._run, name="toolcrib follower", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._stamps = {source: source.stamp() for source in self._sources()}
        self._thread.start()

    def close(self) -> None:
        """End. What is being written is written first."""
        self._closing.set()
        self._stores.feed.close()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._stores.feed.wait(POLL_S)
                if self._closing.is_set():
                    return
                self._stores.catch_up(self._apply)
                self._stores.keys.refresh()
                self._stores.listings.send_rest()
            except StoreError as error:
                self._note_away(error)
                self._closing.wait(AGAIN_S)
            except Exception:  # noqa: BLE001 - whatever it is, the next change is followed again
                _log.exception("a change of the shared store could not be applied")
                self._closing.wait(AGAIN_S)
            else:
                self._note_back()

    def _apply(self, changes: Changes) -> None:
        for source in self._changed(frozenset(changes.listings), every=changes.decisions):
            try:
                self._inventory.relist(source)
            except ToolcribError as error:
                self._inventory.report(str(error))
        self.generation = changes.generation

    def _changed(self, listed: frozenset[ListingKey], *, every: bool) -> Iterator[McpSource]:
        """The sources that would list something else than they did when they were asked last."""
        for source in self._sources():
            relisted = bool(listed) and source.listing_key in listed
            if relisted:
                source.reread()
            if relisted or every:
                before, now = self._stamps.get(source, ""), source.stamp()
                self._stamps[source] = now
                if not now or now != before:
                    yield source

    def _sources(self) -> Collection[McpSource]:
        return self._inventory.servers.values()

    def _note_away(self, error: StoreError) -> None:
        if not self._is_away:
            self._is_away = True
            _log.warning("%s; searches go on with what is known here", error)

    def _note_back(self) -> None:
        if self._is_away:
            self._is_away = False
            _log.info("the shared store is back")
