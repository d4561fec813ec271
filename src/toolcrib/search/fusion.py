"""From what the arms said of every wording to one ranking, by the fusion that is set.

lifts   by how far each arm lifts a candidate above the others; see `lifts`
rrf     by ranks alone, in two levels; see `fuse`
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from toolcrib.index.protocol import Arm
from toolcrib.model import Match, Ranking, Variant
from toolcrib.search.fuse import fuse_arms, fuse_variants
from toolcrib.search.lifts import Said, Voice, fuse_voices, lifted, voices
from toolcrib.search.rules import Rules

Lifts = Mapping[str, float]

NAME_LIFT = 10.0
"""What a name given verbatim is worth in lifts: more than all arms together."""
HALVED_BY = 8.0
"""By how many lifts below the best a score is half of it.

So a cut at the ratio of two costs half a point of R@5 in the mean of the development sets.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """What one variant came to: each arm's ranking and the bonus, and how they are to be fused."""

    variant: Variant
    arms: Mapping[Arm, Ranking]
    bonus: Mapping[str, float]
    rules: Rules
    depth: int | None

    @property
    def fused(self) -> Ranking:
        """The fusion of this variant alone. Worked out when asked for: by lifts only `why` does."""
        return fuse_step(self.arms, self.bonus, self.rules, self.depth)


def fuse_step(said: Said, bonus: Mapping[str, float], rules: Rules, depth: int | None) -> Ranking:
    """What one variant comes to."""
    match rules.fusion:
        case "zscore":
            return fuse_voices(_voices([(1.0, said)], rules), _in_lifts(bonus), depth=depth)
        case "rrf":
            return fuse_arms(said.values(), bonus)


def fuse_steps(steps: Sequence[Step], rules: Rules, depth: int | None) -> Ranking:
    """What all of them come to."""
    match rules.fusion:
        case "zscore":
            return fuse_voices(*_heard(steps, rules), depth=depth)
        case "rrf":
            return fuse_variants((step.variant.weight, step.fused) for step in steps)


def lifts_of(id: str, steps: Sequence[Step], rules: Rules, depth: int | None) -> Lifts:
    """What each arm and the name add to the score of one candidate; nothing by `rrf`."""
    if rules.fusion == "rrf":
        return {}
    return lifted(id, *_heard(steps, rules), depth=depth)


def graded(ranking: Ranking, chance: float, rules: Rules) -> Ranking:
    """The ranking with scores that compare across queries: the best has the chance that it fits.

    Scores of `rrf` stay as the formula made them.
    """
    if rules.fusion == "rrf" or not ranking:
        return ranking
    best = ranking[0].score
    return [Match(id, chance * 2 ** ((score - best) / HALVED_BY)) for id, score in ranking]


def _heard(steps: Sequence[Step], rules: Rules) -> tuple[Sequence[Voice], Lifts]:
    """The voices of all steps, and the bonus, in lifts."""
    said = [(step.variant.weight, step.arms) for step in steps]
    bonus = {id: worth for step in steps for id, worth in step.bonus.items()}
    return _voices(said, rules), _in_lifts(bonus)


def _voices(said: Sequence[tuple[float, Said]], rules: Rules) -> Sequence[Voice]:
    arms = rules.arms
    return voices(said, {"like": arms.like, "bm25": arms.bm25, "vector": arms.vector})


def _in_lifts(bonus: Mapping[str, float]) -> Lifts:
    return {id: NAME_LIFT * worth for id, worth in bonus.items()}
