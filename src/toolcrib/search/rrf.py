"""Reciprocal rank fusion (RRF), in two levels: over the arms, then over the variants.

Ranks count from 1; what a ranking does not have adds nothing.
"""

from collections.abc import Iterable, Mapping

from toolcrib.model import Ranking
from toolcrib.search.rankings import rank_by_score

K = 60
"""As in the paper that introduced RRF (Cormack, Clarke and Büttcher, 2009)."""


def rrf_arms(rankings: Iterable[Ranking], bonus: Mapping[str, float]) -> Ranking:
    """score(d) = Σ_arm 1/(k + rank_arm(d)) + bonus(d), for all that an arm or the bonus knows."""
    scores = dict(bonus)
    for ranking in rankings:
        _add(scores, ranking, 1.0)
    return rank_by_score(scores)


def rrf_variants(rankings: Iterable[tuple[float, Ranking]]) -> Ranking:
    """score(d) = Σ_variant weight/(k + rank_variant(d))."""
    scores: dict[str, float] = {}
    for weight, ranking in rankings:
        _add(scores, ranking, weight)
    return rank_by_score(scores)


def _add(scores: dict[str, float], ranking: Ranking, weight: float) -> None:
    for rank, (id, _) in enumerate(ranking, 1):
        scores[id] = scores.get(id, 0.0) + weight / (K + rank)
