"""What keeps the pool and the index of a crib in their packs, from one moment each time.

    a change ──▶ quiet ──▶ pool pack ──▶ index pack ──▶ the process goes over to both
                                             └──▶ the shared store, for other replicas

Both are written by a process that has searched: one that only looks at the pool leaves the pair as
it is, because an index that does not belong to the pool's file would have to be made anew.
"""

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

from toolcrib.crib.inventory import Inventory
from toolcrib.crib.live_index import LiveIndex
from toolcrib.crib.pack_files import FEWEST, PackFiles, QuietWriter
from toolcrib.errors import SourceError, StoreError, ToolcribError
from toolcrib.pool import TOOLS_UPDATED, PoolPack
from toolcrib.store import PackDamaged

if TYPE_CHECKING:
    from toolcrib.crib.shared_packs import SharedPacks

_log = logging.getLogger(__name__)


class Packs:
    """Writes the packs of one crib when it is time. `files` None: nothing is kept."""

    def __init__(
        self,
        inventory: Inventory,
        index: LiveIndex,
        files: PackFiles | None,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._inventory = inventory
        self._index = index
        self._files = files
        self._say = say
        self._writer = QuietWriter(self._write_if_worth)
        self._shared: SharedPacks | None = None
        self._again: Timer | None = None
        self._closing = False
        if files:
            inventory.pool.events.subscribe(TOOLS_UPDATED, lambda _news: self.note())
            inventory.on_left_pack = index.on_indexed = self.note

    def note(self) -> None:
        """Something changed: write soon."""
        self._writer.note()

    def share(self, shared: "SharedPacks") -> None:
        """Have the packs of other replicas, if there are none here, and let them have ours.

        Before the first source is added.
        """
        shared.fetch()
        self._shared = shared

    def close(self) -> None:
        """Write what is not written yet, and end. Other replicas get nothing any more."""
        self._closing = True
        if self._shared:
            self._shared.close()
        if self._files and self._inventory.pool.is_damaged:
            self._inventory.current()
        self._writer.close()
        if self._again:  # only now: the writer may have set one a moment ago
            self._again.cancel()

    def kept_files(self) -> PackFiles:
        """Where the packs are. Raises `StoreError` if nothing is kept."""
        if self._files is None:
            raise StoreError('`index = "memory"` keeps nothing: set it to "auto" or "sqlite"')
        return self._files

    def write(self) -> None:
        """Write what the packs do not have, however little. Raises `StoreError`."""
        files = self.kept_files()
        try:
            self._write(files, 0, lambda: None)
        except (OSError, PackDamaged, SourceError) as error:
            raise StoreError(f"{files.pool.parent}: cannot be written: {error}") from error

    @property
    def index_files(self) -> tuple[Path, ...]:
        """Where the index is kept."""
        if self._files is None or not self._index.is_packable:
            return self._index.stored_files
        return self._files.index, self._files.pool

    def fits(self) -> bool | None:
        """Whether the next start finds all of the index; None if none is kept.

        Raises `StoreError`.
        """
        if not self._index.is_packable:
            return self._index.stored_fits()
        if self._files is None or not self._files.index.exists():
            return None
        self._index.catalog()
        return self._index.is_packed

    def _write_if_worth(self) -> None:
        if self._files is None or not self._index.is_used:
            return
        generation = self._shared.generation() if self._shared else 0
        try:
            self._write(self._files, FEWEST, self._writer.pause)
        except PackDamaged:
            return  # it is set aside, and what was in it is listed again: a change
        except (OSError, ToolcribError) as error:
            self._say(f"nothing is kept for a quick start: {self._files.pool.parent}: {error}")
        else:
            self._store_shared(generation)

    def _store_shared(self, generation: int) -> None:
        """Let other replicas have what is written, now or when it is time for it.

        What has changed meanwhile is written soon: then they get that.
        """
        is_whole = self._index.is_packed_whole and self._inventory.pool.fits_pack()
        if self._shared is None or self._closing or not is_whole:
            return
        try:
            wait_s = self._shared.store(generation)
        except (OSError, StoreError) as error:
            if not self._closing:
                _log.warning("other replicas cannot have what is packed here: %s", error)
            return
        if wait_s is not None:
            if self._again:
                self._again.cancel()
            self._again = Timer(wait_s, self.note)
            self._again.daemon = True
            self._again.start()

    def _write(self, files: PackFiles, fewest: int, pause: Callable[[], None]) -> None:
        """Write what has at least so many entries, the pool first: the index goes by its file."""
        if len(self._inventory.pool.entries) < max(fewest, 1):
            return
        key = files.key
        self._write_pool(files, key, fewest, pause)
        if self._index.is_packable and not self._index.is_packed:
            self._index.write_pack(files.index, key)
            files.sweep()
        files.touch()

    def _write_pool(
        self, files: PackFiles, key: bytes, fewest: int, pause: Callable[[], None]
    ) -> None:
        pool, changing = self._inventory.pool, self._inventory.changing
        with changing:
            plan = None if pool.fits_pack() else pool.pack_plan()
        if plan is None or plan.size < max(fewest, 1):
            return
        plan.write(files.pool, key, self._inventory.fact_maker(), pause)
        with changing:
            if pack := PoolPack.open(files.pool, key):
                pool.go_over(pack, plan)
