"""What earlier use adds to a ranking: a small share of the score that is there already."""

from collections.abc import Mapping

from toolcrib.model import Match, Ranking


def raised(ranking: Ranking, shares: Mapping[str, float]) -> Ranking:
    """The ranking with some scores raised by their share, best first, ties by id.

    What is not in the ranking stays out: a share of nothing is nothing.
    """
    if not shares:
        return ranking
    scored = [Match(id, score + score * shares.get(id, 0.0)) for id, score in ranking]
    return sorted(scored, key=lambda match: (-match.score, match.id))
