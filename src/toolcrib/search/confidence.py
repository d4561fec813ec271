"""How sure an answer is: the chance that something among its hits is what was asked for.

    chance = σ(a·share + b·cosine + c)

`share` is how much of the query the best hit has in words, `cosine` how near it is in meaning.
The constants were fitted to queries that have an answer and to queries that have none, English and
Chinese, each set counted alike, by `python -m benchmarks.confidence`, which also draws the curve.
"""

from collections.abc import Iterable, Mapping
from math import exp
from typing import NamedTuple

from toolcrib.index.protocol import Arm
from toolcrib.model import Confidence, Ranking

HIGH, MEDIUM, LOW = 0.9, 0.6, 0.2
"""From which chance on an answer is that sure. Below the last nothing fits.

At 0.2 fewer than one in a hundred questions that have an answer go without (mean of the sets).
"""


class Fit(NamedTuple):
    """The constants a, b and c."""

    share: float
    cosine: float
    base: float


BY_BOTH = Fit(7.27, 10.46, -4.57)
BY_WORDS = Fit(16.79, 0.0, -1.18)
"""Without vectors, or with those of another model: its cosines are on another scale."""


class Evidence(NamedTuple):
    """What speaks for a hit. `cosine` is None where no vector was asked."""

    share: float
    cosine: float | None


def evidence(said: Iterable[Mapping[Arm, Ranking]], id: str) -> Evidence:
    """What the arms said of a hit, by the variant that was best for it."""
    every = list(said)
    share = max((_score(each, "bm25", id) for each in every), default=0.0)
    cosines = [_score(each, "vector", id) for each in every if each.get("vector")]
    return Evidence(share, max(cosines, default=None))


def chance(seen: Evidence, *, cosines: bool) -> float:
    """The chance that an answer fits whose best hit has this evidence.

    `cosines`: whether the vector arm's scores are of the model that the fit is for.
    """
    fit, cosine = (BY_BOTH, seen.cosine) if cosines and seen.cosine is not None else (BY_WORDS, 0.0)
    return 1 / (1 + exp(-(fit.share * seen.share + fit.cosine * cosine + fit.base)))


def confidence(chance: float) -> Confidence:
    """The word for a chance."""
    if chance >= HIGH:
        return "high"
    if chance >= MEDIUM:
        return "medium"
    return "low" if chance >= LOW else "none"


def _score(said: Mapping[Arm, Ranking], arm: Arm, id: str) -> float:
    return next((match.score for match in said.get(arm, ()) if match.id == id), 0.0)
