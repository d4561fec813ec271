"""Two results of the same cases, side by side: which cases got better, and which worse."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import EvalResult
from toolcrib.evaluate.measures import need_ranks


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What became of a case: the rank of each relevant tool, None where it was not found.

    `gain` is 1 for the best there can be and 0 for the worst: the mean of 1 by the rank, the
    largest where any is enough; of a case that nothing fits, whether it was left empty.
    """

    ranks: Mapping[str, int | None]
    ranked: Sequence[str]
    gain: float


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case that two results do not answer equally well."""

    case: EvalCase
    before: CaseOutcome
    after: CaseOutcome

    @property
    def better(self) -> bool:
        """Whether the second result is the better one."""
        return self.after.gain > self.before.gain


def outcome(case: EvalCase, ranked: Sequence[str]) -> CaseOutcome:
    """What became of a case that got this ranking."""
    ranks = need_ranks(case, ranked)
    shares = [1 / rank if rank else 0.0 for rank in ranks.values()]
    if not shares:
        return CaseOutcome(ranks, ranked, float(not ranked))
    return CaseOutcome(ranks, ranked, max(shares) if case.relevance == "any" else fmean(shares))


def compare(
    cases: Iterable[EvalCase], before: EvalResult, after: EvalResult
) -> Sequence[CaseChange]:
    """The cases that differ, the worst loss first and the best gain last."""
    every = (
        CaseChange(case, *(outcome(case, each.found[case.id].ranked) for each in (before, after)))
        for case in cases
    )
    differ = [each for each in every if each.before.gain != each.after.gain]
    return sorted(differ, key=lambda each: each.after.gain - each.before.gain)
