"""Several rankings that take turns, so that each need is covered early."""

from collections.abc import Sequence
from itertools import zip_longest

from toolcrib.model import Match, Ranking


def interleave(rankings: Sequence[Ranking]) -> Ranking:
    """The best of each in turn, then the second best of each, and on; each id once.

    Its score is the best that any of them gives it. So scores may rise on the way down: the
    rankings say how well each fits what it was ranked for, not which need comes first.
    """
    scores: dict[str, float] = {}
    for id, score in (match for ranking in rankings for match in ranking):
        scores[id] = max(score, scores.get(id, score))
    turns = (match for turn in zip_longest(*rankings) for match in turn if match)
    return [Match(id, scores[id]) for id in dict.fromkeys(match.id for match in turns)]
