"""From scores by row to a ranking, and the room in which scores are added up."""

from collections.abc import Callable, Sequence
from threading import local

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.postings import FEW, Rows
from toolcrib.model import Ranking, matches

Scores = NDArray[np.float64]

SPARE = 16
"""One in so many rows may be added before a board is too small."""


def rank_rows(
    id_of: Callable[[int], str], rows: NDArray[np.integer], scores: Scores, limit: int | None
) -> Ranking:
    """Best first, ties by id, at most `limit`. `scores` has one for each of the rows."""
    if limit is not None and len(rows) > limit:
        best = scores >= (lowest_of_best(scores, limit) if limit else np.inf)
        rows, scores = rows[best], scores[best]
    by_rank = sorted(zip((-scores).tolist(), map(id_of, rows.tolist()), strict=True))
    return matches([(id, -score) for score, id in by_rank[:limit]])


def lowest_of_best(scores: Scores, limit: int) -> float:
    """The score of the last of the `limit` best; there are at least as many."""
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


class ScoreBoard(local):
    """Zeros to add scores up in, one for each row and thread: who has touched them cleans them.

    Snapshots over one base share it: to each it gives as many as that has rows.
    """

    def __init__(self) -> None:
        self._scores: Scores | None = None

    def take(self, rows: int) -> Scores:
        """So many zeros; until they are given back others get new ones, so none gets dirty ones."""
        scores, self._scores = self._scores, None
        if scores is None or len(scores) < rows:
            scores = np.zeros(rows + rows // SPARE)
        return scores[:rows]

    def give_back(self, scores: Scores, touched: Sequence[Rows]) -> None:
        """Put zeros where these rows were touched: everywhere, where that is less work."""
        if sum(map(len, touched)) * FEW > len(scores):
            scores.fill(0.0)
        else:
            for rows in touched:
                scores[rows] = 0.0
        self._scores = scores if scores.base is None else scores.base


def touched_rows(scores: Scores, touched: Sequence[Rows]) -> Rows:
    """The rows with a score, ascending: those that were touched, or of all where they are many."""
    if sum(map(len, touched)) * FEW > len(scores):
        return np.flatnonzero(scores).astype(np.int32)
    return distinct(np.concatenate(touched))


def distinct(rows: Rows) -> Rows:
    """Each row once, ascending. `np.unique` does the same, and loads masked arrays for it."""
    ordered = rows.copy()
    ordered.sort()
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]
