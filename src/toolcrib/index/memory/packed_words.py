"""Different words in order, in one buffer: no object a word, and nothing to build from a file."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from toolcrib.index.memory.word_parts import WordGrams, WordLetters
from toolcrib.text import edits_of, typos

MOST_REMEMBERED = 1 << 14
BLOCK = 64
"""Of so many words the first is an object of its own, by which the others are found."""
ENCODING, ERRORS = "utf-8", "surrogatepass"
"""Bytes are in the order of the characters, and what is no text has its place too."""
SEPARATOR = b"\n"


class PackedWords(Sequence[str]):
    """`starts[n]` is where word n begins in the buffer; a separator follows each word.

    Safe to share between threads: what is remembered can be made again.
    """

    def __init__(self, buffer: bytes | memoryview, starts: NDArray[np.uint32]) -> None:
        self.buffer = buffer
        self.starts = starts
        self._start = starts.data
        self._numbers: dict[str, int] = {}
        self._recent: dict[int, str] = {}
        self._near: dict[str, Sequence[str]] = {}

    @classmethod
    def of(cls, words: Iterable[str]) -> "PackedWords":
        """Of words in order, each once."""
        encoded = [word.encode(ENCODING, ERRORS) for word in words]
        starts = np.zeros(len(encoded) + 1, np.uint32)
        np.cumsum([len(word) + 1 for word in encoded], out=starts[1:])
        return cls(SEPARATOR.join([*encoded, b""]), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> list[str]: ...
    def __getitem__(self, number: int | slice) -> str | list[str]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        start, end = self._start[number], self._start[number + 1] - 1
        return str(self.buffer[start:end], ENCODING, ERRORS)

    def word(self, number: int) -> str:
        """The word of a number: the same object while it is remembered."""
        try:
            return self._recent[number]
        except KeyError:
            if len(self._recent) >= MOST_REMEMBERED:
                self._recent.clear()
            word = self._recent[number] = self[number]
            return word

    def number(self, word: str) -> int:
        """The number of a word; -1 if it is not here."""
        if (number := self._numbers.get(word)) is None:
            number = self._remember(word, self._find(word.encode(ENCODING, ERRORS)))
        return number

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.number(word) >= 0

    def beginning(self, letter: str) -> range:
        """The numbers of the words that begin with a letter of ASCII."""
        return range(self._place(letter.encode()), self._place(chr(ord(letter) + 1).encode()))

    def containing(self, part: str) -> Sequence[str]:
        """The words that have this part of three characters at least, in order."""
        words: list[str] = []
        for number in self.grams.words_with(part.encode(ENCODING, ERRORS)):
            if part in (word := self[number]):
                words.append(word)
                self._remember(word, number)  # who asks for words looks them up next
        return words

    def near(self, word: str) -> Sequence[str]:
        """The words that are a typo away, nearest first; the last ones are remembered."""
        if (found := self._near.get(word)) is None:
            if len(self._near) >= MOST_REMEMBERED:
                self._near.clear()
            encoded, edits = word.encode(ENCODING, ERRORS), edits_of(word)
            may_be = self._letters.near(encoded, len(word), edits)
            found = self._near[word] = typos(word, [self[each] for each in may_be], most=None)
        return found

    @cached_property
    def grams(self) -> WordGrams:
        """By which words with a part are found; a pack has them."""
        return WordGrams.of(self.buffer, self.starts)

    def _remember(self, word: str, number: int) -> int:
        if len(self._numbers) >= MOST_REMEMBERED:
            self._numbers.clear()
        self._numbers[word] = number
        return number

    def _find(self, word: bytes) -> int:
        block = bisect_right(self._firsts, word) - 1
        if block < 0 or SEPARATOR in word:
            return -1
        first, last = block * BLOCK, min((block + 1) * BLOCK, len(self))
        content = SEPARATOR + self.buffer[self._start[first] : self._start[last]]
        at = content.find(SEPARATOR + word + SEPARATOR)
        return first + content.count(SEPARATOR, 1, at + 1) if at >= 0 else -1

    @cached_property
    def _firsts(self) -> Sequence[bytes]:
        """The first word of every block."""
        return [self._bytes(number) for number in range(0, len(self), BLOCK)]

    def _place(self, word: bytes) -> int:
        """How many words come before this one."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < word:
                low = middle + 1
            else:
                high = middle
        return low

    def _bytes(self, number: int) -> bytes:
        return bytes(self.buffer[self._start[number] : self._start[number + 1] - 1])

    @cached_property
    def _letters(self) -> WordLetters:
        return WordLetters(self.buffer, self.starts)
