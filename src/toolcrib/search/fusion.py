"""From the rankings of every arm and variant to one ranking, by the fusion that is set.

zscore   by how far each arm puts a candidate above the others; see `zscore`
rrf      by ranks alone, in two levels; see `rrf`
keywords by fixed points, which stand in the bonus: there are no arms; see `keywords`
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolcrib.index import Arm
from toolcrib.model import Ranking, Variant, matches
from toolcrib.search.rrf import rrf_arms, rrf_pulls, rrf_variants
from toolcrib.search.rules import SearchRules
from toolcrib.search.zscore import (
    ArmRankings,
    WeightedRanking,
    arm_contributions,
    fuse_zscores,
    weighted_rankings,
)

Contributions = Mapping[str, float]
"""By arm, and "name": what each adds to a score."""

NAME_ZSCORE = 10.0
"""What a name given verbatim is worth in standard deviations: more than all arms together."""
HALVING_DISTANCE = 8.0
"""A score so many standard deviations below the best is half of it.

At eight, a cut at the ratio of two costs half a point of R@5 in the mean of the development sets.
"""


@dataclass(frozen=True, slots=True)
class VariantTrace:
    """What was found for one variant: each arm's ranking, the bonus, and how to fuse them."""

    variant: Variant
    arms: Mapping[Arm, Ranking]
    bonus: Mapping[str, float]
    rules: SearchRules
    depth: int | None

    @property
    def fused(self) -> Ranking:
        """The fusion of this variant alone. By z-scores only an explanation needs it."""
        return fuse_variant(self.arms, self.bonus, self.rules, self.depth)


def fuse_variant(
    arms: ArmRankings, bonus: Mapping[str, float], rules: SearchRules, depth: int | None
) -> Ranking:
    """One ranking for one variant."""
    if rules.fusion == "zscore":
        return fuse_zscores(_weighted([(1.0, arms)], rules), _in_zscores(bonus), depth=depth)
    return rrf_arms(arms.values(), bonus)  # by keywords there are no arms: it is the bonus


def fuse_all(steps: Sequence[VariantTrace], rules: SearchRules, depth: int | None) -> Ranking:
    """One ranking for all variants."""
    match rules.fusion:
        case "zscore":
            return fuse_zscores(*_all_rankings(steps, rules), depth=depth)
        case "rrf":
            return rrf_variants((step.variant.weight, step.fused) for step in steps)
        case "keywords":
            return steps[0].fused  # of the one wording


def contributions_of(
    id: str, steps: Sequence[VariantTrace], rules: SearchRules, depth: int | None
) -> Contributions:
    """What each arm and the name add to the score of one candidate; nothing by `rrf`."""
    if rules.fusion == "rrf":
        return {}
    return arm_contributions(id, *_all_rankings(steps, rules), depth=depth)


def reciprocal_ranks_of(id: str, steps: Sequence[VariantTrace]) -> Contributions:
    """What each arm and the name pull by `rrf`: reciprocal ranks, by the weights of the variants.

    No sum of these is the score: that is made of the ranks which each variant fused them to.
    """
    pulls: dict[str, float] = {}
    for step in steps:
        for arm, pull in rrf_pulls(id, step.arms, step.bonus).items():
            pulls[arm] = pulls.get(arm, 0.0) + step.variant.weight * pull
    return pulls


def calibrated(ranking: Ranking, chance: float, rules: SearchRules) -> Ranking:
    """The ranking with scores that compare across queries: the best has the chance that it fits.

    Scores of `rrf` stay as the formula made them.
    """
    if rules.fusion == "rrf" or not ranking:
        return ranking
    best = ranking[0].score
    return matches(
        [(id, chance * 2 ** ((score - best) / HALVING_DISTANCE)) for id, score in ranking]
    )


def _all_rankings(
    steps: Sequence[VariantTrace], rules: SearchRules
) -> tuple[Sequence[WeightedRanking], Contributions]:
    """The weighted rankings of all steps, and the bonus in standard deviations."""
    variants = [(step.variant.weight, step.arms) for step in steps]
    bonus = {id: worth for step in steps for id, worth in step.bonus.items()}
    return _weighted(variants, rules), _in_zscores(bonus)


def _weighted(
    variants: Sequence[tuple[float, ArmRankings]], rules: SearchRules
) -> Sequence[WeightedRanking]:
    arms = rules.arms
    weights: Mapping[Arm, float] = {"like": arms.like, "bm25": arms.bm25, "vector": arms.vector}
    return weighted_rankings(variants, weights)


def _in_zscores(bonus: Mapping[str, float]) -> Contributions:
    return {id: NAME_ZSCORE * worth for id, worth in bonus.items()}
