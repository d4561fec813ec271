"""The index as programs see it: its vectors, and what is kept of it for the next start."""

from collections.abc import Callable
from pathlib import Path

from toolcrib.crib.live_index import LiveIndex
from toolcrib.crib.packs import Packs
from toolcrib.index import Progress
from toolcrib.pool import Pool


class CribIndex:
    """The index of a crib: its vectors, and what is kept of it. Made by `Crib`."""

    def __init__(self, pool: Callable[[], Pool], index: LiveIndex, packs: Packs) -> None:
        """`pool` gives the pool with all that was added to it."""
        self._pool = pool
        self._index = index
        self._packs = packs

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
        """Index all entries anew and write that down at once, for the next start to use.

        `embedding` is called with how many texts have a vector, of how many; `progress` with how
        many rows are written. Raises `StoreError`.
        """
        self._packs.kept_files()  # first: to embed everything may take an hour
        self._pool()
        self._index.rebuild(embedding, progress)
        self._packs.write()

    @property
    def files(self) -> tuple[Path, ...]:
        """The files in which the index is kept for the next start; they need not be there."""
        return self._packs.index_files

    def is_stored(self) -> bool | None:
        """Whether what is kept is the index of just these entries; None if nothing is.

        Raises `StoreError`.
        """
        self._pool()
        return self._packs.fits()
