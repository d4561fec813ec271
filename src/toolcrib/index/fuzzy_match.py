"""How alike a query and a label are: the formula of the `like` arm, the same for every engine.

A label is a capability's name, a title or a tag. Each word of the query stands for the words of
labels that are equal to it; that contain it ("file" for "filesystem"), the less the longer they
are; or, if no label has such a word, that are a typo away ("serach" for "search"): `Vocabulary`
finds these. Then

    likeness = √(share of the label's characters found · share of the query's characters found)

is 1 for a label quoted in full and small for a long question that happens to have one word of it.
Below `LEAST_LIKENESS` the arm returns nothing: it answers when a query looks like a name.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from math import sqrt

from toolcrib.model import NameFilter, Ranking, matches
from toolcrib.text import MOST_EDITS, typos

LEAST_LIKENESS = 0.65
SHORTEST_PART = 3
SHORTEST_TYPO = 4
CONTAINED = 0.6
MISSPELT = 0.7
WORD_SEPARATOR = "\n"


def stands_for(
    word: str, *, exact: bool, containing: Iterable[str], alike: Sequence[str]
) -> Mapping[str, float]:
    """The words of labels that a query's word stands for, each with its weight up to 1.

    `exact`: labels have the word itself. `containing`: those that have it as a part.
    `alike`: the words among which to look for typos.
    """
    weights = {other: CONTAINED * len(word) / len(other) for other in containing if other != word}
    if exact:
        weights[word] = 1.0
    if not weights and len(word) >= SHORTEST_TYPO:
        weights = dict.fromkeys(typos(word, alike), MISSPELT)
    return weights


def may_be_part(word: str) -> bool:
    """Whether a word is long enough to be looked for inside others."""
    return len(word) >= SHORTEST_PART


def likeness(found: float, label_characters: float, query_characters: float) -> float:
    """The formula above; `found` counts the characters found, in the label as in the query."""
    return found / sqrt(label_characters * query_characters)


def by_likeness(
    labels: Iterable[tuple[str, float]], *, limit: int | None, exclude: NameFilter
) -> Ranking:
    """From an id and a likeness for each label to a ranking of ids, each by its best label."""
    best: dict[str, float] = {}
    for id, likeness in labels:
        if likeness >= LEAST_LIKENESS:
            best[id] = max(best.get(id, 0.0), likeness)
    ranked = sorted((-score, id) for id, score in best.items() if id not in exclude)
    return matches([(id, -score) for score, id in ranked[:limit]])


def longest_in_reach(query_characters: int) -> float:
    """The most characters that a label may have to reach the least likeness with this query."""
    return query_characters / LEAST_LIKENESS**2


def hopeless(query_characters: int, longest_label: float) -> bool:
    """Whether a query is so long that no label can reach the least likeness."""
    return longest_label < query_characters * LEAST_LIKENESS**2


@dataclass(frozen=True)
class Vocabulary:
    """Different words, sorted. Each is at least one character and has no line break in it."""

    words: Sequence[str]

    def stands_for(self, word: str) -> Mapping[str, float]:
        """The words that this one stands for, each with its weight up to 1."""
        return stands_for(
            word,
            exact=word in self._words,
            containing=self.containing(word) if may_be_part(word) else (),
            alike=self._near_length(len(word)),
        )

    def containing(self, part: str) -> Iterator[str]:
        """The words that have this part, in order: one scan of all of them in one string."""
        at = self._joined.find(part)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self.words[number]
            at = self._joined.find(part, self._starts[number] + len(self.words[number]))

    def _near_length(self, length: int) -> Sequence[str]:
        """The words that are short and long enough to be a typo of one this long."""
        near = range(length - MOST_EDITS, length + MOST_EDITS + 1)
        return [word for each in near for word in self.of_length(each)]

    def of_length(self, characters: int) -> Sequence[str]:
        """The words with so many characters, in order."""
        return self._by_length.get(characters, ())

    @cached_property
    def _by_length(self) -> Mapping[int, Sequence[str]]:
        lengths: dict[int, list[str]] = {}
        for word in self.words:
            lengths.setdefault(len(word), []).append(word)
        return lengths

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _joined(self) -> str:
        return WORD_SEPARATOR.join(self.words)

    @cached_property
    def _starts(self) -> Sequence[int]:
        return list(accumulate((len(word) + 1 for word in self.words), initial=0))
