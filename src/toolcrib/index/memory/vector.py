"""The `vector` arm in memory: one product of a matrix with a vector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed import one_blas_thread
from toolcrib.index.memory.ranking import leave_out, rank_rows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant


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
        with one_blas_thread():
            scores = (self.matrix @ query).astype(np.float64)
        leave_out(scores, self._row_of, exclude)
        return rank_rows(self.ids, scores, limit)

    @cached_property
    def _row_of(self) -> Mapping[str, int]:
        return {id: row for row, id in enumerate(self.ids)}
