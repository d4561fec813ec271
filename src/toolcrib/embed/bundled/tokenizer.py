"""Text to the numbers of its pieces: what the bundled model reads.

Latin, Cyrillic and the like are cut into words, at the humps of camelCase too, and words into the
longest pieces that the vocabulary has; pieces that continue a word begin with ##. Chinese,
Japanese and Korean are cut into the longest pieces there are, at most six characters each, and
traditional characters are read as their simplified forms. Punctuation says nothing here.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from unicodedata import normalize

from toolcrib.text import CHINESE_PARTICLES, ENGLISH_STOPWORDS

LONGEST_WORD = 40
LONGEST_ASIAN = 6
CONTINUES = "##"

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS = re.compile(r"[\u0300-\u036f]+")
_ASIAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"([{_ASIAN}]+)|[^\W_{_ASIAN}]+|[+#%$@]")


class WordPieceTokenizer:
    """Pieces by their place in `pieces`; `simplified` maps traditional characters. Thread-safe."""

    def __init__(self, pieces: Sequence[str], simplified: Mapping[str, str]) -> None:
        self._pieces = pieces
        self._number = {piece: number for number, piece in enumerate(pieces)}
        self._simplified = str.maketrans(dict(simplified))
        self._word = lru_cache(maxsize=32_768)(self._cut_word)
        self.says = cache(self._says)
        """Whether a piece, by its number, says something."""

    def numbers(self, text: str, *, most: int) -> list[int]:
        """The numbers of the first `most` pieces, in order; what has no piece is left out."""
        found: list[int] = []
        for token in _TOKEN.finditer(folded(text)):
            asian = token[1]
            found += self._cut_asian(asian) if asian else self._word(token[0])
            if len(found) >= most:
                break
        return found[:most]

    def _says(self, number: int) -> bool:
        return says_something(self._pieces[number])

    def _cut_asian(self, run: str) -> Iterable[int]:
        run = run.translate(self._simplified)
        start = 0
        while start < len(run):
            size, number = self._longest(run[start : start + LONGEST_ASIAN])
            if number is not None:
                yield number
            start += size

    def _longest(self, run: str) -> tuple[int, int | None]:
        """How many characters the longest piece takes, and its number; one that is none is 1."""
        for size in range(len(run), 0, -1):
            if (number := self._number.get(run[:size])) is not None:
                return size, number
        return 1, None

    def _cut_word(self, word: str) -> tuple[int, ...]:
        """The pieces of a word; none if its rest at any place begins with no piece."""
        cut: list[int] = []
        start, end = 0, min(len(word), LONGEST_WORD)
        while start < end:
            stop = end
            while stop > start:
                piece = word[start:stop] if not start else CONTINUES + word[start:stop]
                if (number := self._number.get(piece)) is not None:
                    cut.append(number)
                    break
                stop -= 1
            else:
                return tuple(cut)
            start = stop
        return tuple(cut)


def says_something(piece: str) -> bool:
    """Whether a piece is more than a stop word or a particle: only these are looked at twice."""
    word = piece.removeprefix(CONTINUES)
    return word not in ENGLISH_STOPWORDS and word not in CHINESE_PARTICLES


def folded(text: str) -> str:
    """Humps apart, wide forms narrow, lower case, without accents."""
    apart = _HUMP.sub(" ", normalize("NFKC", text))
    return normalize("NFC", _MARKS.sub("", normalize("NFD", apart.lower())))
