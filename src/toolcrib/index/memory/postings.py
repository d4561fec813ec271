"""Which rows have a term, and how much of it: arrays by term, changed by copy."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rows: TypeAlias = NDArray[np.intp]
Weights: TypeAlias = NDArray[np.float64]
Terms: TypeAlias = Mapping[str, float]


class Posting(NamedTuple):
    """The rows that have a term, ascending, and each row's weight for it."""

    rows: Rows
    weights: Weights


Postings: TypeAlias = dict[str, Posting]


def build(documents: Iterable[tuple[int, Terms]]) -> Postings:
    """Postings of whole documents. Rows come in ascending order."""
    rows: dict[str, list[int]] = {}
    weights: dict[str, list[float]] = {}
    for row, terms in documents:
        for term, weight in terms.items():
            rows.setdefault(term, []).append(row)
            weights.setdefault(term, []).append(weight)
    return {term: Posting(np.array(rows[term]), np.array(weights[term])) for term in rows}


def changed(postings: Postings, gone: Mapping[int, Terms], new: Mapping[int, Terms]) -> Postings:
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
    kept = posting.rows != row
    return Posting(posting.rows[kept], posting.weights[kept])


def _with(posting: Posting | None, row: int, weight: float) -> Posting:
    if posting is None:
        return Posting(np.array([row]), np.array([weight]))
    at = int(np.searchsorted(posting.rows, row))
    return Posting(np.insert(posting.rows, at, row), np.insert(posting.weights, at, weight))
