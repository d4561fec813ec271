"""Many rankings into one, by two levels of Reciprocal Rank Fusion.

Ranks count from 1; what a ranking does not have adds nothing.
"""

from collections.abc import Iterable, Mapping

from toolcrib.model import Match, Ranking

K = 60
"""As in the paper that introduced RRF (Cormack, Clarke and Büttcher, 2009)."""


def fuse_arms(rankings: Iterable[Ranking], bonus: Mapping[str, float]) -> Ranking:
    """score(d) = Σ_arm 1/(k + rank_arm(d)) + bonus(d), for all that an arm or the bonus knows."""
    scores = dict(bonus)
    for ranking in rankings:
        _add(scores, ranking, 1.0)
    return ranked(scores)


def fuse_variants(rankings: Iterable[tuple[float, Ranking]]) -> Ranking:
    """score(d) = Σ_variant weight/(k + rank_variant(d))."""
    scores: dict[str, float] = {}
    for weight, ranking in rankings:
        _add(scores, ranking, weight)
    return ranked(scores)


def _add(scores: dict[str, float], ranking: Ranking, weight: float) -> None:
    for rank, (id, _) in enumerate(ranking, 1):
        scores[id] = scores.get(id, 0.0) + weight / (K + rank)


def ranked(scores: Mapping[str, float]) -> Ranking:
    """Best first, ties by id."""
    return [Match(id, score) for id, score in sorted(scores.items(), key=_best_first)]


def _best_first(scored: tuple[str, float]) -> tuple[float, str]:
    return -scored[1], scored[0]
