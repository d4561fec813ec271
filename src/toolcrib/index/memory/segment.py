"""An inverted index of a few rows that change one by one: what was added to a base.

It is never changed in place. A change makes a new segment that shares with the old one whatever it
did not touch: a search that holds the old one is not disturbed, and one changed row costs one row.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.postings import Posting

N = TypeVar("N", bound=np.number[Any])
Terms: TypeAlias = Mapping[str, float]
Postings: TypeAlias = dict[str, Posting]


def build_postings(documents: Iterable[tuple[int, Terms]]) -> Postings:
    """Postings of whole documents. Rows come in ascending order."""
    rows: dict[str, list[int]] = {}
    weights: dict[str, list[float]] = {}
    for row, terms in documents:
        for term, weight in terms.items():
            rows.setdefault(term, []).append(row)
            weights.setdefault(term, []).append(weight)
    return {term: _posting(rows[term], weights[term]) for term in rows}


def changed_postings(
    postings: Postings, gone: Mapping[int, Terms], new: Mapping[int, Terms]
) -> Postings:
    """The postings with some rows taken out and others put in; untouched terms are shared."""
    result = dict(postings)
    for row, terms in gone.items():
        for term in terms:
            _set(result, term, _without(result[term], row))
    for row, terms in new.items():
        for term, weight in terms.items():
            _set(result, term, _with(result.get(term), row, weight))
    return result


def _set(postings: Postings, term: str, posting: Posting) -> None:
    if posting.rows.size:
        postings[term] = posting
    else:
        del postings[term]


def _without(posting: Posting, row: int) -> Posting:
    others = posting.rows != row
    return Posting(posting.rows[others], posting.weights[others])


def _with(posting: Posting | None, row: int, weight: float) -> Posting:
    if posting is None:
        return _posting([row], [weight])
    at = int(posting.rows.searchsorted(row))
    return Posting(_inserted(posting.rows, at, row), _inserted(posting.weights, at, weight))


def _inserted(values: NDArray[N], at: int, value: float) -> NDArray[N]:
    """The values with one more; `np.insert` takes ten times as long."""
    result = np.empty(len(values) + 1, values.dtype)
    result[:at], result[at], result[at + 1 :] = values[:at], value, values[at:]
    return result


def _posting(rows: list[int], weights: list[float]) -> Posting:
    return Posting(np.array(rows, np.int32), np.array(weights, np.float32))


class SegmentRow(NamedTuple):
    """A row to insert: its key, its terms with their weights, its length in any unit."""

    key: str
    terms: Terms
    length: int


@dataclass(frozen=True)
class Segment:
    """`keys[row]` is the key of a row and "" where the row is free; free rows have length 0."""

    keys: Sequence[str]
    lengths: NDArray[np.int32]
    postings: Postings

    @classmethod
    def of(cls, rows: Sequence[SegmentRow]) -> "Segment":
        """A segment of these rows, in their order. Keys are unique."""
        return cls(
            keys=[row.key for row in rows],
            lengths=np.array([row.length for row in rows], np.int32),
            postings=build_postings((number, row.terms) for number, row in enumerate(rows)),
        )

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each key."""
        return {key: row for row, key in enumerate(self.keys) if key}

    def changed(self, gone: Iterable[SegmentRow], new: Sequence[SegmentRow]) -> "Segment":
        """The segment without some of its rows and with others, in the rows that are free."""
        leaving = {self.row_of[row.key]: row for row in gone}
        coming = dict(zip(self._free(leaving), new, strict=False))
        size = max(len(self.keys), *(number + 1 for number in coming)) if coming else len(self.keys)
        keys = [*self.keys, *[""] * (size - len(self.keys))]
        lengths = np.concatenate([self.lengths, np.zeros(size - len(self.keys), np.int32)])
        for number in leaving:
            keys[number], lengths[number] = "", 0
        for number, row in coming.items():
            keys[number], lengths[number] = row.key, row.length
        return Segment(
            keys, lengths, changed_postings(self.postings, _terms(leaving), _terms(coming))
        )

    def _free(self, leaving: Iterable[int]) -> Iterator[int]:
        already = (row for row, key in enumerate(self.keys) if not key)
        return chain(leaving, already, count(len(self.keys)))


def _terms(rows: Mapping[int, SegmentRow]) -> Mapping[int, Terms]:
    return {number: row.terms for number, row in rows.items()}
