"""How alike a query and a label are: the sense of the `like` arm, the same for every engine.

A label is a capability's name, a title or a tag. Each word of the query stands for the words of
labels that are equal to it; that contain it ("file" for "filesystem"), the less the longer they
are; or, if no label has such a word, that are a typo away ("serach" for "search"). Then

    likeness = √(share of the label's characters found · share of the query's characters found)

is 1 for a label quoted in full and small for a long question that happens to have one word of it.
Below `LEAST_LIKENESS` the arm keeps silent: it speaks when a query looks like a name.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import sqrt

from toolcrib.model import Match, Ranking
from toolcrib.text.nearest import typos

LEAST_LIKENESS = 0.65
SHORTEST_PART = 3
SHORTEST_TYPO = 4
CONTAINED = 0.6
MISSPELT = 0.7


def stands_for(
    word: str, *, known: bool, containing: Iterable[str], alike: Sequence[str]
) -> Mapping[str, float]:
    """The words of labels that a query's word stands for, each with its weight up to 1.

    `known`: labels have the word itself. `containing`: those that have it as a part.
    `alike`: the words among which to look for typos.
    """
    weights = {other: CONTAINED * len(word) / len(other) for other in containing if other != word}
    if known:
        weights[word] = 1.0
    if not weights and len(word) >= SHORTEST_TYPO:
        weights = dict.fromkeys(typos(word, alike), MISSPELT)
    return weights


def may_be_part(word: str) -> bool:
    """Whether a word is long enough to be looked for inside others."""
    return len(word) >= SHORTEST_PART


def likeness(found: float, label_characters: float, query_characters: float) -> float:
    """The formula above, with as many characters found in the label as in the query."""
    return found / sqrt(label_characters * query_characters)


def by_likeness(
    labels: Iterable[tuple[str, float]], *, limit: int | None, exclude: Collection[str]
) -> Ranking:
    """From an id and a likeness for each label to a ranking of ids, each by its best label."""
    best: dict[str, float] = {}
    for id, likeness in labels:
        if likeness >= LEAST_LIKENESS:
            best[id] = max(best.get(id, 0.0), likeness)
    ranked = sorted((-score, id) for id, score in best.items() if id not in exclude)
    return [Match(id, -score) for score, id in ranked[:limit]]


def longest_in_reach(query_characters: int) -> float:
    """The most characters a label may have if all of the query is to be enough of it."""
    return query_characters / LEAST_LIKENESS**2


def hopeless(query_characters: int, longest_label: float) -> bool:
    """Whether a query is so long that no label can reach the least likeness."""
    return longest_label < query_characters * LEAST_LIKENESS**2
