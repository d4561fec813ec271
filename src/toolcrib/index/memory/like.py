"""The `like` arm in memory: one row a label, found by the words it has."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.fuzzy_match import (
    LEAST_LIKENESS,
    Vocabulary,
    by_likeness,
    hopeless,
    likeness,
    may_be_part,
    stands_for,
)
from toolcrib.index.memory.base import label_roots
from toolcrib.index.memory.overlay import KEY_SEPARATOR
from toolcrib.index.memory.postings import FEW, OverlaidPostings, Posting, Rows
from toolcrib.index.memory.ranking import ScoreBoard
from toolcrib.index.memory.rows import SnapshotRows
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant
from toolcrib.text import MOST_EDITS

MOST_REMEMBERED = 4096


@dataclass(frozen=True)
class LabelWords:
    """The words of all labels, as `Vocabulary` has them, over postings with an overlay."""

    postings: OverlaidPostings

    def stands_for(self, word: str) -> Mapping[str, float]:
        """The words that this one stands for, each with its weight up to 1."""
        exact = self.postings.count(word) > 0
        containing = [*self.containing(word)] if may_be_part(word) else []
        alike = () if exact or containing else self._near_length(len(word))
        return stands_for(word, exact=exact, containing=containing, alike=alike)

    def containing(self, part: str) -> Iterator[str]:
        """The words that have this part, those that were added last."""
        packed = self.postings.packed.words
        stored = (packed[number] for number in packed.containing(part))
        yield from (word for word in stored if word not in self._lost)
        yield from self._added.containing(part)

    def _near_length(self, length: int) -> Sequence[str]:
        """The words that are short and long enough to be a typo of one this long."""
        near = range(length - MOST_EDITS, length + MOST_EDITS + 1)
        return [word for each in near for word in self._with_length(each)]

    def _with_length(self, length: int) -> Sequence[str]:
        packed, added = self.postings.packed.words.of_length(length), self._added.of_length(length)
        if not added and not self._lost:
            return packed
        return sorted({*packed, *added} - self._lost)

    @cached_property
    def _lost(self) -> frozenset[str]:
        return self.postings.lost(range(len(self.postings.packed.words)))

    @cached_property
    def _added(self) -> Vocabulary:
        return Vocabulary(sorted(self.postings.added))


@dataclass(frozen=True)
class Like:
    """The rows of the base's labels come first, then those of the overlay's."""

    rows: SnapshotRows
    _meanings: dict[str, Posting] = field(default_factory=dict[str, Posting])

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        """The capabilities with a label like the query, by the likeness of their best label."""
        words = dict.fromkeys(variant.words)
        characters = sum(map(len, words))
        if not characters or hopeless(characters, self._longest_label):
            return []
        labels = zip(*self._found(words, characters), strict=True)
        alike = (
            (id, likeness(some, self._lengths[label], characters))
            for label, some in labels
            if (id := self._id_of(label))
        )
        return by_likeness(alike, limit=limit, exclude=exclude)

    def _found(
        self, words: Collection[str], characters: int
    ) -> tuple[Sequence[int], Sequence[float]]:
        """The labels in which enough of the query is found, and how many characters of it."""
        bar, needed = (LEAST_LIKENESS - 1e-9) * sqrt(characters), LEAST_LIKENESS**2 * characters
        with self._board.clean() as (found, touched):
            for word in sorted(words, key=len):
                rows, weights = self._meaning(word)
                found[rows] += weights
                touched.append(rows)
            # What has only the short words, which together are too few characters, is not alike.
            short = accumulate(sorted(map(len, words)))
            sought = touched[sum(length < needed - 1e-9 for length in short) :]
            labels = self._enough(found, sought, bar)
            return labels.tolist(), found[labels].tolist()

    def _enough(
        self, found: NDArray[np.float64], sought: Sequence[Rows], bar: float
    ) -> NDArray[np.integer]:
        """Those of the labels in which enough is found; all are looked at if these are many."""
        roots = self._roots
        if sum(map(len, sought)) * FEW > len(roots):
            return np.flatnonzero(found >= bar * roots)
        enough = [rows[found[rows] >= bar * roots[rows]] for rows in sought]
        return np.unique(np.concatenate(enough))

    def _meaning(self, word: str) -> Posting:
        """The labels that have what a word stands for, with how many of its characters; cached."""
        if (meaning := self._meanings.get(word)) is None:
            if len(self._meanings) >= MOST_REMEMBERED:
                self._meanings.clear()
            meaning = self._merged(word, self._words.stands_for(word))
            self._meanings[word] = meaning
        return meaning

    def _merged(self, word: str, meanings: Mapping[str, float]) -> Posting:
        """The rows of all that a word stands for, each with the most that it has of it."""
        found = [
            (part.rows, weight * len(word))
            for other, weight in meanings.items()
            for part in self._postings.parts(other)
        ]
        with self._board.clean() as (best, touched):
            for rows, characters in found:
                best[rows] = np.maximum(best[rows], characters)
                touched.append(rows)
            every = np.unique(np.concatenate([*touched, np.zeros(0, np.int32)]))
            return Posting(every.astype(np.intp), best[every])

    def _id_of(self, label: int) -> str:
        """Whose label it is; "" if that is gone."""
        base = self.rows.base
        if label >= len(base.label_docs):
            key = self.rows.overlay.labels.keys[label - len(base.label_docs)]
            return key.rpartition(KEY_SEPARATOR)[0]
        row = int(base.label_docs[label])
        return "" if self.rows.is_gone[row] else base.ids[row]

    @cached_property
    def _postings(self) -> OverlaidPostings:
        base, overlay = self.rows.base, self.rows.overlay
        gone = NOTHING if not overlay.gone.size else _labels_of(base.label_docs, self.rows.is_gone)
        return OverlaidPostings(base.labels, gone, overlay.labels.postings, len(base.label_docs))

    @cached_property
    def _words(self) -> LabelWords:
        return LabelWords(self._postings)

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        base, added = self.rows.base.label_lengths, self.rows.overlay.labels.lengths
        return np.concatenate([base, added]) if added.size else base

    @cached_property
    def _roots(self) -> NDArray[np.float64]:
        """The root of each label's length; that of the base is made once."""
        added = self.rows.overlay.labels.lengths
        roots = self.rows.base.label_roots
        return np.concatenate([roots, label_roots(added)]) if added.size else roots

    @cached_property
    def _longest_label(self) -> int:
        """Of those that are gone, too: a bound is enough."""
        return max(
            self.rows.base.longest_label, int(self.rows.overlay.labels.lengths.max(initial=0))
        )

    @cached_property
    def _board(self) -> ScoreBoard:
        return ScoreBoard(len(self._lengths))


NOTHING: Rows = np.zeros(0, np.int32)


def _labels_of(label_docs: Rows, docs: NDArray[np.bool_]) -> Rows:
    """The labels of the documents that are marked."""
    return np.flatnonzero(docs[label_docs]).astype(np.int32)
