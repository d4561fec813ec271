"""The index of a pool, in step with it: in its pack, or in the catalog file."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from toolcrib import index
from toolcrib.crib.pack_files import PackFiles
from toolcrib.embed import CachedEmbedder, Embedder
from toolcrib.errors import SourceError, StoreError
from toolcrib.index import Catalog, MemoryEngine, Superseded
from toolcrib.pool import EntryTable, Pool
from toolcrib.settings import Settings
from toolcrib.store import PackDamaged, SqliteStore, VectorFile, set_pack_aside

if TYPE_CHECKING:
    from toolcrib.index import Progress, SqliteEngine, View
    from toolcrib.store import Store, Stores


class LiveIndex:
    """Where the entries of one pool are looked up. Makes and opens what it needs when it does.

    `changing` is held by whoever changes the pool. `embedder` stands for the one of the settings,
    which `make_embedder` gives.
    `packs` is where the index may be found, if it is kept, and `stores` has the catalog. `say`
    hears what goes wrong on the way, a sentence each. `on_indexed` is called when something was
    indexed, on whatever thread.
    """

    def __init__(  # noqa: PLR0913 - what an index is made of, each by its name
        self,
        settings: Settings,
        pool: Pool,
        changing: RLock,
        embedder: Embedder | None,
        packs: PackFiles | None,
        *,
        stores: Stores,
        make_embedder: Callable[[Settings], Embedder | None],
        say: Callable[[str], None],
    ) -> None:
        self._make_embedder = make_embedder
        self._settings = settings
        self._stores = stores
        self._pool = pool
        self._changing = changing
        self._embedder = embedder
        self._packs = packs if packs and self._may_keep_vectors else None
        self._say = say
        self.on_indexed: Callable[[], None] = lambda: None
        self._indexing = RLock()
        self._indexed: EntryTable | None = None
        self._packed = ""

    @contextmanager
    def view(self) -> Generator[tuple[Catalog, View]]:
        """The index and what one search sees of it: of just this pool, whoever else writes."""
        with ExitStack() as stack:
            catalog = self.catalog()
            try:
                view = stack.enter_context(catalog.view())
            except Superseded:
                self._leave(catalog)
                catalog = self.catalog()
                view = stack.enter_context(catalog.view())
            yield catalog, view

    def catalog(self) -> Catalog:
        """The index, in step with the pool; after a change it waits a little for vectors.

        While it is built the pool may change: the next one who asks has that indexed.
        """
        with self._indexing:
            catalog = self._catalog
            try:
                changed = self._bring_up_to_date(catalog)
            except Superseded:
                self._leave(catalog)
                catalog = self._catalog
                changed = self._bring_up_to_date(catalog)
        if changed:
            catalog.embedded(self._settings.embed.wait_s)
            self.on_indexed()
        return catalog

    def rebuild(
        self, embedding: Callable[[int, int], None], progress: Progress | None = None
    ) -> None:
        """Index all anew, and wait for the vectors; see `Catalog.rebuild`. Raises `StoreError`."""
        with self._indexing, self._changing:
            entries, fingerprint = self._pool.entries, self._pool.fingerprint
        catalog = self._stored() if self._settings.index == "sqlite" else self._catalog
        catalog.rebuild(entries.values(), fingerprint, embedding=embedding, progress=progress)
        self._indexed = entries

    def stored_fits(self) -> bool | None:
        """Whether the catalog file has the index of just these entries; None: there is no file.

        Raises `StoreError`.
        """
        path = self._settings.store_path
        if path == ":memory:" or not Path(path).exists():
            return None
        return self._stored().has(self._pool.fingerprint)

    @property
    def stored_files(self) -> tuple[Path, ...]:
        """The catalog file and its write-ahead log; none where it is in memory."""
        path = self._settings.store_path
        return () if path == ":memory:" else (Path(path), Path(f"{path}-wal"))

    def write_pack(self, path: Path, key: bytes) -> str:
        """Bring the index up to date, write it to a file and go over to that.

        Gives the fingerprint of the entries that are in it. Searches and changes go on meanwhile.
        Raises `OSError`.
        """
        catalog = self.catalog()
        self._packed = catalog.write_pack(path, key)
        return self._packed.partition(" ")[0]

    @property
    def is_used(self) -> bool:
        """Whether anybody has looked something up, or had it indexed."""
        return "_catalog" in self.__dict__

    @property
    def is_packable(self) -> bool:
        """Whether this index is kept in a pack: that in the catalog file needs none."""
        return self._packs is not None and self._settings.index != "sqlite"

    @property
    def is_packed(self) -> bool:
        """Whether the pack that was opened or written last has all that is indexed now."""
        return self.is_used and self._packed == self._catalog.mark

    @property
    def is_packed_whole(self) -> bool:
        """The same, and nothing of it waits for its vector."""
        return self.is_packed and self._catalog.embedded(0)

    @property
    def has_embedder(self) -> bool:
        """Whether search has a vector arm to look forward to."""
        return self._cached_embedder is not None

    @cached_property
    def store(self) -> Store:
        """The catalog, open. Raises `StoreError`."""
        return self._stores.catalog

    @cached_property
    def _open_store(self) -> Store | None:
        """The catalog file; None, and that is said, if it cannot be opened: search needs none."""
        try:
            return self.store
        except StoreError as error:
            self._say(f"{error}; searching in memory")
            return None

    def store_if_there(self, *, make: bool) -> Store | None:
        """The same, but that it is not made unless it is asked for."""
        there = "store" in self.__dict__ or os.path.exists(self._store_path)  # noqa: PTH110 - a path takes ten times as long
        if not (make or there):
            return None
        with self._changing:
            return self.store

    @cached_property
    def _store_path(self) -> str:
        """Every search asks whether it is there, until it is."""
        return self._settings.store_path

    def close(self) -> None:
        """End what is done beside; the stores are for their owner to close."""
        if self.is_used:
            self._catalog.close()
        if "_vectors" in self.__dict__:
            self._vectors.close()

    def _bring_up_to_date(self, catalog: Catalog) -> bool:
        """Index what the catalog does not know yet; whether there was anything."""
        with self._changing:
            entries, fingerprint = self._pool.entries, self._pool.fingerprint
        if entries is self._indexed:
            return False
        changed = self._changed(catalog, entries)
        stale = changed is None or bool(changed)
        if stale and not catalog.adopt(fingerprint):
            _index(catalog, changed, entries, fingerprint)
        self._indexed = entries
        return stale

    def _changed(self, catalog: Catalog, entries: EntryTable) -> Collection[str] | None:
        """The names of the entries that the catalog does not know as they are; None: all."""
        if (before := self._indexed) is not None:
            names = entries.redefined_since(before)
            return None if names is None else [n for n in names if _differs(n, before, entries)]
        if not self._packed:
            return None
        with catalog.view() as view:
            gone = view.ids() if view.count != len(entries.stored) else ()
        return {*entries.names_in_memory(), *(id for id in gone if id not in entries)}

    def _leave(self, stored: Catalog) -> None:
        """Go on in memory: the catalog file has the index of another pool by now."""
        with self._indexing:
            if self._catalog is not stored:
                return
            self._indexed = None
            self._say(
                f"{self._settings.store_path} has the index of another pool now, which another"
                " process wrote: searching in memory; give each pool a `store` of its own"
            )
            self._catalog = self._in_memory()
            stored.close()

    @cached_property
    def _catalog(self) -> Catalog:
        """The index by the engine that is set; it is chosen when it is first needed."""
        if self._settings.index == "sqlite":
            return self._stored()
        return self._in_pack() or self._in_memory()

    def _in_pack(self) -> Catalog | None:
        """The index that was packed with the pool's file, or from just these entries.

        What the pool has that is not in its file is indexed when the pool is compared with it.
        """
        if not self.is_packable or self._packs is None:
            return None
        with self._changing:
            pack, entries = self._pool.pack, self._pool.entries
            fingerprint = pack.fingerprint if pack else self._pool.fingerprint
        catalog, path = self._in_memory(), self._packs.index
        try:
            if not (
                path.exists() and catalog.open_pack(path, self._packs.key, fingerprint, entries)
            ):
                return None
        except PackDamaged:
            set_pack_aside(path)
            return None
        except (OSError, SourceError):
            return None
        self._packed = catalog.mark
        return catalog

    def _in_memory(self) -> Catalog:
        return self._catalog_of(MemoryEngine())

    def _stored(self) -> Catalog:
        store = self.store
        if not isinstance(store, SqliteStore):
            raise StoreError('`index = "sqlite"` needs a catalog file: set it to "auto"')
        return self._catalog_of(index.SqliteEngine(store))

    def _catalog_of(self, engine: MemoryEngine | SqliteEngine) -> Catalog:
        return Catalog(
            engine,
            self._cached_embedder,
            in_background=self._embeds_later,
            warn=self._say,
            ready=self._tell_indexed,
        )

    def _tell_indexed(self) -> None:
        """Whoever listens may come later than the catalog."""
        self.on_indexed()

    @cached_property
    def _cached_embedder(self) -> CachedEmbedder | None:
        embedder = self._embedder or self._make_embedder(self._settings)
        batch = self._settings.embed.batch
        return CachedEmbedder(embedder, self._vectors, chunk=batch) if embedder else None

    @cached_property
    def _vectors(self) -> Store | VectorFile:
        """Where vectors are kept.

        Those of an embedder of your own last with a catalog file only: nothing but its name tells
        them from what it made another day.
        """
        if not self._settings.embed.cache:
            return SqliteStore.open(":memory:")
        if self._embedder or self._settings.store_path != ":memory:":
            return self._open_store or SqliteStore.open(":memory:")
        return VectorFile(self._settings.vectors_path, say=self._say)

    @property
    def _may_keep_vectors(self) -> bool:
        """Those of an embedder of your own are kept where you have named a catalog file."""
        if self._embedder is None and self._settings.embed.embedder == "none":
            return True  # there are none
        named = self._embedder is None or self._settings.store_path != ":memory:"
        return named and self._settings.embed.cache

    @property
    def _embeds_later(self) -> bool:
        """The bundled model is there unasked: nobody should have to wait for it."""
        return self._embedder is None and self._settings.embed.embedder == "bundled"


def _index(
    catalog: Catalog, changed: Collection[str] | None, entries: EntryTable, fingerprint: str
) -> None:
    """Index what changed; all there is when that is half of it."""
    if changed is None or 2 * len(changed) >= len(entries):
        catalog.rebuild(entries.values(), fingerprint)
        return
    put = [entry for name in changed if (entry := entries.get(name))]
    catalog.change(put, [name for name in changed if name not in entries], fingerprint)


def _differs(name: str, before: EntryTable, after: EntryTable) -> bool:
    """Whether an entry has to be indexed again: another state does not count."""
    old, new = before.get(name), after.get(name)
    if old is None or new is None or old.bare != new.bare:
        return True
    if old.content and new.content:
        return old.content != new.content
    return old.capability != new.capability
