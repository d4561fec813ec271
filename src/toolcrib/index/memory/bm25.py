"""The `bm25` arm in memory: an inverted index in arrays, ranked by FTS5's formula."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import K1, B, FieldWeights, ideal, idf
from toolcrib.index.document import Document
from toolcrib.index.memory.inverted_index import Posting, Segment, SegmentRow
from toolcrib.index.memory.ranking import leave_out, rank_rows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant


@dataclass(frozen=True)
class Bm25:
    """One row a document; its length is the number of its terms."""

    segment: Segment

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """Whatever has at least one of the terms, by its share of the ideal BM25."""
        scores, documents = np.zeros(len(self.segment.keys)), len(self.segment.row_of)
        postings = [self.segment.postings.get(term) for term in dict.fromkeys(variant.terms)]
        best = ideal(documents, (len(each.rows) if each else 0 for each in postings))
        for posting in filter(None, postings):
            weight = idf(documents, len(posting.rows)) * (K1 + 1) / best
            scores[posting.rows] += weight * self._saturation(posting)
        leave_out(scores, self.segment.row_of, exclude)
        return rank_rows(self.segment.keys, scores, limit)

    def _saturation(self, posting: Posting) -> NDArray[np.float64]:
        """From 0 to 1, the more often a document has the term for its length."""
        return posting.weights / (posting.weights + self._damping[posting.rows])

    @cached_property
    def _damping(self) -> NDArray[np.float64]:
        """k1·(1 - b + b·|d|/avg|d|) for each row, worked out once a generation."""
        average = self.segment.lengths.sum() / max(len(self.segment.row_of), 1)
        return K1 * (1 - B + B * self.segment.lengths / (average or 1.0))


def row(document: Document, weights: FieldWeights) -> SegmentRow:
    """The row of a document."""
    return SegmentRow(document.id, weights.frequencies(document), sum(map(len, document.fields)))


def bm25_arm(documents: Iterable[Document], weights: FieldWeights) -> Bm25:
    """The arm over these documents alone, without an engine around it. Ids are unique."""
    return Bm25(Segment.of([row(each, weights) for each in documents]))
