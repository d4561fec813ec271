"""The memory engine: unchanging snapshots, swapped by one assignment.

documents → base → pack (a file) → mapped at the next start
change → overlay over the base; a large overlay is folded into a new base
"""

from collections.abc import Collection, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import FieldWeights
from toolcrib.index.document import Document
from toolcrib.index.memory.base import BaseBuilder, IndexBase
from toolcrib.index.memory.index_pack import open_index_pack, write_index_pack
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.rows import Masks
from toolcrib.index.memory.snapshot import Snapshot
from toolcrib.index.protocol import Progress, Superseded


class MemoryEngine:
    """Keeps one snapshot. Writers take turns; readers never wait."""

    def __init__(self, weights: FieldWeights | None = None) -> None:
        self._weights = weights or FieldWeights()
        self._writing = RLock()
        base = BaseBuilder(self._weights).built()
        self._snapshot = Snapshot(0, "", base, Overlay(), Masks())

    @contextmanager
    def view(self) -> Generator[Snapshot]:
        """The current snapshot. It never changes."""
        yield self._snapshot

    def rebuild(
        self, documents: Iterable[Document], *, progress: Progress | None = None, mark: str = ""
    ) -> None:
        """Build the next generation beside the current one, then switch."""
        with self._writing:
            builder = BaseBuilder(self._weights)
            for done, document in enumerate(documents, 1):
                builder.add(document)
                if progress:
                    progress(done)
            self._switch(builder.built(), mark)

    def change(
        self,
        put: Iterable[Document] = (),
        remove: Iterable[str] = (),
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """Make the next generation from the current one; they share what did not change."""
        with self._writing:
            old = self._expected(base)
            new = {document.id: document for document in put}
            old = _of_one_size(old, new)
            gone = set(remove) - new.keys()
            after = old.overlay.to_fold(old.base, new, gone)
            if after.is_large(old.base):
                self._switch(after.folded(old.base, self._weights), mark)
            else:
                overlay = old.overlay.looked_up(after, new, gone, self._weights)
                self._next(replace(old, mark=mark, overlay=overlay))

    def add_vectors(
        self,
        vectors: Mapping[str, NDArray[np.float32]],
        *,
        mark: str = "",
        base: str | None = None,
    ) -> None:
        """As the protocol says."""
        with self._writing:
            old = self._expected(base)
            late = {id: each for id, each in old.overlay.documents.items() if id in vectors}
            put = {id: replace(each, vector=vectors[id]) for id, each in late.items()}
            old = _of_one_size(old, put)
            overlay = old.overlay.changed(old.base, put, (), self._weights)
            rest = _rows_of(old, vectors.keys() - put.keys())
            stored = old.base
            if rest:
                matrix = np.stack([vectors[id] for id in rest.values()]).astype(np.float16)
                stored = stored.with_vectors(np.array(list(rest), np.int32), matrix)
            self._next(replace(old, mark=mark, base=stored, overlay=overlay))

    def mark(self) -> str:
        """What the index was made from, by the last writer's word."""
        return self._snapshot.mark

    def write_pack(self, path: Path, key: bytes) -> str:
        """As the protocol says. Nobody waits: what changes meanwhile is laid over the file."""
        old = self._snapshot
        write_index_pack(path, old.overlay.folded(old.base, self._weights), old.mark, key)
        base, _ = open_index_pack(path, key)
        with self._writing:
            now = self._snapshot
            if now.base is old.base:
                put, removed = now.overlay.since(old.overlay, old.base)
                overlay = Overlay().changed(base, put, removed, self._weights)
                self._next(replace(now, base=base, overlay=overlay, masks=Masks()))
        return old.mark

    def open_pack(self, path: Path, key: bytes, marks: Collection[str]) -> bool:
        """Take the index in a file, if it has one of these marks; whether it has.

        Raises `OSError` and `PackDamaged`.
        """
        with self._writing:
            base, mark = open_index_pack(path, key)
            if mark not in marks:
                return False
            self._switch(base, mark)
            return True

    def _expected(self, mark: str | None) -> Snapshot:
        if mark not in (None, self._snapshot.mark):
            raise Superseded
        return self._snapshot

    def _switch(self, base: IndexBase, mark: str) -> None:
        self._next(Snapshot(0, mark, base, Overlay(), Masks()))

    def _next(self, snapshot: Snapshot) -> None:
        self._snapshot = replace(snapshot, generation=self._snapshot.generation + 1)


def _rows_of(snapshot: Snapshot, ids: Iterable[str]) -> dict[int, str]:
    """The ids of documents in the base, by row."""
    rows = {snapshot.rows.row_of(id): id for id in sorted(ids)}
    return {row: id for row, id in rows.items() if row >= 0}


def _of_one_size(snapshot: Snapshot, put: Mapping[str, Document]) -> Snapshot:
    """The snapshot, to which these can be added. Raises `ValueError` for vectors of two sizes.

    The vectors of documents that are gone are let go of, if nobody has one any more.
    """
    sizes = {each.vector.size for each in put.values() if each.vector is not None}
    there = snapshot.vector_size
    if len(sizes | ({there} - {0})) > 1:
        raise ValueError(f"vectors of {sorted({*sizes, there})} numbers; rebuild it with one size")
    if there or not sizes or not snapshot.base.vectors.shape[1]:
        return snapshot
    count = len(snapshot.base)
    blank = replace(
        snapshot.base, vectors=np.zeros((count, 0), np.float16), vectored=np.zeros(count, np.bool_)
    )
    return replace(snapshot, base=blank)
