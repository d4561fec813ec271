"""Where a ranking ends: below a drop in the scores, or below half of the best."""

from itertools import pairwise

from toolcrib.model import Ranking

BAND_SHARE = 0.5
"""The share of the best score that `top_band` asks for."""


def autocut(ranking: Ranking, *, ratio: float) -> Ranking:
    """Everything above the first place where a score is more than `ratio` times the next one."""
    for place, (above, below) in enumerate(pairwise(ranking), 1):
        if above.score > ratio * below.score:
            return ranking[:place]
    return ranking


def top_band(ranking: Ranking) -> Ranking:
    """Everything that has at least `BAND_SHARE` of the best score."""
    return [match for match in ranking if match.score >= BAND_SHARE * ranking[0].score]
