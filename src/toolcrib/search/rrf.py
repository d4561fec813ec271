"""Reciprocal rank fusion (RRF), in two levels: over the arms of a variant, then over the variants.

    score(d) = Σ_ranking weight / (K + rank(d))

Ranks count from 1; what a ranking does not have adds nothing. RRF looks at ranks alone: it needs no
comparable scores, but it forgets how sure an arm was. Fusion by z-scores (`zscore`) keeps that and
is the default. RRF stays selectable (`search.fusion = "rrf"`), and benchmarks compare with it.
"""

from collections.abc import Iterable, Mapping

from toolcrib.index import Arm
from toolcrib.model import Ranking
from toolcrib.search.rankings import rank_by_score

K = 60
"""As in the paper that introduced RRF (Cormack, Clarke and Büttcher, 2009)."""


def rrf_arms(rankings: Iterable[Ranking], bonus: Mapping[str, float]) -> Ranking:
    """score(d) = Σ_arm 1/(K + rank_arm(d)) + bonus(d), for all that an arm or the bonus has.

    Best first, ties by id.
    """
    scores = dict(bonus)
    for ranking in rankings:
        _add(scores, ranking, 1.0)
    return rank_by_score(scores)


def rrf_pulls(
    id: str, rankings: Mapping[Arm, Ranking], bonus: Mapping[str, float]
) -> Mapping[str, float]:
    """1/(K + rank) by arm, for one candidate, and "name" for its bonus; 0 where it is not."""
    pulls: dict[str, float] = dict.fromkeys(rankings, 0.0)
    for arm, ranking in rankings.items():
        places = (rank for rank, match in enumerate(ranking, 1) if match.id == id)
        pulls[arm] = next((1 / (K + rank) for rank in places), 0.0)
    return {**pulls, "name": bonus.get(id, 0.0)}


def rrf_variants(rankings: Iterable[tuple[float, Ranking]]) -> Ranking:
    """score(d) = Σ_variant weight/(K + rank_variant(d)). Best first, ties by id."""
    scores: dict[str, float] = {}
    for weight, ranking in rankings:
        _add(scores, ranking, weight)
    return rank_by_score(scores)


def _add(scores: dict[str, float], ranking: Ranking, weight: float) -> None:
    for rank, (id, _) in enumerate(ranking, 1):
        scores[id] = scores.get(id, 0.0) + weight / (K + rank)
