"""The `vector` arm in memory: products of a matrix with a vector.

Vectors are kept in 16 bits and multiplied in 32. Up to `MOST_WHOLE` rows a copy in 32 bits is
kept, and every row is multiplied. Above that, a bit for each number tells which rows lie on the
query's side in most numbers; only the nearest of these are multiplied.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import one_blas_thread
from toolcrib.index.memory.base import sign_bits
from toolcrib.index.memory.ranking import Scores, rank_rows
from toolcrib.index.memory.rows import SnapshotRows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

MOST_WHOLE = 32_768
NEAREST_SHARE, FEWEST_NEAREST = 10, 4_096
"""Of how many rows one is multiplied, where bits decide, and how many at least."""
CHUNK = 8_192


@dataclass(frozen=True)
class Vector:
    """One row a document, each of length 1, so that the product is the cosine.

    A document without a vector has zeros, and is not found.
    """

    rows: SnapshotRows

    @property
    def size(self) -> int:
        """How many numbers each vector has; 0 without any."""
        return max(self._stored.shape[1], self.rows.overlay.vectors.shape[1])

    @property
    def _stored(self) -> NDArray[np.float16]:
        return self.rows.base.vectors

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """Whatever has a cosine above zero with the query, the largest first."""
        if variant.vector is None:
            return []
        query = np.asarray(variant.vector, dtype=np.float32)
        visible = self.rows.visible(exclude)
        rows = visible.rows
        if rows is None:
            rows = self._candidates(query, visible.mask, limit)
        cosines = self._cosines(query, rows)
        found = np.flatnonzero(cosines > 0)
        return rank_rows(self.rows.id_of, rows[found], cosines[found], limit)

    def _candidates(
        self, query: NDArray[np.float32], mask: NDArray[np.bool_] | None, limit: int | None
    ) -> NDArray[np.integer]:
        """The visible rows to multiply."""
        first, every = len(self.rows.base), len(self.rows)
        if limit is None or first <= MOST_WHOLE:
            return np.arange(every) if mask is None else np.flatnonzero(mask)
        near = self._nearest(query, None if mask is None else mask[:first], limit)
        added = np.arange(first, every)
        return np.concatenate([near, added if mask is None else added[mask[first:]]])

    def _nearest(
        self, query: NDArray[np.float32], mask: NDArray[np.bool_] | None, limit: int
    ) -> NDArray[np.intp]:
        """The rows of the base that differ from the query in the fewest signs, ascending."""
        differing = np.bitwise_count(self.rows.base.signs ^ sign_bits(query[None]))
        distances = differing.sum(axis=1, dtype=np.int16)
        if mask is not None:
            distances[~mask] = np.iinfo(np.int16).max
        count = max(len(distances) // NEAREST_SHARE, FEWEST_NEAREST, limit)
        if count >= len(distances):
            return np.arange(len(distances))
        furthest = np.partition(distances, count)[count]
        near = np.flatnonzero(distances <= furthest)
        return near if mask is None else near[mask[near]]

    def _cosines(self, query: NDArray[np.float32], rows: NDArray[np.integer]) -> Scores:
        first = len(self.rows.base)
        stored, added = rows[rows < first], rows[rows >= first] - first
        new = self.rows.overlay.vectors[added].astype(np.float32)
        with one_blas_thread():
            parts = [self._products(query, stored), _product(new, query)]
        return np.concatenate(parts).astype(np.float64)

    def _products(
        self, query: NDArray[np.float32], rows: NDArray[np.integer]
    ) -> NDArray[np.float32]:
        """The products of the base's rows with the query."""
        base = self.rows.base
        if not base.vectors.shape[1]:
            return np.zeros(len(rows), np.float32)
        if len(base) <= MOST_WHOLE:
            return base.matrix @ query if len(rows) == len(base) else base.matrix[rows] @ query
        chunks = (rows[at : at + CHUNK] for at in range(0, len(rows), CHUNK))
        parts = [base.vectors[chunk].astype(np.float32) @ query for chunk in chunks]
        return np.concatenate([*parts, np.zeros(0, np.float32)])

    @cached_property
    def is_there(self) -> bool:
        """Whether any document has a vector."""
        base, overlay = self.rows.base, self.rows.overlay
        left = np.count_nonzero(base.vectored) - np.count_nonzero(base.vectored[overlay.gone])
        return bool(left) or any(each.vector is not None for each in overlay.documents.values())


def _product(matrix: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    return matrix @ query if matrix.shape[1] else np.zeros(len(matrix), np.float32)
