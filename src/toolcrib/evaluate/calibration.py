"""Whether search is sure when it is right: the chance that it said, against what came of it.

A query counts as right if one of the first five is relevant; a query that nothing fits never does.
What an abstaining search held back counts as if it had been shown: its chance was said of that.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import EvalFound
from toolcrib.evaluate.measures import counted

SHOWN = 5
BINS = 10


class Forecast(NamedTuple):
    """The chance that was said of one answer, and whether it was right."""

    chance: float
    right: bool


class ReliabilityBin(NamedTuple):
    """Answers of about the same chance: how many, the mean chance, and the share that was right."""

    size: int
    predicted: float
    observed: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The bins that have answers in them, from unsure to sure.

    `error` is the expected calibration error: the mean distance between predicted and observed,
    each bin by its size; None where there was no answer at all.
    """

    bins: Sequence[ReliabilityBin]

    @property
    def size(self) -> int:
        """How many answers there are."""
        return sum(each.size for each in self.bins)

    @property
    def error(self) -> float | None:
        """See above."""
        if not self.bins:
            return None
        apart = (each.size * abs(each.predicted - each.observed) for each in self.bins)
        return sum(apart) / self.size


def forecasts(
    cases: Iterable[EvalCase], found: Mapping[str, EvalFound]
) -> Iterable[tuple[EvalCase, Forecast]]:
    """What was said of each case, and whether it was right."""
    for case in cases:
        ranked, nearest, chance = found[case.id]
        first = counted(case, nearest or ranked)[:SHOWN]
        yield case, Forecast(chance, not set(case.relevant).isdisjoint(first))


def reliability(some: Iterable[Forecast], bins: int = BINS) -> Reliability:
    """Gather forecasts into bins of equal width over 0 to 1."""
    every: dict[int, list[Forecast]] = {}
    for each in some:
        every.setdefault(min(int(each.chance * bins), bins - 1), []).append(each)
    return Reliability([_bin(every[place]) for place in sorted(every)])


def _bin(some: Sequence[Forecast]) -> ReliabilityBin:
    return ReliabilityBin(
        len(some), fmean(each.chance for each in some), fmean(each.right for each in some)
    )
