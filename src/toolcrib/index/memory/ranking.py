"""From scores by row to a ranking."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from toolcrib.model import Match, NameFilter, Ranking


def leave_out(scores: NDArray[np.float64], row_of: Mapping[str, int], exclude: NameFilter) -> None:
    """Let the rows of what is excluded score nothing."""
    rows = [row for id in exclude.names if (row := row_of.get(id)) is not None]
    kept = scores[rows]
    scores[slice(None) if exclude.inverted else rows] = 0.0
    if exclude.inverted:
        scores[rows] = kept


def rank_rows(ids: Sequence[str], scores: NDArray[np.float64], limit: int | None) -> Ranking:
    """The rows that score above zero, best first, ties by id, at most `limit`."""
    best = _best(scores, limit)
    rows: list[int] = best.tolist()
    by_rank = sorted(zip((-scores[best]).tolist(), (ids[row] for row in rows), strict=True))
    return [Match(id, -score) for score, id in by_rank[:limit]]


def _best(scores: NDArray[np.float64], limit: int | None) -> NDArray[np.intp]:
    """The rows of the `limit` highest scores above zero, and all that tie with the last of them.

    Only rows above zero are partitioned: numpy's partition is slow on arrays full of equal values.
    """
    rows = np.flatnonzero(scores > 0)
    if limit is None or len(rows) <= limit:
        return rows
    candidates = scores[rows]
    floor = np.partition(candidates, len(rows) - limit)[len(rows) - limit] if limit else np.inf
    return rows[candidates >= floor]
