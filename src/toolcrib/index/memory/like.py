"""The `like` arm in memory: one row a label, found by the words it has."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.document import Document
from toolcrib.index.fuzzy_match import LEAST_LIKENESS, Vocabulary, by_likeness, hopeless, likeness
from toolcrib.index.memory.inverted_index import Posting, Segment, SegmentRow
from toolcrib.model import EXCLUDE_NOTHING, NameFilter, Ranking, Variant

SEPARATOR = "\n"
MOST_REMEMBERED = 4096


@dataclass(frozen=True)
class Like:
    """Keys are an id, a separator and the label's number; a row's length is in characters."""

    segment: Segment
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
        found = self._characters_found(words)
        rows = np.flatnonzero(found >= self._bar * sqrt(characters))
        lengths = self.segment.lengths[rows].tolist()
        ids = (self.segment.keys[row].partition(SEPARATOR)[0] for row in rows.tolist())
        parts = zip(ids, found[rows].tolist(), lengths, strict=True)
        alike = ((id, likeness(some, length, characters)) for id, some, length in parts)
        return by_likeness(alike, limit=limit, exclude=exclude)

    def _characters_found(self, words: Collection[str]) -> NDArray[np.float64]:
        """For each label, how many characters of the query's words are found in it."""
        found = np.zeros(len(self.segment.keys))
        for word in words:
            rows, weights = self._meaning(word)
            found[rows] += weights
        return found

    def _meaning(self, word: str) -> Posting:
        """The labels that have what a word stands for, with how many of its characters; cached."""
        if (meaning := self._meanings.get(word)) is None:
            if len(self._meanings) >= MOST_REMEMBERED:
                self._meanings.clear()
            meaning = self._merged(word, self._vocabulary.stands_for(word))
            self._meanings[word] = meaning
        return meaning

    def _merged(self, word: str, meanings: Mapping[str, float]) -> Posting:
        best = np.zeros(len(self.segment.keys))
        for other, weight in meanings.items():
            rows = self.segment.postings[other].rows
            best[rows] = np.maximum(best[rows], weight * len(word))
        rows = np.flatnonzero(best)
        return Posting(rows, best[rows])

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(sorted(self.segment.postings))

    @cached_property
    def _bar(self) -> NDArray[np.float64]:
        """The characters to find in a label, for a query of one character, less rounding."""
        return (LEAST_LIKENESS - 1e-9) * np.sqrt(np.maximum(self.segment.lengths, 1.0))

    @cached_property
    def _longest_label(self) -> float:
        return float(self.segment.lengths.max(initial=0.0))


def rows(document: Document) -> Iterator[SegmentRow]:
    """The rows of a document: one for each of its labels."""
    for number, label in enumerate(document.labels):
        key = f"{document.id}{SEPARATOR}{number}"
        yield SegmentRow(key, dict.fromkeys(label, 1.0), sum(map(len, label)))
