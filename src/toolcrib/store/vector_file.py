"""Vectors in a file of their own, for whoever has no catalog file: a cache, and no more."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from toolcrib.errors import StoreError
from toolcrib.store.catalog_file import SqliteStore

MOST_BYTES = 512 * 1024 * 1024
"""What is in use of the file at most: some 140,000 tools with the bundled model."""
FORGOTTEN = 1 / 8
"""Beyond it such a share goes before more is kept: what was kept longest ago."""


class VectorFile:
    """Where vectors last, by model and hash of the text, for any number of processes.

    A file that cannot be read or written costs its use and nothing else: `say` hears why, and what
    is kept from then on is kept in memory. No file is made before there is a vector to keep.
    """

    def __init__(self, path: Path, *, say: Callable[[str], None]) -> None:
        self._path = path
        self._say = say
        self._opening = RLock()
        self._in_memory = False

    def cached_vectors(
        self, model: str, hashes: Sequence[bytes]
    ) -> dict[bytes, NDArray[np.float32]]:
        """As the protocol says, but that it does not raise."""
        if not (self._in_memory or self._path.exists()):
            return {}
        try:
            return self._open().cached_vectors(model, hashes)
        except StoreError as error:
            return self._give_up(error).cached_vectors(model, hashes)

    def present_vectors(self, model: str, hashes: Sequence[bytes]) -> set[bytes]:
        """As the protocol says, but that it does not raise."""
        if not (self._in_memory or self._path.exists()):
            return set()
        try:
            return self._open().present_vectors(model, hashes)
        except StoreError as error:
            return self._give_up(error).present_vectors(model, hashes)

    def keep_vectors(self, model: str, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """As the protocol says, but that it does not raise."""
        try:
            store = self._open()
            store.bound_vectors(MOST_BYTES, share=FORGOTTEN)
            store.keep_vectors(model, vectors)
        except StoreError as error:
            self._give_up(error).keep_vectors(model, vectors)

    def close(self) -> None:
        """Let go of the file, if it was opened."""
        with self._opening:
            for name in ("_file", "_memory"):
                if store := self.__dict__.get(name):
                    store.close()

    def _open(self) -> SqliteStore:
        with self._opening:
            return self._memory if self._in_memory else self._file

    def _give_up(self, error: StoreError) -> SqliteStore:
        with self._opening:
            if not self._in_memory:
                self._in_memory = True
                self._say(f"vectors are not kept for the next start: {error}")
            return self._memory

    @cached_property
    def _file(self) -> SqliteStore:
        return SqliteStore.open(self._path)

    @cached_property
    def _memory(self) -> SqliteStore:
        return SqliteStore.open(":memory:")
