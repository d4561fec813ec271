"""The stages of a crib, joined: each is made here once and given those that it needs.

    inventory ─▶ live index ─▶ searcher ─┐
        │            └─▶ packs           ├─▶ sessions
        └─▶ calls ─▶ programs ─▶ recipes ┘

`Crib` is the front door of them. The gateway, the dashboard and the commands reach past it by the
functions of `internals`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from toolcrib import execute, session
from toolcrib.crib.calls import Calls
from toolcrib.crib.capability_reader import CapabilityReader
from toolcrib.crib.crib_index import CribIndex
from toolcrib.crib.inventory import Inventory
from toolcrib.crib.live_index import LiveIndex
from toolcrib.crib.operator import Operator
from toolcrib.crib.pack_files import PackFiles
from toolcrib.crib.packs import Packs
from toolcrib.crib.programs import CribPrograms
from toolcrib.crib.recipes import Recipes
from toolcrib.crib.searcher import Searcher
from toolcrib.crib.sessions import Sessions
from toolcrib.errors import StoreAway
from toolcrib.settings import Settings
from toolcrib.store import FileStores
from toolcrib.wiring import event_log_of, use_advice_of

if TYPE_CHECKING:
    import asyncio

    from toolcrib.crib.follower import FollowedTenant
    from toolcrib.crib.parts import CribParts
    from toolcrib.embed import Embedder
    from toolcrib.execute import Caller
    from toolcrib.session import Host
    from toolcrib.store import ReplicaStores

_log = logging.getLogger(__name__)


class Stages:
    """What a crib of these settings is made of, on parts that others may have too.

    `owns_parts`: they are closed with it.
    """

    def __init__(
        self,
        settings: Settings,
        parts: CribParts,
        embedder: Embedder | None = None,
        *,
        owns_parts: bool = False,
    ) -> None:
        self.parts, self._owns_parts = parts, owns_parts
        self.stores = stores = parts.stores(settings)
        shared_key = None if isinstance(stores, FileStores) else stores.packs.key
        self._pack_files = files = PackFiles.of(settings, _program(), shared_key)
        self.events = event_log_of(settings, stores)
        self.tracer = tracer = parts.tracer
        tell = tracer.tell if tracer else None
        self.inventory = inventory = Inventory(settings, stores, files, self.events.append, tell)
        self._live_index = LiveIndex(
            settings,
            inventory.pool,
            inventory.changing,
            embedder,
            files,
            stores=stores,
            make_embedder=parts.embedder,
            say=inventory.report,
        )
        self._packs = Packs(inventory, self._live_index, files, say=inventory.report)
        self.index = CribIndex(inventory.current, self._live_index, self._packs)
        self.advice = use_advice_of(
            settings, inventory.pool, inventory.facts, self._live_index.store_if_there
        )
        self.searcher = Searcher(inventory, self._live_index, self.advice, self.events, tracer)
        self.reader = CapabilityReader(inventory, self.advice)
        self.calls = Calls(inventory, stores, self.advice, self.events, tracer)
        self.programs = CribPrograms(inventory, self.calls, stores, self.events)
        self.recipes = Recipes(inventory, self.programs.seal_key, self.programs.make)
        self.sessions = Sessions(inventory, self._live_index, self._host, self.events.append)
        self.operator = Operator(
            inventory, self.searcher, self.calls, self.advice, recipes=self.recipes
        )
        self._followed: FollowedTenant | None = None

    def open(
        self,
        loop: asyncio.AbstractEventLoop | None,
        on_documents: Callable[[], None] = lambda: None,
    ) -> None:
        """Take in what the settings name, and keep in step with a shared store.

        Closes all where that fails.
        """
        try:
            if self.parts.follower is None:
                self._take_in(loop)
            elif not isinstance(self.stores, FileStores):
                self._follow(self.stores, loop, on_documents)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the servers and apps that were started, and let go of the files."""
        if self._followed and self.parts.follower:
            self.parts.follower.leave(self._followed)
        self._packs.close()
        self.programs.close()
        self.recipes.close()
        self.inventory.close()
        self.advice.history.close()
        self._live_index.close()
        self.events.close()
        self.stores.close()
        if self._owns_parts:
            self.parts.close()

    def _take_in(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self.inventory.open(loop)
        self.recipes.open()

    def _follow(
        self,
        stores: ReplicaStores,
        loop: asyncio.AbstractEventLoop | None,
        on_documents: Callable[[], None],
    ) -> None:
        from toolcrib.crib.follower import FollowedTenant  # noqa: PLC0415 - for a shared store

        follower = self.parts.follower
        generation = _caught_up(stores)  # the files of this machine are those of all
        self.inventory.take_documents()
        self._share_packs(stores, generation)
        self._take_in(loop)
        self._followed = FollowedTenant(stores, self.inventory, generation, on_documents)
        if follower:
            follower.follow(self._followed)

    def _share_packs(self, stores: ReplicaStores, begun: int) -> None:
        """Have the packs of other replicas, and let them have ours; `begun` is the generation now.

        Before the first source is added.
        """
        from toolcrib.crib.shared_packs import SharedPacks  # noqa: PLC0415 - for a shared store

        def generation() -> int:
            return self._followed.generation if self._followed else begun

        if self._pack_files and self._live_index.is_packable:
            settings = self.inventory.settings
            self._packs.share(SharedPacks(stores.packs, self._pack_files, settings, generation))

    def _host(self, caller: Caller) -> Host:
        """What a session of this caller reaches."""
        from asyncio import to_thread  # noqa: PLC0415 - a search waits for nothing

        calls, programs, door = self.calls, self.programs, self.calls.door
        return session.Host(
            search=partial(self.searcher.search, caller=caller),
            call=partial(calls.make, caller=caller),
            run=partial(programs.run, caller=caller),
            resume=partial(programs.resume, caller=caller),
            signatures=partial(programs.signatures, caller),
            of_request=partial(execute.tools_of_request, caller.scope),
            means=partial(calls.means, caller=caller),
            question=partial(calls.question, caller=caller),
            read=partial(self.reader.read, caller=caller),
            result=lambda handle, page, find: door.result(handle, caller, page, find),
            asks=partial(door.asks, caller=caller),
            check=door.check,
            aside=to_thread,
        )


def _caught_up(stores: ReplicaStores) -> int:
    """As of which generation its files are. Raises `StoreError`, but for one that is away.

    Then what was fetched before is what there is, and no call is made until the store is back.
    """
    try:
        return stores.catch_up().generation
    except StoreAway as error:
        if not stores.generation:
            raise
        _log.warning("%s; starting with what is known here", error)
        return stores.generation


def _program() -> str:
    """The file of the program that runs; empty where there is none, as at a prompt."""
    return str(getattr(sys.modules.get("__main__"), "__file__", None) or "")
