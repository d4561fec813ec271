"""Many rankings into one by how far each lets a candidate stand out from the others.

    lift_arm(d) = (score_arm(d) - mean) / deviation, over all candidates of the variant

Ranks forget how sure an arm was: a first place by a hair counts like one by a mile. Lifts keep it,
and an arm that sees no difference between the candidates has nothing to say.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean

from toolcrib.model import Ranking
from toolcrib.search.fuse import ranked


def fuse_arms(
    rankings: Sequence[tuple[float, Ranking]], bonus: Mapping[str, float], *, depth: int | None
) -> Ranking:
    """score(d) = Σ_arm weight·lift_arm(d) + bonus(d), for all that an arm or the bonus knows.

    `depth` is how many an arm gives at most: what a full ranking does not have may score as much
    as its last, what a shorter one does not have scores nothing.
    """
    scores = dict.fromkeys((match.id for _, ranking in rankings for match in ranking), 0.0)
    scores |= dict.fromkeys(bonus, 0.0)
    for weight, ranking in rankings:
        for id, lift in _lifts(ranking, scores, depth).items():
            scores[id] += weight * lift
    return ranked({id: score + bonus.get(id, 0.0) for id, score in scores.items()})


def fuse_variants(rankings: Sequence[tuple[float, Ranking]]) -> Ranking:
    """score(d) = Σ_variant weight·score_variant(d) / Σ weight; unknown to one: its lowest score."""
    total = sum(weight for weight, _ in rankings)
    scores = dict.fromkeys((match.id for _, ranking in rankings for match in ranking), 0.0)
    for weight, ranking in rankings:
        known, lowest = dict(ranking), ranking[-1].score if ranking else 0.0
        for id in scores:
            scores[id] += weight / total * known.get(id, lowest)
    return ranked(scores)


def _lifts(ranking: Ranking, ids: Mapping[str, float], depth: int | None) -> Mapping[str, float]:
    """By how many deviations each of the ids is above the mean of them all."""
    known = dict(ranking)
    unknown = ranking[-1].score if ranking and len(ranking) == depth else 0.0
    scores = {id: known.get(id, unknown) for id in ids}
    mean = fmean(scores.values()) if scores else 0.0
    deviation = sqrt(fmean((score - mean) ** 2 for score in scores.values())) if scores else 0.0
    return {id: (score - mean) / deviation for id, score in scores.items()} if deviation else {}
