"""Fusion by z-scores: how far each ranking puts a candidate above the mean of all candidates.

    z(d) = (score(d) - mean) / deviation, over all candidates
    score(d) = Σ_ranking weight · z(d) + bonus(d)

A ranking is what one arm found for one variant. Ranks forget how sure an arm was: a first place by
a hair counts like one by a mile. Z-scores keep it, and an arm that sees no difference between the
candidates adds nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from toolcrib.index import Arm
from toolcrib.model import Ranking
from toolcrib.search.rankings import rank_by_score

FULL_SHARE = 0.05
"""The share of a query that the best document must have for its words to be trusted in full.

Below it they are in another language than the tools, or beside the point.
"""

ArmRankings = Mapping[Arm, Ranking]


class WeightedRanking(NamedTuple):
    """A ranking of an arm and how much it counts."""

    arm: Arm
    weight: float
    ranking: Ranking


def weighted_rankings(
    said: Iterable[tuple[float, ArmRankings]], weights: Mapping[Arm, float]
) -> list[WeightedRanking]:
    """The voices of what each variant's arms said; variants come with their weights.

    An arm is as loud as its surest variant lets it be; its variants share that by weight and trust.
    """
    variants = list(said)
    return [voice for arm in weights for voice in _of_arm(arm, weights[arm], variants)]


def fuse_zscores(
    some: Sequence[WeightedRanking], bonus: Mapping[str, float], *, depth: int | None
) -> Ranking:
    """The formula above, for all that a voice or the bonus knows; best first, ties by id.

    `depth` is how many an arm gives at most: what a full ranking does not have may score as much
    as its last, what a shorter one does not have scores nothing.
    """
    scores = dict.fromkeys(_candidates(some, bonus), 0.0)
    for _, weight, ranking in some:
        for id, lift in _zscores(ranking, scores, depth).items():
            scores[id] += weight * lift
    return rank_by_score({id: score + bonus.get(id, 0.0) for id, score in scores.items()})


def arm_contributions(
    id: str, some: Sequence[WeightedRanking], bonus: Mapping[str, float], *, depth: int | None
) -> Mapping[str, float]:
    """What each arm adds to the score of one candidate, and "name" what its bonus does.

    Empty for what is no candidate. The sum is its score.
    """
    ids = _candidates(some, bonus)
    if id not in ids:
        return {}
    parts: dict[str, float] = {}
    for arm, weight, ranking in some:
        lift = _zscores(ranking, ids, depth).get(id, 0.0)
        parts[arm] = parts.get(arm, 0.0) + weight * lift
    return {**parts, "name": bonus.get(id, 0.0)}


def _candidates(some: Iterable[WeightedRanking], bonus: Iterable[str]) -> Mapping[str, None]:
    return dict.fromkeys([*(match.id for voice in some for match in voice.ranking), *bonus])


def _of_arm(
    arm: Arm, weight: float, variants: Sequence[tuple[float, ArmRankings]]
) -> list[WeightedRanking]:
    heard = [(part, said[arm]) for part, said in variants if said.get(arm)]
    trusts = [_trust(arm, ranking) for _, ranking in heard]
    total = sum(part * trust for (part, _), trust in zip(heard, trusts, strict=True))
    loud = weight * max(trusts, default=0.0) / total if total else 0.0
    pairs = zip(heard, trusts, strict=True)
    return [
        WeightedRanking(arm, loud * part * trust, ranking)
        for (part, ranking), trust in pairs
        if loud
    ]


def _trust(arm: Arm, ranking: Ranking) -> float:
    return min(1.0, ranking[0].score / FULL_SHARE) if arm == "bm25" else 1.0


def _zscores(ranking: Ranking, ids: Iterable[str], depth: int | None) -> Mapping[str, float]:
    """By how many deviations each of the ids is above the mean of them all."""
    known = dict(ranking)
    unknown = ranking[-1].score if ranking and len(ranking) == depth else 0.0
    scores = {id: known.get(id, unknown) for id in ids}
    mean = fmean(scores.values()) if scores else 0.0
    deviation = sqrt(fmean((score - mean) ** 2 for score in scores.values())) if scores else 0.0
    return {id: (score - mean) / deviation for id, score in scores.items()} if deviation else {}
