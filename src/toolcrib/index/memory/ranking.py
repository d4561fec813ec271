"""From scores by row to a ranking, and the room in which scores are added up."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from threading import local

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.postings import Rows
from toolcrib.model import Match, Ranking

Scores = NDArray[np.float64]


def rank_rows(
    id_of: Callable[[int], str], rows: NDArray[np.integer], scores: Scores, limit: int | None
) -> Ranking:
    """The rows that score above zero, best first, ties by id, at most `limit`.

    `scores` has one for each of the rows.
    """
    best = _best(scores, limit)
    ids = map(id_of, rows[best].tolist())
    by_rank = sorted(zip((-scores[best]).tolist(), ids, strict=True))
    return [Match(id, -score) for score, id in by_rank[:limit]]


def lowest_of_best(scores: Scores, limit: int) -> float:
    """The score of the last of the `limit` best; there are at least as many."""
    return float(np.partition(scores, len(scores) - limit)[len(scores) - limit])


def _best(scores: Scores, limit: int | None) -> NDArray[np.intp]:
    """The places of the `limit` highest scores above zero, and of all that tie with the last.

    Only those above zero are partitioned: numpy's partition is slow on arrays full of equal values.
    """
    places = np.flatnonzero(scores > 0)
    if limit is None or len(places) <= limit:
        return places
    candidates = scores[places]
    floor = lowest_of_best(candidates, limit) if limit else np.inf
    return places[candidates >= floor]


class ScoreBoard(local):
    """Zeros to add scores up in, one for each row and thread: what a lookup touches, it cleans."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._scores: Scores | None = None

    @contextmanager
    def clean(self) -> Generator[tuple[Scores, list[Rows]]]:
        """The zeros, and a list for the rows that are touched."""
        scores, self._scores = self._scores, None  # who is interrupted leaves no dirty one
        scores = np.zeros(self._rows) if scores is None else scores
        touched: list[Rows] = []
        yield scores, touched
        _wipe(scores, touched)
        self._scores = scores


def _wipe(scores: Scores, touched: Iterable[Rows]) -> None:
    for rows in touched:
        scores[rows] = 0.0
