"""Postings in arrays: which rows have a word, and with what weight.

`PackedPostings` are never changed; they may lie in a mapped file. What came since is an *overlay*:
rows that are gone, and rows that were added behind the last one. `OverlaidPostings` are both
together, and say what postings made anew would say.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.packed_words import PackedWords

Rows: TypeAlias = NDArray[np.int32 | np.intp]
Weights: TypeAlias = NDArray[Any]

FEW = 16
"""Below one in so many, rows are looked up one by one; above, all are looked at."""


class Posting(NamedTuple):
    """The rows that have a word, ascending, and each row's weight for it."""

    rows: Rows
    weights: Weights


def posting_of(posting: Posting, rows: Rows) -> tuple[NDArray[np.intp], Posting]:
    """What a posting says of these rows, ascending: which of them it has, by place, and that part.

    Takes the time of the rows, however many the posting has.
    """
    having, weights = posting
    if not having.size:
        return np.zeros(0, np.intp), posting
    at = having.searchsorted(rows)
    at[at == len(having)] = 0
    places = (having[at] == rows).nonzero()[0]
    at = at[places]
    return places, Posting(having[at], weights[at])


class WordRows(NamedTuple):
    """Pairs of a word and a row that has it, each pair once: `words` are numbers of `spelt`."""

    spelt: Sequence[str]
    words: NDArray[np.int32]
    rows: Rows
    weights: Weights


@dataclass(frozen=True)
class PackedPostings:
    """The postings of word n are from `starts[n]` to `starts[n + 1]`."""

    words: PackedWords
    starts: NDArray[np.int64]
    rows: Rows
    weights: Weights

    @classmethod
    def of(cls, *some: WordRows) -> "PackedPostings":
        """Of pairs in any order. A word without a row is left out."""
        spelt = sorted({word for each in some for word in each.spelt})
        number = {word: n for n, word in enumerate(spelt)}
        ranks = [np.array([number[word] for word in each.spelt], np.int64) for each in some]
        words = np.concatenate([rank[each.words] for rank, each in zip(ranks, some, strict=True)])
        rows = np.concatenate([each.rows for each in some])
        weights = smallest(np.concatenate([each.weights for each in some]))
        order = np.argsort((words << 32) | rows)
        counts = np.bincount(words, minlength=len(spelt))
        kept = [word for word, count in zip(spelt, counts.tolist(), strict=True) if count]
        starts = np.concatenate([[0], np.cumsum(counts[counts > 0])]).astype(np.int64)
        return cls(PackedWords.of(kept), starts, rows[order], weights[order])

    def __getitem__(self, number: int) -> Posting:
        start, end = self._start[number], self._start[number + 1]
        return Posting(self.rows[start:end], self.weights[start:end])

    def pairs(self) -> WordRows:
        """All of it, as pairs."""
        words = np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.starts))
        return WordRows(self.words, words, self.rows, self.weights)

    def having(self, rows: NDArray[np.bool_], words: range) -> NDArray[np.int64]:
        """How many of these rows each of some words has, words that stand one after another."""
        first, last = self.starts[words.start], self.starts[words.stop]
        marked = rows[self.rows[first:last]]
        starts = self.starts[words.start : words.stop] - first
        return np.add.reduceat(marked, starts, dtype=np.int64) if len(starts) else starts

    @cached_property
    def _start(self) -> memoryview:
        return self.starts.data

    @cached_property
    def most_had(self) -> Sequence[int]:
        """The numbers of the words, those of most rows first."""
        return np.argsort(-np.diff(self.starts), kind="stable").tolist()


def smallest(weights: Weights) -> Weights:
    """The same numbers in 16 bits, if they are whole and small enough, and in 32 if not."""
    small = weights.astype(np.uint16)
    return small if np.array_equal(small, weights) else weights.astype(np.float32)


@dataclass(frozen=True)
class OverlaidPostings:
    """Packed postings without the rows `gone`, ascending, and with those that were `added`.

    The row r of what was added is row `first` + r of the whole.
    """

    packed: PackedPostings
    gone: Rows
    added: Mapping[str, Posting]
    first: int

    def parts(self, word: str) -> Sequence[Posting]:
        """The postings of a word, packed and added; rows that are gone may be among them."""
        number, added = self.packed.words.number(word), self.added.get(word)
        parts = [self.packed[number]] if number >= 0 else []
        return [*parts, Posting(added.rows + self.first, added.weights)] if added else parts

    def count(self, word: str) -> int:
        """How many rows have a word."""
        number = self.packed.words.number(word)
        packed = self._left(number) if number >= 0 else 0
        return packed + (len(added.rows) if (added := self.added.get(word)) else 0)

    def most(self) -> int:
        """How many rows have the word that most have; 0 if there is no word."""
        new = max((self.count(word) for word in self.added), default=0)
        for number in self.packed.most_had:
            if len(self.packed[number].rows) <= new:
                break
            new = max(new, self.count(self.packed.words[number]))
        return new

    def lost(self, words: range) -> frozenset[str]:
        """Those of the packed words with these numbers that no row has any more."""
        if not self.gone.size or not words:
            return frozenset()
        counts = np.diff(self.packed.starts[words.start : words.stop + 1])
        none_left = np.flatnonzero(self.packed.having(self.is_gone, words) == counts)
        lost = (self.packed.words[words.start + number] for number in none_left.tolist())
        return frozenset(word for word in lost if word not in self.added)

    @cached_property
    def is_gone(self) -> NDArray[np.bool_]:
        """Whether a packed row is gone."""
        mask = np.zeros(self.first, np.bool_)
        mask[self.gone] = True
        return mask

    def _left(self, number: int) -> int:
        rows = self.packed[number].rows
        if not self.gone.size:
            return len(rows)
        if self.gone.size * FEW > rows.size:
            return len(rows) - int(np.count_nonzero(self.is_gone[rows]))
        at = np.searchsorted(rows, self.gone)
        return len(rows) - int(np.count_nonzero(rows[np.minimum(at, rows.size - 1)] == self.gone))
