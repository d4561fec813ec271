"""Fusion by z-scores: how far each ranking puts a candidate above the mean of all candidates.

    z(d) = (score(d) - mean) / deviation, over all candidates
    score(d) = Σ_ranking weight · z(d) + bonus(d)

A ranking is what one arm found for one variant. Ranks forget how sure an arm was: a first place by
a hair counts like one by a mile. Z-scores keep it, and an arm that sees no difference between the
candidates adds nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from typing import NamedTuple

from toolcrib.index import Arm
from toolcrib.model import Ranking
from toolcrib.search.rankings import rank_by_score

FULL_SHARE = 0.05
"""The share of a query that the best document must have for bm25 to count in full.

Below it the words are in another language than the tools, or they miss the subject.
"""

ArmRankings = Mapping[Arm, Ranking]


class WeightedRanking(NamedTuple):
    """A ranking that one arm gave for one variant, and how much it counts."""

    arm: Arm
    weight: float
    ranking: Ranking


def weighted_rankings(
    variants: Sequence[tuple[float, ArmRankings]], weights: Mapping[Arm, float]
) -> list[WeightedRanking]:
    """The rankings of every arm for every variant, with their weights; arm by arm.

    `variants` are the weight of each variant and what the arms found for it, `weights` those of
    the arms. The variants of an arm share its weight, by their own weights and by trust.
    """
    return [each for arm in weights for each in _of_arm(arm, weights[arm], variants)]


def fuse_zscores(
    rankings: Sequence[WeightedRanking], bonus: Mapping[str, float], *, depth: int | None
) -> Ranking:
    """The formula above, for all that a ranking or the bonus has; best first, ties by id.

    `depth` is how many an arm gives at most: what a full ranking does not have may score as much
    as its last, what a shorter one does not have scores nothing.
    """
    ids = _candidates(rankings, bonus)
    scores = [0.0] * len(ids)
    known: Ranking | None = None
    zscores: Mapping[str, float] = {}
    for _, weight, ranking in rankings:
        if ranking is not known:  # two wordings may have found the same
            known, zscores = ranking, _of_ranking(ranking, ids, depth)
        scores = [
            score + weight * zscore for score, zscore in zip(scores, zscores.values(), strict=True)
        ]
    scored = dict(zip(ids, scores, strict=True))
    return rank_by_score(scored | {id: scored[id] + worth for id, worth in bonus.items()})


def arm_contributions(
    id: str, rankings: Sequence[WeightedRanking], bonus: Mapping[str, float], *, depth: int | None
) -> Mapping[str, float]:
    """What each arm adds to the score of one candidate, and "name" what its bonus does.

    Empty for what is no candidate. The sum is its score.
    """
    ids = _candidates(rankings, bonus)
    if id not in ids:
        return {}
    parts: dict[str, float] = {}
    for arm, weight, ranking in rankings:
        zscore = _of_ranking(ranking, ids, depth)[id]
        parts[arm] = parts.get(arm, 0.0) + weight * zscore
    return {**parts, "name": bonus.get(id, 0.0)}


def _candidates(rankings: Iterable[WeightedRanking], bonus: Iterable[str]) -> Sequence[str]:
    """All that are ranked or have a bonus, once each."""
    return list(dict.fromkeys([*(id for each in rankings for id, _ in each.ranking), *bonus]))


def _of_arm(
    arm: Arm, weight: float, variants: Sequence[tuple[float, ArmRankings]]
) -> list[WeightedRanking]:
    """The arm's rankings. Together they weigh as much as its most trusted variant allows."""
    found = [(part, arms[arm]) for part, arms in variants if arms.get(arm)]
    trusts = [_trust(arm, ranking) for _, ranking in found]
    total = sum(part * trust for (part, _), trust in zip(found, trusts, strict=True))
    unit = weight * max(trusts, default=0.0) / total if total else 0.0
    return [
        WeightedRanking(arm, unit * part * trust, ranking)
        for (part, ranking), trust in zip(found, trusts, strict=True)
        if unit
    ]


def _trust(arm: Arm, ranking: Ranking) -> float:
    """From 0 to 1: less than 1 if the best match has too few of the words to be relied on."""
    return min(1.0, ranking[0].score / FULL_SHARE) if arm == "bm25" else 1.0


def zscores(scores: Mapping[str, float]) -> Mapping[str, float]:
    """By how many standard deviations each is above the mean of all; 0 where all are the same."""
    return dict(zip(scores, _standardized([*scores.values()]), strict=True))


def _of_ranking(ranking: Ranking, ids: Sequence[str], depth: int | None) -> Mapping[str, float]:
    """The z-scores of these ids by a ranking, in their order; one for all that it does not have."""
    unranked = ranking[-1].score if ranking and len(ranking) == depth else 0.0
    ranked, others = [score for _, score in ranking], len(ids) - len(ranking)
    *of_ranked, of_others = _standardized([*ranked, unranked], others)
    known = dict.fromkeys(ids, of_others)
    known.update(zip([id for id, _ in ranking], of_ranked, strict=True))
    return known


def _standardized(scores: Sequence[float], times: int = 1) -> Sequence[float]:
    """The z-score of each among all of these, of which the last is there so many times."""
    if not scores:
        return ()
    *single, last = scores
    count = (len(single) + times) or 1
    mean = fsum([*single, *[last] * times]) / count
    above = [score - mean for score in scores]
    squares = [each * each for each in above]
    deviation = sqrt(fsum([*squares[:-1], *[squares[-1]] * times]) / count) or 1.0
    return [each / deviation for each in above]
