"""All words of labels, and which of them a word of a query stands for."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from toolcrib.index.fuzzy import may_be_part, stands_for
from toolcrib.text.nearest import MOST_EDITS

SEPARATOR = "\n"


@dataclass(frozen=True)
class Vocabulary:
    """Different words, sorted. Each is at least one character and has no line break in it."""

    words: Sequence[str]

    def stands_for(self, word: str) -> Mapping[str, float]:
        """The words that this one stands for, each with its weight up to 1."""
        return stands_for(
            word,
            known=word in self._known,
            containing=self.containing(word) if may_be_part(word) else (),
            alike=self._of_length(len(word)),
        )

    def containing(self, part: str) -> Iterator[str]:
        """The words that have this part, in order: one scan of all of them in one string."""
        at = self._joined.find(part)
        while at >= 0:
            number = bisect_right(self._starts, at) - 1
            yield self.words[number]
            at = self._joined.find(part, self._starts[number] + len(self.words[number]))

    def _of_length(self, length: int) -> Sequence[str]:
        """The words that are short and long enough to be a typo of one this long."""
        near = range(length - MOST_EDITS, length + MOST_EDITS + 1)
        return [word for each in near for word in self._by_length.get(each, ())]

    @cached_property
    def _by_length(self) -> Mapping[int, Sequence[str]]:
        lengths: dict[int, list[str]] = {}
        for word in self.words:
            lengths.setdefault(len(word), []).append(word)
        return lengths

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _joined(self) -> str:
        return SEPARATOR.join(self.words)

    @cached_property
    def _starts(self) -> Sequence[int]:
        return list(accumulate((len(word) + 1 for word in self.words), initial=0))
