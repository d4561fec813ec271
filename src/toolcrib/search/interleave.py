"""Several rankings that take turns, so that each need is covered early."""

from collections.abc import Sequence
from itertools import zip_longest

from toolcrib.model import Match, Ranking


def interleave(rankings: Sequence[Ranking]) -> Ranking:
    """The best of each in turn, then the second best of each, and on; each id once.

    The scores stay those of the place they were taken from, but never rise on the way down: a
    ranking is best first.
    """
    taken: dict[str, float] = {}
    lowest = float("inf")
    for each in (match for turn in zip_longest(*rankings) for match in turn if match):
        if each.id not in taken:
            lowest = min(lowest, each.score)
            taken[each.id] = lowest
    return [Match(id, score) for id, score in taken.items()]
