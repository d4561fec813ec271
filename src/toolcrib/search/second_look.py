"""The second look: the first matches, put in order by how well they answer every word.

    score(d) = fused(d) + weight · z(look(d)) - missing · z(missing(d))

The arms find the right tool nearly always and often put it in the wrong place: one word outvotes
the rest. So the first matches are looked at again, word by word (`toolcrib.index`, late
interaction), and both scores are summed in standard deviations.
"""

from collections.abc import Mapping
from math import sqrt
from statistics import fmean

from toolcrib.index import Look
from toolcrib.model import Match, Ranking

LOOKED_AT = 50
"""So many of the first matches are looked at again."""
LOOK, MISSING = 1.2, 0.0
"""How much the look counts beside the arms, and how much its worst answered word counts."""


def look_again(fused: Ranking, looks: Mapping[str, Look]) -> Ranking:
    """The ranking in the order of both; what was not looked at follows as it was."""
    if not looks:
        return fused
    first, rest = fused[:LOOKED_AT], fused[LOOKED_AT:]
    lifts = look_lifts(looks)
    scored = [Match(id, score + lifts.get(id, 0.0)) for id, score in first]
    ordered = sorted(scored, key=lambda match: (-match.score, match.id))
    lowest = ordered[-1].score
    return [*ordered, *(Match(id, min(score, lowest)) for id, score in rest)]


def look_lifts(looks: Mapping[str, Look]) -> Mapping[str, float]:
    """What the second look adds to each score."""
    scores = _zscores({id: look.score for id, look in looks.items()})
    lacks = _zscores({id: look.missing for id, look in looks.items()})
    return {id: LOOK * scores[id] - MISSING * lacks[id] for id in looks}


def _zscores(values: Mapping[str, float]) -> Mapping[str, float]:
    mean = fmean(values.values())
    deviation = sqrt(fmean((value - mean) ** 2 for value in values.values())) or 1.0
    return {id: (value - mean) / deviation for id, value in values.items()}
