"""The index of a pool, in step with it, and the catalog file behind it."""

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from threading import RLock

from toolcrib import wiring
from toolcrib.embed import CachedEmbedder, Embedder
from toolcrib.errors import StoreError
from toolcrib.index import Catalog, MemoryEngine, Progress, SqliteEngine, Superseded, View
from toolcrib.model import Entry
from toolcrib.pool import TOOLS_UPDATED, Pool, ToolsUpdated
from toolcrib.settings import Settings
from toolcrib.store import SqliteStore, VectorFile


class LiveIndex:
    """Where the entries of one pool are looked up. Makes and opens what it needs when it does.

    `changing` is held by whoever changes the pool. `embedder` stands for the one of the settings.
    `say` hears what goes wrong on the way, a sentence each.
    """

    def __init__(
        self,
        settings: Settings,
        pool: Pool,
        changing: RLock,
        embedder: Embedder | None,
        *,
        say: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._pool = pool
        self._changing = changing
        self._embedder = embedder
        self._say = say
        self._indexing = RLock()
        self._stale: dict[str, Entry | None] = {}
        pool.events.subscribe(TOOLS_UPDATED, self._note)

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
        return catalog

    def rebuild(
        self, embedding: Callable[[int, int], None], progress: Progress | None = None
    ) -> None:
        """Write the index to the catalog file; see `Catalog.rebuild`. Raises `StoreError`."""
        pool = self._pool
        self._stored().rebuild(
            pool.entries.values(), pool.fingerprint, embedding=embedding, progress=progress
        )

    def stored_fits(self) -> bool | None:
        """Whether the catalog file has the index of just these entries; None: there is no file.

        Raises `StoreError`.
        """
        path = self._settings.store_path
        if path == ":memory:" or not Path(path).exists():
            return None
        return self._stored().has(self._pool.fingerprint)

    @property
    def has_embedder(self) -> bool:
        """Whether search has a vector arm to look forward to."""
        return self._cached_embedder is not None

    @cached_property
    def store(self) -> SqliteStore:
        """The catalog file, open. Raises `StoreError`."""
        path = self._settings.store_path
        return SqliteStore.open(path if path == ":memory:" else Path(path))

    @cached_property
    def _open_store(self) -> SqliteStore | None:
        """The catalog file; None, and that is said, if it cannot be opened: search needs none."""
        try:
            return self.store
        except StoreError as error:
            self._say(f"{error}; searching in memory")
            return None

    def store_if_there(self, *, make: bool) -> SqliteStore | None:
        """The same, but that it is not made unless it is asked for."""
        there = "store" in self.__dict__ or Path(self._settings.store_path).exists()
        if not (make or there):
            return None
        with self._changing:
            return self.store

    def close(self) -> None:
        """End what is done beside, and let go of the file."""
        if "_catalog" in self.__dict__:
            self._catalog.close()
        if "_vectors" in self.__dict__:
            self._vectors.close()
        if "store" in self.__dict__:
            self.store.close()

    def _bring_up_to_date(self, catalog: Catalog) -> bool:
        """Index what the catalog does not know yet; whether there was anything."""
        with self._changing:
            stale = dict(self._stale)
            entries, fingerprint = self._pool.entries, self._pool.fingerprint
        changed = bool(stale) and not catalog.adopt(fingerprint)
        if changed:
            _index(catalog, stale, entries, fingerprint)
        with self._changing:
            done = {name for name, entry in stale.items() if self._stale.get(name) is entry}
            self._stale = {name: e for name, e in self._stale.items() if name not in done}
        return changed

    def _leave(self, stored: Catalog) -> None:
        """Go on in memory: the catalog file has the index of another pool by now."""
        with self._indexing:
            if self._catalog is not stored:
                return
            with self._changing:
                self._stale = {**self._stale, **self._pool.entries}
            self._say(
                f"{self._settings.store_path} has the index of another pool now, which another"
                " process wrote: searching in memory; give each pool a `store` of its own"
            )
            self._catalog = self._in_memory()
            stored.close()

    def _note(self, news: ToolsUpdated) -> None:
        """Remember what the index does not know yet."""
        self._stale |= {entry.name: entry for entry in (*news.added, *news.changed)}
        self._stale |= {entry.name: None for entry in news.removed}

    @cached_property
    def _catalog(self) -> Catalog:
        """The index by the engine that is set; it is chosen when it is first needed."""
        match self._settings.index:
            case "memory":
                return self._in_memory()
            case "sqlite":
                return self._stored()
            case "auto":
                there = Path(self._settings.store_path).exists() and self._open_store
                stored = self._stored() if there else None
                fits = stored and stored.adopt(self._pool.fingerprint)
                return stored if stored and fits else self._in_memory()

    def _in_memory(self) -> Catalog:
        engine = MemoryEngine()
        return Catalog(
            engine, self._cached_embedder, in_background=self._embeds_later, warn=self._say
        )

    def _stored(self) -> Catalog:
        engine = SqliteEngine(self.store)
        return Catalog(
            engine, self._cached_embedder, in_background=self._embeds_later, warn=self._say
        )

    @cached_property
    def _cached_embedder(self) -> CachedEmbedder | None:
        embedder = self._embedder or wiring.embedder_of(self._settings)
        batch = self._settings.embed.batch
        return CachedEmbedder(embedder, self._vectors, chunk=batch) if embedder else None

    @cached_property
    def _vectors(self) -> SqliteStore | VectorFile:
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
    def _embeds_later(self) -> bool:
        """The bundled model is there unasked: nobody should have to wait for it."""
        return self._embedder is None and self._settings.embed.embedder == "bundled"


def _index(
    catalog: Catalog,
    stale: Mapping[str, Entry | None],
    entries: Mapping[str, Entry],
    fingerprint: str,
) -> None:
    """Index what is stale; all there is when that is half of it."""
    put = [entry for entry in stale.values() if entry]
    gone = [name for name, entry in stale.items() if not entry]
    if 2 * len(put) >= len(entries):
        catalog.rebuild(entries.values(), fingerprint)
    else:
        catalog.change(put, gone, fingerprint)


class CribIndex:
    """The index of a crib: its vectors, and its copy in the catalog file. Made by `Crib`."""

    def __init__(self, pool: Callable[[], Pool], index: LiveIndex) -> None:
        """`pool` gives the pool with all that was added to it."""
        self._pool = pool
        self._index = index

    @property
    def has_embedder(self) -> bool:
        """Whether search has a vector arm, or will have one when its model is loaded."""
        return self._index.has_embedder

    def embedded(self, timeout_s: float | None = None) -> bool:
        """Wait until all that is indexed has its vectors; whether it has.

        Nobody has to wait: searches work meanwhile, by words.
        """
        self._pool()
        return self._index.catalog().embedded(timeout_s)

    def store(
        self,
        *,
        embedding: Callable[[int, int], None] = lambda _done, _all: None,
        progress: Progress | None = None,
    ) -> None:
        """Write the index of all entries to the catalog file, for the next start to use.

        `embedding` is called with how many texts have a vector, of how many; `progress` with how
        many rows are written. Raises `StoreError`.
        """
        self._pool()
        self._index.rebuild(embedding, progress)

    def is_stored(self) -> bool | None:
        """Whether the catalog file has the index of just these entries; None if there is no file.

        Raises `StoreError`.
        """
        self._pool()
        return self._index.stored_fits()
