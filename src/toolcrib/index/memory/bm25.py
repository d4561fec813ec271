"""The `bm25` arm in memory: postings in arrays, ranked by FTS5's formula.

The rarest terms are added up first. As soon as no row that has none of them can come among the
best any more, the common terms, whose postings are long, count only for those that still can.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import K1, B, FieldWeights, idf
from toolcrib.index.document import Document
from toolcrib.index.memory.base import BaseBuilder
from toolcrib.index.memory.overlay import Overlay
from toolcrib.index.memory.postings import FEW, OverlaidPostings, Posting, Rows
from toolcrib.index.memory.ranking import ScoreBoard, Scores, lowest_of_best, rank_rows
from toolcrib.index.memory.rows import Masks, SnapshotRows, VisibleRows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

MOST_REMEMBERED = 1 << 18
"""Of so many rows it is remembered what terms add to them: 16 bytes each."""
LONG = 4
"""Postings are long if one row in so many has a term."""
ROUNDING = 1e-9


class _SaturatedTerm(NamedTuple):
    """How many documents have a term; the rows, and how saturated each is with it, from 0 to 1.

    The more often a document has the term for its length, the more: tf / (tf + k1·(1 - b +
    b·|d|/avg|d|)). Rows that are gone may be among them.
    """

    having: int
    parts: Sequence[Posting]
    rows: int


class _WeightedTerm(NamedTuple):
    """A term, and what it can add to a score at most."""

    weight: float
    term: _SaturatedTerm


class _RecentTerms(dict[str, _SaturatedTerm]):
    """The last terms that were asked for, as far as they have not too many rows together."""

    rows = 0

    def add(self, term: str, found: _SaturatedTerm) -> None:
        """Remember a term, in place of all others if they are too many."""
        if self.rows + found.rows > MOST_REMEMBERED:
            self.clear()
            self.rows = 0
        self[term] = found
        self.rows += found.rows


@dataclass(frozen=True)
class Bm25:
    """One row a document."""

    rows: SnapshotRows
    _remembered: _RecentTerms = field(default_factory=_RecentTerms)

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
            scores = _scores_of_few(terms, visible.places, len(visible.rows))
            found = np.flatnonzero(scores > 0)
            return rank_rows(self.rows.id_of, visible.rows[found], scores[found], limit)
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
        found, documents = [self._term(term) for term in dict.fromkeys(terms)], self.rows.documents
        rarities = [idf(documents, term.having) for term in found]
        best = sum(rarities)  # the score of an ideal document, as `ideal` has it, less K1 + 1
        known = [
            _WeightedTerm(rarity / best, term)
            for rarity, term in zip(rarities, found, strict=True)
            if term.having
        ]
        return sorted(known, key=lambda each: -each.weight)

    def _term(self, term: str) -> _SaturatedTerm:
        """What is known of a term; that of the last terms is remembered."""
        if (found := self._remembered.get(term)) is None:
            # numpy counts by numbers of 64 bits alone; others it converts each time.
            parts = [
                Posting(part.rows.astype(np.intp), self._saturation(part))
                for part in self.terms.parts(term)
            ]
            rows = sum(len(part.rows) for part in parts)
            found = _SaturatedTerm(self.terms.count(term), parts, rows)
            self._remembered.add(term, found)
        return found

    def _scored(
        self,
        terms: Sequence[_WeightedTerm],
        scores: Scores,
        touched: list[Rows],
        visible: VisibleRows,
        limit: int | None,
    ) -> NDArray[np.intp]:
        """Add the terms up; the visible rows among which the best `limit` are."""
        for number, (weight, term) in enumerate(terms):
            if limit and touched and term.rows * LONG > len(scores):
                rest = sum(each.weight for each in terms[number:])
                leaders = _leaders(visible.of(np.flatnonzero(scores > 0)), scores, rest, limit)
                if leaders is not None:
                    _add_to_some(terms[number:], scores, leaders)
                    return leaders
            for rows, saturation in term.parts:
                scores[rows] += weight * saturation
                touched.append(rows)
        floor = _floor(touched, visible, scores, limit)
        return visible.of(np.flatnonzero(scores >= floor if floor else scores > 0))

    def _saturation(self, posting: Posting) -> NDArray[np.float64]:
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


def _floor(
    touched: Sequence[Rows], visible: VisibleRows, scores: Scores, limit: int | None
) -> float:
    """What the best `limit` score at least: what so many rows of a rare term do; 0 if unknown."""
    for rows in touched:
        if limit and limit <= len(rows) < len(scores) // FEW:
            seen = visible.of(rows)
            if limit <= len(seen):
                return lowest_of_best(scores[seen], limit)
    return 0.0


def _add_to_some(terms: Sequence[_WeightedTerm], scores: Scores, rows: NDArray[np.intp]) -> None:
    """Add the terms up for these rows, ascending, alone."""
    for weight, term in terms:
        for having, saturation in term.parts:
            if having.size:
                at = np.minimum(np.searchsorted(having, rows), having.size - 1)
                at = at[having[at] == rows]
                scores[having[at]] += weight * saturation[at]


def _scores_of_few(terms: Sequence[_WeightedTerm], places: Rows, count: int) -> Scores:
    """The scores of the few rows that have a place."""
    scores = np.zeros(count)
    for weight, term in terms:
        for rows, saturation in term.parts:
            place = places[rows]
            seen = np.flatnonzero(place >= 0)
            scores[place[seen]] += weight * saturation[seen]
    return scores


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
