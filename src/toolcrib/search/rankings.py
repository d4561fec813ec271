"""What is done to a ranking: order by score, boost, interleave, cut.

`autocut` ends it below a drop in the scores, `top_band` below a share of the best score.
`boosted` adds what earlier use has taught, a small share of a score that is there already.
`interleave` makes one ranking of several, so that each part of a task is covered early.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise, zip_longest

from toolcrib.model import Match, Ranking, matches

BAND_SHARE = 0.5
"""The share of the best score that `top_band` asks for."""
FIRST_PLACES = 0.5
"""The k of the reciprocal ranks by which rankings are interleaved: so small that they take turns.

At 1 and 2 the parts of short tasks lose a point and more: their tools are in one ranking alone.
"""


def rank_by_score(scores: Mapping[str, float]) -> Ranking:
    """Best first, ties by id."""
    best_first = sorted([(-score, id) for id, score in scores.items()])
    return matches([(id, -negative) for negative, id in best_first])


def boosted(ranking: Ranking, shares: Mapping[str, float]) -> Ranking:
    """The ranking with some scores raised by their share, best first, ties by id.

    What is not in the ranking stays out: a share of nothing is nothing.
    """
    if not shares:
        return ranking
    scored = [Match(id, score + score * shares.get(id, 0.0)) for id, score in ranking]
    return sorted(scored, key=lambda match: (-match.score, match.id))


def interleave(rankings: Sequence[Ranking], weights: Sequence[float]) -> Ranking:
    """The best of each first; then the rest, by how high and how often they are ranked; once each.

    Of the best, the one with the highest score comes before all others.
    Its score is the best that any of them gives it. So scores may rise on the way down: the
    rankings say how well each fits what it was ranked for, not which need comes first.
    """
    scores: dict[str, float] = {}
    worth: dict[str, float] = {}
    for weight, ranking in zip(weights, rankings, strict=True):
        for place, (id, score) in enumerate(ranking, 1):
            scores[id] = max(score, scores.get(id, score))
            worth[id] = worth.get(id, 0.0) + weight / (FIRST_PLACES + place)
    pairs = zip(weights, rankings, strict=True)
    tops = [(weight * ranking[0].score, ranking[0].id) for weight, ranking in pairs if ranking]
    first = max(tops, key=lambda top: top[0], default=(0.0, ""))[1]
    best = {id for _, id in tops}
    turns = (match.id for turn in zip_longest(*rankings) for match in turn if match)
    ordered = sorted(dict.fromkeys(turns), key=lambda id: (id != first, id not in best, -worth[id]))
    return [Match(id, scores[id]) for id in ordered]


def autocut(ranking: Ranking, *, ratio: float) -> Ranking:
    """Everything above the first place where a score is more than `ratio` times the next one."""
    for place, (above, below) in enumerate(pairwise(ranking), 1):
        if above.score > ratio * below.score:
            return ranking[:place]
    return ranking


def top_band(ranking: Ranking) -> Ranking:
    """Everything that has at least `BAND_SHARE` of the best score."""
    return [match for match in ranking if match.score >= BAND_SHARE * ranking[0].score]
