"""What words stand for in the labels of a memory index: the rows of the labels that have it.

What a word stands for in the labels of a base is remembered with the base, and all overlays over it
share that: after a change only what was added is looked up anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from toolcrib.index.fuzzy_match import SHORTEST_TYPO, Vocabulary, may_be_part, stands_for
from toolcrib.index.memory.postings import OverlaidPostings, Posting, Rows
from toolcrib.text import edits_of

MOST_WORDS = 4096
FEWEST_ROWS, LABELS_REMEMBERED = 1 << 16, 4
"""Words are remembered with so many labels at most, or so many times all labels: 16 bytes each."""

NOTHING: Rows = np.zeros(0, np.intp)
NO_NUMBERS = np.zeros(0)

Meaning = TypeVar("Meaning")


class StoredMeaning(NamedTuple):
    """The words of a base's labels that a word stands for, but for typos; and those labels."""

    words: Sequence[str]
    labels: Posting


class RecentWords(dict[str, Meaning]):
    """What the last words mean, as far as they have not too many labels together."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self._most = max(FEWEST_ROWS, LABELS_REMEMBERED * labels)
        self._rows = 0

    def add(self, word: str, meaning: Meaning, rows: int) -> Meaning:
        """Remember a word that has so many labels, in place of all others if they are too many."""
        if self._rows + rows > self._most or len(self) >= MOST_WORDS:
            self.clear()
            self._rows = 0
        self[word] = meaning
        self._rows += rows
        return meaning


@dataclass(frozen=True)
class LabelWords:
    """The words of all labels, over postings with an overlay. `stored` is what the base knows."""

    postings: OverlaidPostings
    stored: RecentWords[StoredMeaning]

    def meaning(self, word: str) -> Posting:
        """The labels that have what a word stands for, with how many of its characters."""
        stored, added = self._stored(word), self._added_meanings(word)
        if not added:
            known = any(map(self.postings.count, stored.words))
            return stored.labels if known else self._misspelt(word)
        first, postings = self.postings.first, self.postings.added
        parts = [(postings[each].rows + first, share * len(word)) for each, share in added.items()]
        rows, characters = _most_of(parts)
        return Posting(
            np.concatenate([stored.labels.rows, rows]),
            np.concatenate([stored.labels.weights, characters]),
        )

    def _stored(self, word: str) -> StoredMeaning:
        if (known := self.stored.get(word)) is not None:
            return known
        packed = self.postings.packed
        containing = packed.words.containing(word) if may_be_part(word) else ()
        others = stands_for(word, exact=word in packed.words, containing=containing, alike=())
        labels = _most_of(
            [
                (packed[packed.words.number(other)].rows, share * len(word))
                for other, share in others.items()
            ]
        )
        return self.stored.add(word, StoredMeaning(list(others), labels), len(labels.rows))

    def _added_meanings(self, word: str) -> Mapping[str, float]:
        """The words that were added that this one stands for, but for typos."""
        if not self.postings.added:
            return {}
        containing = self._added.containing(word) if may_be_part(word) else ()
        return stands_for(word, exact=word in self.postings.added, containing=containing, alike=())

    def _misspelt(self, word: str) -> Posting:
        """The labels with a word that is a typo away, of those short and long enough."""
        if len(word) < SHORTEST_TYPO:
            return Posting(NOTHING, NO_NUMBERS)
        near, edits = self.postings.packed.words.near(word), edits_of(word)
        left = [other for other in near if self.postings.count(other)]
        lengths = range(len(word) - edits, len(word) + edits + 1)
        added = [other for length in lengths for other in self._added.of_length(length)]
        alike = sorted({*left, *added}, key=lambda other: (len(other), other))
        others = stands_for(word, exact=False, containing=(), alike=alike)
        return _most_of(
            [
                (part.rows, share * len(word))
                for other, share in others.items()
                for part in self.postings.parts(other)
            ]
        )

    @cached_property
    def _added(self) -> Vocabulary:
        return Vocabulary(sorted(self.postings.added))


def _most_of(parts: Sequence[tuple[Rows, float]]) -> Posting:
    """The rows of all parts, ascending, each with the largest number of its parts.

    In 64 bits: numpy counts by those alone, others it converts each time.
    """
    if not parts:
        return Posting(NOTHING, NO_NUMBERS)
    if len(parts) == 1:
        [(rows, number)] = parts
        return Posting(rows.astype(np.intp), np.full(len(rows), number))
    rows = np.concatenate([rows for rows, _ in parts], dtype=np.intp)
    numbers = np.repeat([number for _, number in parts], [len(rows) for rows, _ in parts])
    order = rows.argsort(kind="stable")  # nearly in order: every part is
    rows, numbers = rows[order], numbers[order]
    is_first = np.empty(len(rows), np.bool_)
    is_first[:1] = True
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    if is_first.all():
        return Posting(rows, numbers)
    starts = is_first.nonzero()[0]
    return Posting(rows[starts], np.maximum.reduceat(numbers, starts))
