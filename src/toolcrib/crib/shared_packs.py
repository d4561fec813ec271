"""The pair of packs that the replicas of a tenant hand to each other through their shared store.

    one replica    pool pack + index pack ──▶ shared store
    an empty one   shared store ──▶ pool pack + index pack ──▶ what has changed since is listed

Whoever has written a newer pair stores it, and no more often than its size allows. A replica that
starts without a pair fetches one instead of listing and indexing everything. It costs nothing but
time if there is none, or if it does not fit: then it is made as on a machine alone.
"""

import json
import logging
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from toolcrib.crib.pack_files import PackFiles
from toolcrib.errors import StoreError
from toolcrib.index import INDEX_FORMAT
from toolcrib.pool import POOL_FORMAT
from toolcrib.settings import Settings
from toolcrib.store import PackDamaged, PackStore
from toolcrib.system import make_private_folder, private_file_replaced

PART_BYTES = 4 * 1024 * 1024
LENGTH_BYTES = 8
BYTES_A_SECOND = 500_000
"""A pack is not replaced before its bytes would have been sent at this rate."""
AGAIN_S = 30.0
"""How long to wait for another replica that is just storing one."""

_log = logging.getLogger(__name__)


class SharedPacks:
    """The pair of one tenant and one form: written here, for all. One thread at a time uses it.

    `generation` gives the one that the pool has all of now.
    """

    def __init__(
        self, store: PackStore, files: PackFiles, settings: Settings, generation: Callable[[], int]
    ) -> None:
        self._store = store
        self._files = files
        self._name = _form(settings)
        self.generation = generation
        self._sent: tuple[int, ...] = ()
        self._is_closed = False

    def fetch(self) -> None:
        """Get the pair, if there is none on this machine. Raises nothing: it can be made too."""
        if all(path.exists() for path in self._paths):
            return
        try:
            if head := self._store.pack_head(self._name):
                with self._replaced() as write:
                    self._store.fetch_pack(self._name, head, write)
                self._sent = self._inodes()
        except (StoreError, PackDamaged, OSError) as error:
            _log.warning("%s; what it has is listed and indexed here", error)

    def store(self, generation: int) -> float | None:
        """Store the pair for all, if it is newer than theirs, and time for it.

        `generation` is the one before it was written. How many seconds to wait before it is time;
        None if there is nothing to wait for. Raises `StoreError` and `OSError`.
        """
        inodes = self._inodes()
        if inodes == self._sent:
            return None
        head = self._store.pack_head(self._name)
        if head and head.generation < generation:
            early_s = head.bytes / BYTES_A_SECOND - head.age_s
            if early_s > 0:
                return early_s
        if head is None or head.generation < generation:
            with ExitStack() as stack:
                pool, index = (stack.enter_context(path.open("rb")) for path in self._paths)
                if not self._store.put_pack(self._name, generation, self._parts(pool, index)):
                    return AGAIN_S
        self._sent = inodes
        return None

    def close(self) -> None:
        """Store nothing any more; what is being stored is given up. Called on any thread."""
        self._is_closed = True

    @property
    def _paths(self) -> tuple[Path, Path]:
        return self._files.pool, self._files.index

    def _inodes(self) -> tuple[int, ...]:
        return tuple(path.stat().st_ino for path in self._paths)

    def _parts(self, pool: BinaryIO, index: BinaryIO) -> Iterator[bytes]:
        """The bytes of a pair: the length of its first file, and both. Raises `StoreError`."""
        yield os.fstat(pool.fileno()).st_size.to_bytes(LENGTH_BYTES, "little")
        for file in (pool, index):
            while part := file.read(PART_BYTES):
                if self._is_closed:  # a tenant that is closed comes back only when it has ended
                    raise StoreError("the pack is not stored: its crib is being closed")
                yield part

    @contextmanager
    def _replaced(self) -> Generator[Callable[[bytes], None]]:
        """What takes the bytes of a pair; both files take their places when the block has ended."""
        make_private_folder(self._files.pool.parent)
        with (
            private_file_replaced(self._files.index) as index,
            private_file_replaced(self._files.pool) as pool,
        ):
            yield _PairWriter(pool, index).write


class _PairWriter:
    """Takes the bytes of a pair as they come, and writes them to its two files."""

    def __init__(self, pool: BinaryIO, index: BinaryIO) -> None:
        self._pool, self._index = pool, index
        self._begin = b""
        self._left: int | None = None

    def write(self, part: bytes) -> None:
        """The next bytes."""
        if self._left is None:
            self._begin += part
            if len(self._begin) < LENGTH_BYTES:
                return
            part = self._begin[LENGTH_BYTES:]
            self._left = int.from_bytes(self._begin[:LENGTH_BYTES], "little")
        view = memoryview(part)
        self._pool.write(view[: self._left])
        self._index.write(view[self._left :])
        self._left = max(0, self._left - len(part))


def _form(settings: Settings) -> str:
    """The name of all pairs that fit these settings: by their formats and the model of vectors."""
    embed = settings.embed
    model = embed.embedder, embed.model, embed.dimensions
    return sha256(json.dumps([POOL_FORMAT, INDEX_FORMAT, *model]).encode()).hexdigest()[:32]
