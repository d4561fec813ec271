"""Which of many packed words may have a part in them, and which may be a typo away.

Both are bounds that numpy takes from the bytes, so that only a few words are looked at one by one:

    grams     every three bytes that follow one another, with the words that have them
    letters   of each word a bit for each of its letters; an edit changes two at most
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.uint32, np.int32)

SIZE = 3
SEPARATOR = ord("\n")
FIRST_NOT_ASCII, CONTINUES = 0x80, 0xC0
LETTERS = 31
"""By so many bits letters of ASCII, large and small, are told apart; other signs share them."""


class WordGrams(NamedTuple):
    """The number of every gram, ascending, and beside it that of a word that has it, ascending."""

    grams: NDArray[np.uint32]
    words: NDArray[np.uint32]

    @classmethod
    def of(cls, buffer: bytes | memoryview, starts: NDArray[np.uint32]) -> "WordGrams":
        """Those of words in one buffer, a separator behind each."""
        content = np.frombuffer(buffer, np.uint8)
        words = np.repeat(np.arange(len(starts) - 1, dtype=np.uint32), np.diff(starts))
        is_end = content == SEPARATOR
        inside = ~(is_end[:-2] | is_end[1:-1] | is_end[2:]) if len(content) >= SIZE else is_end[:0]
        grams = _numbers(content)[inside]
        order = grams.argsort(kind="stable")
        return cls(grams[order], words[: len(inside)][inside][order])

    def words_with(self, part: bytes) -> Sequence[int]:
        """The words that have the two rarest grams of a part, ascending; it has one at least."""
        sought = _numbers(np.frombuffer(part, np.uint8))
        first, last = self.grams.searchsorted(sought), self.grams.searchsorted(sought, "right")
        rarest, *others = (last - first).argsort().tolist()
        having = dict.fromkeys(self.words[first[rarest] : last[rarest]].tolist())
        if not others or not having:
            return list(having)
        second = self.words[first[others[0]] : last[others[0]]].tolist()
        return list(filter(frozenset(second).__contains__, having))


class WordLetters:
    """The letters and the lengths of words in one buffer."""

    def __init__(self, buffer: bytes | memoryview, starts: NDArray[np.uint32]) -> None:
        self._content = np.frombuffer(buffer, np.uint8)
        self._firsts = starts[:-1].astype(np.intp)

    def near(self, word: bytes, characters: int, edits: int) -> Sequence[int]:
        """The words that may be so few edits away from one, ascending."""
        letters = np.bitwise_or.reduce(_letters(np.frombuffer(word, np.uint8)))
        other = np.bitwise_count(self._letters ^ letters)
        length = np.abs(self._lengths - characters)
        return ((other <= 2 * edits) & (length <= edits)).nonzero()[0].tolist()

    @cached_property
    def _letters(self) -> NDArray[np.uint32]:
        return _in_each(np.bitwise_or, _letters(self._content), self._firsts)

    @cached_property
    def _lengths(self) -> NDArray[np.int32]:
        """In characters, without the separator."""
        begins = (self._content & CONTINUES) != FIRST_NOT_ASCII
        return _in_each(np.add, begins.astype(np.int32), self._firsts) - 1


def _numbers(content: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Every three bytes that follow one another, as one number."""
    wide = content.astype(np.uint32)
    return (wide[:-2] << np.uint32(16)) | (wide[1:-1] << np.uint32(8)) | wide[2:]


def _letters(content: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Of each byte the bit of its letter; none of a separator, and of what is not ASCII."""
    bits = np.uint32(1) << (content & LETTERS).astype(np.uint32)
    return np.where((content < FIRST_NOT_ASCII) & (content != SEPARATOR), bits, np.uint32(0))


def _in_each(
    ufunc: np.ufunc, numbers: NDArray[Number], firsts: NDArray[np.intp]
) -> NDArray[Number]:
    """One number for each word."""
    return ufunc.reduceat(numbers, firsts) if len(firsts) else numbers[:0]
