"""The `bm25` arm in memory: postings in arrays, ranked by FTS5's formula.

The rarest terms are added up first. As soon as no row that has none of them can come among the
best any more, the common terms, whose postings are long, count only for those that still can.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.bm25_formula import K1, B, FieldWeights, idf
from toolcrib.index.document import Document
from toolcrib.index.memory.base import BaseBuilder
from toolcrib.index.memory.overlay import NO_ROWS, Overlay
from toolcrib.index.memory.postings import FEW, OverlaidPostings, Posting, Rows, posting_of
from toolcrib.index.memory.ranking import (
    Scores,
    lowest_of_best,
    rank_rows,
    touched_rows,
)
from toolcrib.index.memory.rows import Masks, RowColumn, SnapshotRows, VisibleRows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

MOST_REMEMBERED = 1 << 20
"""Of so many rows it is remembered how saturated they are with terms: 8 bytes each."""
LONG = 4
"""Postings are long if they have so many times the rows of all rarer terms together."""
MOST_TERMS = 1 << 14
ROUNDING = 1e-9


class _Term(NamedTuple):
    """A term, how rare it is, and its postings; rows that are gone may be in these.

    `is_there`: some document has it.
    """

    term: str
    rarity: float
    is_there: bool
    parts: Sequence[Posting]
    rows: int


_WeightedTerm: TypeAlias = tuple[float, _Term]
"""What a term can add to a score at most, and the term."""


class _RecentTerms(dict[str, Sequence[Posting]]):
    """The last terms that were asked for, as far as they have not too many rows together.

    Each with the rows that have it and how saturated they are with it.
    """

    rows = 0

    def add(self, term: str, found: Sequence[Posting]) -> None:
        """Remember a term, in place of all others if they are too many."""
        rows = sum(len(part.rows) for part in found)
        if self.rows + rows > MOST_REMEMBERED:
            self.clear()
            self.rows = 0
        self[term] = found
        self.rows += rows


@dataclass(frozen=True)
class Bm25:
    """One row a document."""

    rows: SnapshotRows
    _terms: dict[str, _Term] = field(default_factory=dict[str, _Term], repr=False)
    _remembered: _RecentTerms = field(default_factory=_RecentTerms, repr=False)
    _few: "WeakKeyDictionary[NameFilter, _RecentTerms]" = field(
        default_factory=WeakKeyDictionary["NameFilter", "_RecentTerms"], repr=False
    )
    """By filter, of the few rows that it leaves, the place of each in place of the row."""

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
        if visible.rows is not None:
            scores = self._scores_of_few(terms, visible.rows, exclude)
            found = np.flatnonzero(scores > 0)
            return rank_rows(self.rows.id_of, visible.rows[found], scores[found], limit)
        board, touched = self.rows.base.scores, list[Rows]()
        scores = board.take(len(self.rows))
        rows = self._scored(terms, scores, touched, visible, limit)
        found = scores[rows]
        board.give_back(scores, touched)
        return rank_rows(self.rows.id_of, rows, found, limit)

    @cached_property
    def terms(self) -> OverlaidPostings:
        """The postings of all terms."""
        base, overlay = self.rows.base, self.rows.overlay
        return OverlaidPostings(base.terms, overlay.gone, overlay.terms.postings, len(base))

    def _weighted(self, terms: Iterable[str]) -> list[_WeightedTerm]:
        """The terms that some document has, those that weigh most first."""
        found = [self._term(term) for term in dict.fromkeys(terms)]
        best = sum([term.rarity for term in found])  # as `ideal` has it, less K1 + 1
        known = [(term.rarity / best, term) for term in found if term.is_there]
        return sorted(known, key=_weight, reverse=True)

    def _term(self, term: str) -> _Term:
        """What is known of a term; that of the last terms is remembered."""
        if (known := self._terms.get(term)) is None:
            if len(self._terms) >= MOST_TERMS:
                self._terms.clear()
            parts, having = self.terms.parts(term), self.terms.count(term)
            rarity, rows = idf(self.rows.documents, having), sum([len(each.rows) for each in parts])
            known = self._terms[term] = _Term(term, rarity, having > 0, parts, rows)
        return known

    def _saturated(self, term: _Term) -> Sequence[Posting]:
        """The rows that have a term, and how saturated each is with it, from 0 to 1.

        The more often a document has the term for its length, the more: tf / (tf + k1·(1 - b +
        b·|d|/avg|d|)). That of the last terms is remembered.
        """
        if (found := self._remembered.get(term.term)) is None:
            # numpy counts by numbers of 64 bits alone; others it converts each time.
            parts = [Posting(part.rows.astype(np.intp), part.weights) for part in term.parts]
            found = [Posting(part.rows, self._saturation(part)) for part in parts]
            self._remembered.add(term.term, found)
        return found

    def _scored(
        self,
        terms: Sequence[_WeightedTerm],
        scores: Scores,
        touched: list[Rows],
        visible: VisibleRows,
        limit: int | None,
    ) -> Rows:
        """Add the terms up; the visible rows among which the best `limit` are."""
        so_far = 0
        for number, (weight, term) in enumerate(terms):
            if limit and term.rows > LONG * so_far > 0:
                rest = _sum_of(terms[number:])
                some = touched_rows(scores, touched) if rest < _sum_of(terms[:number]) else NO_ROWS
                leaders = _leaders(visible.of(some), scores, rest, limit)
                if leaders is not None:
                    self._add_to_some(terms[number:], scores, leaders)
                    return leaders
            for rows, saturation in self._saturated(term):
                scores[rows] += weight * saturation
                touched.append(rows)
            so_far += term.rows
        floor = _floor(touched, visible, scores, limit)
        return visible.of(np.flatnonzero(scores >= floor if floor else scores > 0))

    def _add_to_some(self, terms: Sequence[_WeightedTerm], scores: Scores, rows: Rows) -> None:
        """Add the terms up for these rows, ascending, alone."""
        for weight, term in terms:
            for part in term.parts:
                _, having = posting_of(part, rows)
                scores[having.rows] += weight * self._saturation(having)

    def _scores_of_few(
        self, terms: Sequence[_WeightedTerm], rows: Rows, exclude: NameFilter
    ) -> Scores:
        """The scores of the few rows that a filter leaves."""
        if (known := self._few.get(exclude)) is None:
            known = self._few[exclude] = _RecentTerms()
        scores = np.zeros(len(rows))
        for weight, term in terms:
            if (parts := known.get(term.term)) is None:
                seen = [posting_of(part, rows) for part in term.parts]
                parts = [Posting(places, self._saturation(part)) for places, part in seen]
                known.add(term.term, parts)
            for places, saturation in parts:
                scores[places] += weight * saturation
        return scores

    def _saturation(self, posting: Posting) -> NDArray[np.float64]:
        damping = self._lengths.of(posting.rows) * self._by_length
        damping += K1 * (1 - B)
        damping += posting.weights
        return np.divide(posting.weights, damping, out=damping)

    @cached_property
    def _lengths(self) -> RowColumn[np.int32]:
        return RowColumn(self.rows.base.lengths, self.rows.overlay.terms.lengths)

    @cached_property
    def _by_length(self) -> float:
        """By how much a term of a document makes it harder to be saturated with a term."""
        base, overlay = self.rows.base, self.rows.overlay
        gone, added = base.lengths[overlay.gone], overlay.terms.lengths
        length = base.all_terms - int(gone.sum(dtype=np.int64)) + int(added.sum(dtype=np.int64))
        return K1 * B / (length / max(self.rows.documents, 1) or 1.0)


_weight = itemgetter(0)


def _sum_of(terms: Sequence[_WeightedTerm]) -> float:
    """What these can add to a score together, at most."""
    return sum([weight for weight, _ in terms])


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


def _leaders(rows: Rows, scores: Scores, rest: float, limit: int) -> Rows | None:
    """Those of the rows that can still be among the best when the `rest` is added.

    None if a row without a score could be, too.
    """
    if len(rows) <= limit:
        return None
    partial = scores[rows]
    lowest = lowest_of_best(partial, limit) - ROUNDING
    return None if rest >= lowest else rows[partial + rest >= lowest]


def bm25_arm(documents: Iterable[Document], weights: FieldWeights) -> Bm25:
    """The arm over these documents alone, without an engine around it. Ids are unique."""
    builder = BaseBuilder(weights)
    for each in documents:
        builder.add(each)
    return Bm25(SnapshotRows(builder.built(), Overlay(), Masks()))
