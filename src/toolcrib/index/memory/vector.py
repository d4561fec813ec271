"""The `vector` arm in memory: one product of a matrix with a vector."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import one_blas_thread
from toolcrib.index.memory.ranking import rank_rows
from toolcrib.model import Ranking, Variant


@dataclass(frozen=True)
class Vector:
    """One row an id, each of length 1, so that the product is the cosine."""

    ids: Sequence[str]
    matrix: NDArray[np.float32]

    @classmethod
    def of(cls, vectors: Mapping[str, NDArray[np.float32]]) -> "Vector":
        """An arm over these vectors, all of one size; at least one."""
        return cls(list(vectors), np.stack(list(vectors.values())))

    @property
    def size(self) -> int:
        """How many numbers each vector has."""
        return self.matrix.shape[1]

    def lookup(
        self, variant: Variant, *, limit: int | None = None, exclude: Collection[str] = ()
    ) -> Ranking:
        """Whatever has a cosine above zero with the query, the largest first."""
        if variant.vector is None:
            return []
        query = np.asarray(variant.vector, dtype=np.float32)
        with one_blas_thread():
            scores = (self.matrix @ query).astype(np.float64)
        if exclude:
            scores[self._rows(exclude)] = 0.0
        return rank_rows(self.ids, scores, limit)

    def _rows(self, ids: Iterable[str]) -> list[int]:
        excluded = set(ids)
        return [row for row, id in enumerate(self.ids) if id in excluded]
