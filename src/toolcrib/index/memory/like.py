"""The `like` arm in memory: one row a label, found by the words it has."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import sqrt
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.fuzzy_match import (
    LEAST_LIKENESS,
    by_likeness,
    hopeless,
    likeness,
)
from toolcrib.index.memory.base import label_roots
from toolcrib.index.memory.label_words import NOTHING, LabelWords, RecentWords
from toolcrib.index.memory.overlay import KEY_SEPARATOR
from toolcrib.index.memory.postings import FEW, OverlaidPostings, Posting, Rows, posting_of
from toolcrib.index.memory.ranking import Scores, distinct
from toolcrib.index.memory.rows import RowColumn, SnapshotRows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

LONG = 4096
"""A word that so many labels have is looked up last, and only where the others are found."""
ROUNDING = 1e-9

LabelsOfFilter: TypeAlias = "WeakKeyDictionary[NameFilter, FewLabels]"


class FewLabels(NamedTuple):
    """The labels that a filter leaves, if they are few; in their meanings each is its place."""

    labels: Rows
    roots: NDArray[np.float64]
    meanings: RecentWords[Posting]


@dataclass(frozen=True)
class Like:
    """The rows of the base's labels come first, then those of the overlay's."""

    rows: SnapshotRows
    _few: LabelsOfFilter = field(
        default_factory=WeakKeyDictionary["NameFilter", "FewLabels"], repr=False
    )

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """The capabilities with a label like the query, by the likeness of their best label.

        The last ranking is remembered: the wordings of a query differ more in terms than in words.
        """
        asked = variant.words, limit, exclude
        for known, ranking in self._last:
            if known == asked:
                return ranking
        ranking = self._ranking(*asked)
        self._last[:] = [(asked, ranking)]
        return ranking

    def _ranking(self, asked: Sequence[str], limit: int | None, exclude: NameFilter) -> Ranking:
        words = dict.fromkeys(asked)
        characters = sum(map(len, words))
        if not characters or hopeless(characters, self._longest_label):
            return []
        few = self._few_labels(exclude)
        labels, found = self._found(words, characters, few)
        lengths = self._lengths.of(labels).tolist()
        docs = self._docs.of(labels).tolist()
        alike = (
            (id, likeness(some, length, characters))
            for doc, some, length in zip(docs, found.tolist(), lengths, strict=True)
            if (id := self._id_of(doc))
        )
        return by_likeness(alike, limit=limit, exclude=exclude)

    def _found(
        self, words: Collection[str], characters: int, few: FewLabels | None
    ) -> tuple[Rows, Scores]:
        """The labels in which enough of the query is found, and how many characters of it."""
        by_length = sorted(words, key=len)
        bar, needed = (LEAST_LIKENESS - ROUNDING) * sqrt(characters), LEAST_LIKENESS**2 * characters
        # What has only the short words, which together are too few characters, is not alike.
        short = sum([total < needed - ROUNDING for total in accumulate(map(len, by_length))])
        if few:
            return self._found_in(few, by_length, short, bar)
        meanings = {word: self._meaning(word) for word in by_length}
        common = _common(meanings, needed - ROUNDING)
        labels, found = self._reaching(meanings, common, by_length[short:], bar)
        if common:  # the sums in one order, whatever was looked up first
            found = _added_up([_part(each, labels) for each in meanings.values()], len(labels))
            enough = found >= bar * self._roots.of(labels)
            labels, found = labels[enough], found[enough]
        return labels, found

    def _found_in(
        self, few: FewLabels, by_length: Sequence[str], short: int, bar: float
    ) -> tuple[Rows, Scores]:
        """The same among few labels. The first so many words alone are not enough."""
        meanings = [self._meaning_in(few, word) for word in by_length]
        found = _added_up(meanings, len(few.labels))
        enough = found >= bar * few.roots
        sought = np.concatenate([NOTHING, *(rows[enough[rows]] for rows, _ in meanings[short:])])
        places = distinct(sought)
        return few.labels[places], found[places]

    def _reaching(
        self,
        meanings: Mapping[str, Posting],
        common: frozenset[str],
        sought: Collection[str],
        bar: float,
    ) -> tuple[Rows, Scores]:
        """The labels with a word that is sought that reach the bar, and what they have of it.

        They may lack the common words for it, which are not looked at.
        """
        missing, roots = sum(map(len, common)), self._roots
        board, touched = self.rows.base.label_scores, list[Rows]()
        found = board.take(len(roots))
        for rows, characters in (meanings[word] for word in meanings if word not in common):
            found[rows] += characters
            touched.append(rows)
        any_sought = common and not common.isdisjoint(sought)
        looked_at = touched if any_sought else [meanings[word].rows for word in sought]
        if sum(map(len, looked_at)) * FEW > len(roots):
            labels = (found + missing >= bar * roots.every).nonzero()[0]
        else:
            rows = np.concatenate([NOTHING, *looked_at])
            labels = distinct(rows[found[rows] + missing >= bar * roots.of(rows)])
        reached = found[labels]
        board.give_back(found, touched)
        return labels, reached

    def _meaning(self, word: str) -> Posting:
        """The labels that have what a word stands for, with how many of its characters; cached."""
        if (known := self._meanings.get(word)) is not None:
            return known
        labels = self._words.meaning(word)
        return self._meanings.add(word, labels, len(labels.rows))

    def _meaning_in(self, few: FewLabels, word: str) -> Posting:
        """The same among few labels, by their places."""
        if (known := few.meanings.get(word)) is not None:
            return known
        labels = _part(self._meaning(word), few.labels)
        return few.meanings.add(word, labels, len(labels.rows))

    def _few_labels(self, exclude: NameFilter) -> FewLabels | None:
        """The labels that a filter leaves; None if they are many."""
        visible = self.rows.visible(exclude)
        if visible.rows is None or visible.mask is None:
            return None
        if (few := self._few.get(exclude)) is None:
            labels = np.flatnonzero(visible.mask[self._docs.every])
            meanings = RecentWords[Posting](len(labels))
            few = self._few[exclude] = FewLabels(labels, self._roots.of(labels), meanings)
        return few

    def _id_of(self, row: int) -> str:
        """The id of a document; "" if it is gone."""
        return "" if row < len(self.rows.base) and self.rows.is_gone[row] else self.rows.id_of(row)

    @cached_property
    def _last(self) -> list[tuple[tuple[Sequence[str], int | None, NameFilter], Ranking]]:
        return []

    @cached_property
    def _docs(self) -> RowColumn[np.int32 | np.intp]:
        """The document of each label."""
        base, overlay = self.rows.base, self.rows.overlay
        ids = (key.rpartition(KEY_SEPARATOR)[0] for key in overlay.labels.keys)
        docs = [overlay.terms.row_of.get(id, 0) + len(base) for id in ids]
        return RowColumn(base.label_docs, np.array(docs, np.int32))

    @cached_property
    def _meanings(self) -> RecentWords[Posting]:
        return RecentWords(len(self._docs))

    @cached_property
    def _postings(self) -> OverlaidPostings:
        base, overlay = self.rows.base, self.rows.overlay
        gone = NOTHING if not overlay.gone.size else _labels_of(base.label_docs, self.rows.is_gone)
        return OverlaidPostings(base.labels, gone, overlay.labels.postings, len(base.label_docs))

    @cached_property
    def _words(self) -> LabelWords:
        return LabelWords(self._postings, self.rows.base.label_meanings)

    @cached_property
    def _lengths(self) -> RowColumn[np.int32]:
        return RowColumn(self.rows.base.label_lengths, self.rows.overlay.labels.lengths)

    @cached_property
    def _roots(self) -> RowColumn[np.float64]:
        """The root of each label's length; that of the base is made once."""
        return RowColumn(self.rows.base.label_roots, label_roots(self._lengths.added))

    @cached_property
    def _longest_label(self) -> int:
        """Of those that are gone, too: a bound is enough."""
        return max(
            self.rows.base.longest_label, int(self.rows.overlay.labels.lengths.max(initial=0))
        )


def _common(meanings: Mapping[str, Posting], needed: float) -> frozenset[str]:
    """Words that very many labels have: together fewer characters than a label needs at least.

    None that is a part of another word: both may be found in one word of a label.
    """
    long = [word for word, each in meanings.items() if len(each.rows) > LONG]
    apart = [word for word in long if not any(_overlap(word, each) for each in meanings)]
    most_first = sorted(apart, key=lambda word: -len(meanings[word].rows))
    sums = accumulate(map(len, most_first))
    return frozenset(word for word, total in zip(most_first, sums, strict=True) if total < needed)


def _overlap(word: str, other: str) -> bool:
    return word != other and (word in other or other in word)


def _part(posting: Posting, rows: Rows) -> Posting:
    """What a posting says of these rows, by their places."""
    places, part = posting_of(posting, rows)
    return Posting(places, part.weights)


def _added_up(meanings: Iterable[Posting], count: int) -> Scores:
    """The characters that so many labels have of all words."""
    found = np.zeros(count)
    for rows, characters in meanings:
        found[rows] += characters
    return found


def _labels_of(label_docs: Rows, docs: NDArray[np.bool_]) -> Rows:
    """The labels of the documents that are marked."""
    return np.flatnonzero(docs[label_docs]).astype(np.int32)
