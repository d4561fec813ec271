"""How sure an answer is: the chance that something among its hits is what was asked for.

    chance = σ(slope · evidence + base)

The evidence is how near in meaning the nearest of all tools is; without vectors, what share of the
query some tool has in words. A tool that searches the web fits any question, if not well: with one
among the first hits an answer is never without them.

The constants were fitted to queries that have an answer and to queries that have none, English and
Chinese, each set counted alike, by `python -m benchmarks.confidence`, which also draws the curve.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import NamedTuple

from toolcrib.index.protocol import Arm
from toolcrib.model import Confidence, Ranking

HIGH, MEDIUM, LOW = 0.9, 0.6, 0.15
"""From which chance on an answer is that sure. Below the last nothing fits.

At 0.15 about one in a hundred questions that have an answer goes without, nearly all of them of
ToolLens, whose questions only hint at what they want.
"""
BROAD = "web search"
BROAD_COSINE = 0.44
"""How near to `BROAD` a tool has to be to search the web."""


class Fit(NamedTuple):
    """The constants of the formula."""

    slope: float
    base: float


BY_MEANING = Fit(16.79, -6.75)
BY_WORDS = Fit(17.57, -1.47)
"""Without vectors, or with those of another model: its cosines are on another scale."""


class Evidence(NamedTuple):
    """What speaks for the answer: the best share of the query, and the best cosine if there is."""

    share: float
    cosine: float | None


def evidence(said: Iterable[Mapping[Arm, Ranking]]) -> Evidence:
    """What the arms said at best, by any variant."""
    every = list(said)
    shares, cosines = _bests(every, "bm25"), _bests(every, "vector")
    return Evidence(max(shares, default=0.0), max(cosines, default=None))


def chance(seen: Evidence, *, cosines: bool) -> float:
    """The chance that an answer fits that has this evidence.

    `cosines`: whether the vector arm's scores are of the model that the fit is for. Words alone
    never speak against all that they have found: too many ways lead to the same thing.
    """
    if cosines and seen.cosine is not None:
        return _sigmoid(BY_MEANING, seen.cosine)
    return max(LOW, _sigmoid(BY_WORDS, seen.share))


def confidence(chance: float) -> Confidence:
    """The word for a chance."""
    if chance >= HIGH:
        return "high"
    if chance >= MEDIUM:
        return "medium"
    return "low" if chance >= LOW else "none"


def _sigmoid(fit: Fit, seen: float) -> float:
    return 1 / (1 + exp(-(fit.slope * seen + fit.base)))


def _bests(said: Sequence[Mapping[Arm, Ranking]], arm: Arm) -> list[float]:
    return [each[arm][0].score for each in said if each.get(arm)]
