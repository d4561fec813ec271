"""The `bm25` arm in memory: postings in arrays, ranked by FTS5's formula.

The rarest terms are added up first. As soon as no row that has none of them can come among the
best any more, the common terms, whose postings are long, count only for those that still can.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import K1, B, FieldWeights, ideal, idf
from toolcrib.index.document import Document
from toolcrib.index.memory.base import BaseBuilder
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.postings import FEW, OverlaidPostings, Posting
from toolcrib.index.memory.ranking import ScoreBoard, Scores, lowest_of_best, rank_rows
from toolcrib.index.memory.rows import Masks, SnapshotRows, VisibleRows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

LONG = 4
"""Postings are long if one row in so many has a term."""
ROUNDING = 1e-9


class _WeightedTerm(NamedTuple):
    """What a term can add to a score at most, and where it is."""

    weight: float
    parts: Sequence[Posting]

    @property
    def rows(self) -> int:
        return sum(len(part.rows) for part in self.parts)


@dataclass(frozen=True)
class Bm25:
    """One row a document."""

    rows: SnapshotRows

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """Whatever has at least one of the terms, by its share of the ideal BM25."""
        terms, visible = self._weighted(variant.terms), self.rows.visible(exclude)
        if not terms:
            return []
        if visible.rows is not None and visible.places is not None:
            scores = self._scores_of_few(terms, visible.places, len(visible.rows))
            return rank_rows(self.rows.id_of, visible.rows, scores, limit)
        with self._board.clean() as (scores, touched):
            rows = self._scored(terms, scores, touched, visible, limit)
            return rank_rows(self.rows.id_of, rows, scores[rows], limit)

    @cached_property
    def terms(self) -> OverlaidPostings:
        """The postings of all terms."""
        base, overlay = self.rows.base, self.rows.overlay
        return OverlaidPostings(base.terms, overlay.gone, overlay.terms.postings, len(base))

    def _weighted(self, terms: Iterable[str]) -> list[_WeightedTerm]:
        """The terms that some document has, those that weigh most first."""
        documents, counts = self.rows.documents, {t: self.terms.count(t) for t in terms}
        best = ideal(documents, counts.values())
        known = [
            _WeightedTerm(idf(documents, count) * (K1 + 1) / best, [*self.terms.parts(term)])
            for term, count in counts.items()
            if count
        ]
        return sorted(known, key=lambda term: -term.weight)

    def _scored(
        self,
        terms: Sequence[_WeightedTerm],
        scores: Scores,
        touched: list[NDArray[np.int32]],
        visible: VisibleRows,
        limit: int | None,
    ) -> NDArray[np.intp]:
        """Add the terms up; the visible rows among which the best `limit` are."""
        for number, term in enumerate(terms):
            if limit and touched and term.rows * LONG > len(scores):
                rest = sum(each.weight for each in terms[number:])
                leaders = _leaders(visible.of(np.flatnonzero(scores)), scores, rest, limit)
                if leaders is not None:
                    self._add_to_some(terms[number:], scores, leaders)
                    return leaders
            for part in term.parts:
                scores[part.rows] += term.weight * self._saturation(part)
                touched.append(part.rows)
        return visible.of(np.flatnonzero(scores))

    def _add_to_some(
        self, terms: Sequence[_WeightedTerm], scores: Scores, rows: NDArray[np.intp]
    ) -> None:
        """Add the terms up for these rows, ascending, alone."""
        for term in terms:
            for part in term.parts:
                if not part.rows.size:
                    continue
                at = np.minimum(np.searchsorted(part.rows, rows), part.rows.size - 1)
                at = at[part.rows[at] == rows]
                some = Posting(part.rows[at], part.weights[at])
                scores[some.rows] += term.weight * self._saturation(some)

    def _scores_of_few(
        self, terms: Sequence[_WeightedTerm], places: NDArray[np.int32], count: int
    ) -> Scores:
        """The scores of the few rows that have a place."""
        scores = np.zeros(count)
        for term in terms:
            for part in term.parts:
                place = places[part.rows]
                seen = np.flatnonzero(place >= 0)
                some = Posting(part.rows[seen], part.weights[seen])
                scores[place[seen]] += term.weight * self._saturation(some)
        return scores

    def _saturation(self, posting: Posting) -> NDArray[np.float64]:
        """From 0 to 1, the more often a document has the term for its length.

        tf / (tf + k1·(1 - b + b·|d|/avg|d|))
        """
        frequencies = posting.weights.astype(np.float64)  # so that every row is rounded alike
        damping = self._lengths[posting.rows] * self._damping_by_length
        damping += K1 * (1 - B)
        damping += frequencies
        return np.divide(frequencies, damping, out=frequencies)

    @cached_property
    def _damping_by_length(self) -> float:
        base, overlay = self.rows.base, self.rows.overlay
        gone, added = base.lengths[overlay.gone], overlay.terms.lengths
        length = base.all_terms - int(gone.sum(dtype=np.int64)) + int(added.sum(dtype=np.int64))
        return K1 * B / (length / max(self.rows.documents, 1) or 1.0)

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        base, added = self.rows.base.lengths, self.rows.overlay.terms.lengths
        return np.concatenate([base, added]) if added.size else base

    @cached_property
    def _board(self) -> ScoreBoard:
        return ScoreBoard(len(self.rows))


def _leaders(
    rows: NDArray[np.intp], scores: Scores, rest: float, limit: int
) -> NDArray[np.intp] | None:
    """Those of the rows that can still be among the best when the `rest` is added.

    None if a row without a score could be, too, or if they are many.
    """
    if len(rows) <= limit:
        return None
    partial = scores[rows]
    lowest = lowest_of_best(partial, limit) - ROUNDING
    if rest >= lowest:
        return None
    leaders = rows[partial + rest >= lowest]
    return leaders if len(leaders) * FEW < len(scores) else None


def bm25_arm(documents: Iterable[Document], weights: FieldWeights) -> Bm25:
    """The arm over these documents alone, without an engine around it. Ids are unique."""
    builder = BaseBuilder(weights)
    for each in documents:
        builder.add(each)
    return Bm25(SnapshotRows(builder.built(), Overlay(), Masks()))
