"""The `bm25` arm in memory: an inverted index in arrays, ranked by FTS5's formula."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.document import Document
from toolcrib.index.memory.postings import Posting
from toolcrib.index.memory.ranking import ranking
from toolcrib.index.memory.segment import Row, Segment
from toolcrib.index.weights import K1, LEAST_IDF, B, FieldWeights
from toolcrib.model import Ranking, Variant


@dataclass(frozen=True)
class Bm25:
    """One row a document; its length is the number of its terms."""

    segment: Segment

    def lookup(
        self, variant: Variant, *, limit: int | None = None, exclude: Collection[str] = ()
    ) -> Ranking:
        """Whatever has at least one of the terms, by BM25."""
        scores = np.zeros(len(self.segment.keys))
        for term in dict.fromkeys(variant.terms):
            if posting := self.segment.postings.get(term):
                scores[posting.rows] += self._share(posting)
        for id in exclude:
            if (row := self.segment.row_of.get(id)) is not None:
                scores[row] = 0.0
        return ranking(self.segment.keys, scores, limit)

    def _share(self, posting: Posting) -> NDArray[np.float64]:
        documents, having = len(self.segment.row_of), len(posting.rows)
        idf = max(log((documents - having + 0.5) / (having + 0.5)), LEAST_IDF)
        damping = self._damping[posting.rows]
        return posting.weights * (idf * (K1 + 1)) / (posting.weights + damping)

    @cached_property
    def _damping(self) -> NDArray[np.float64]:
        """k1·(1 - b + b·|d|/avg|d|) for each row, worked out once a generation."""
        average = self.segment.lengths.sum() / max(len(self.segment.row_of), 1)
        return K1 * (1 - B + B * self.segment.lengths / (average or 1.0))


def row(document: Document, weights: FieldWeights) -> Row:
    """The row of a document."""
    return Row(document.id, weights.frequencies(document), sum(map(len, document.fields)))
