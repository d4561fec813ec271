"""Rows of terms and the postings over them: unchanging, changed by copy.

A change makes a new segment that shares with the old one whatever it did not touch, so a search
that holds the old one is never disturbed and one changed row costs one row.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.postings import Postings, Terms, build, changed


class Row(NamedTuple):
    """A row to be: its key, its terms with their weights, its length in whatever unit."""

    key: str
    terms: Terms
    length: float


@dataclass(frozen=True)
class Segment:
    """`keys[row]` is the key of a row and "" where the row is free; free rows have length 0."""

    keys: Sequence[str]
    lengths: NDArray[np.float64]
    postings: Postings

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "Segment":
        """A segment of these rows, in their order. Keys are unique."""
        return cls(
            keys=[row.key for row in rows],
            lengths=np.array([row.length for row in rows]),
            postings=build((number, row.terms) for number, row in enumerate(rows)),
        )

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each key."""
        return {key: row for row, key in enumerate(self.keys) if key}

    def changed(self, gone: Iterable[Row], new: Sequence[Row]) -> "Segment":
        """The segment without some of its rows and with others, in the rows that are free."""
        leaving = {self.row_of[row.key]: row for row in gone}
        coming = dict(zip(self._free(leaving), new, strict=False))
        size = max(len(self.keys), *(number + 1 for number in coming)) if coming else len(self.keys)
        keys = [*self.keys, *[""] * (size - len(self.keys))]
        lengths = np.concatenate([self.lengths, np.zeros(size - len(self.keys))])
        for number in leaving:
            keys[number], lengths[number] = "", 0.0
        for number, row in coming.items():
            keys[number], lengths[number] = row.key, row.length
        return Segment(keys, lengths, changed(self.postings, _terms(leaving), _terms(coming)))

    def _free(self, leaving: Iterable[int]) -> Iterator[int]:
        already = (row for row, key in enumerate(self.keys) if not key)
        return chain(leaving, already, count(len(self.keys)))


def _terms(rows: Mapping[int, Row]) -> Mapping[int, Terms]:
    return {number: row.terms for number, row in rows.items()}
