"""Misspelt words of a request, and what they most likely mean.

    sned an emial to bob      → send an email to bob
    wats the wether rn        → what is the weather right now

A word is *known* if the catalog has it; if it is a common English word, or a word of a well-known
product; or if it is a form of one. Only unknown words are corrected, to the known word that is
nearest and most usual, and only if one is near. What people write in chats on purpose (pls, tmrw)
is looked up in a table.

What looks like a name stays as it is: what is in quotation marks or follows "named", what has a
digit, a sign or a capital letter in it, what is part of a path or an address. So does text in
another language than English, as far as its small words show it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import NamedTuple, Protocol

from toolcrib.text.misspelling import SAME_LETTERS, misspelling_cost
from toolcrib.text.stopwords import ENGLISH_STOPWORDS
from toolcrib.text.word_lists import (
    LONGEST,
    SHORTEST,
    WordShapes,
    bases,
    our_abbreviations,
    our_word_shapes,
    our_words,
    word_shapes,
)

TWO_EDITS, LONG_WORD = 5, 7
"""From so many letters on a word may be two edits away; below the second, with the same letters."""
MOST_UNKNOWN = 12
"""Of more unknown words than these none is corrected: such a text is no misspelt English."""
MOST_REMEMBERED = 4096
MOST_CANDIDATES = 24
LEAST = -14.0
"""The least that a correction has of likelihood less cost: below it the word stays as it is."""
FUNCTION_WORD = 2.5
"""By how much less likely a word like "whether" is than its use says: few requests are about it."""
FIRST_PLACES, SPREAD = 20, 4.0
FEWEST_DOCUMENTS = 50
"""A catalog's word is as usual as the share of documents that have it, of so many at least."""

_FUNCTION_WORDS = ENGLISH_STOPWORDS.union(
    "whether either neither because though although since until unless else thus hence than".split()
)
# A word in lower case, or the first of a sentence, that is no part of an identifier or a path.
_WORD = re.compile(
    r"(?:(?<![A-Za-z0-9À-ɏ_.@/\\:#=$&%+~'’-])[a-z]|(?:^|(?<=[.!?]\s))[A-Z])[a-z]*"
    r"(?![A-Za-z0-9À-ɏ_@/\\:#=$%+~'’-]|\.[A-Za-z0-9])"
)
_NAME = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|`[^`\n]*`|「[^」\n]*」|《[^》\n]*》|(?<!\w)['‘][^'’\n]*['’](?!\w)"
    r"|\b(?:named|called|titled|tagged|labell?ed)\s+\S+"
)
_FOREIGN = frozenset(
    """
    der die das und ist nicht ein eine einen mit auf fur von zu zeige mir alle wie bitte ich
    le la les des du une dans pour avec est sur que qui quel moi mon mes au aux
    el los las un una para con por del como mi mis en muestra donde cual
    um uma com seu os na dos das meu minha mostre il lo gli che di sono nella mostra tutti
    het een van voor met op niet och att det som jag alla bir ve icin tolong yang dan
    """.split()
)


class Correction(NamedTuple):
    """A word as it was written, and what it is read as."""

    written: str
    meant: str

    def __str__(self) -> str:
        return f"{self.written} → {self.meant}"


class CorrectedText(NamedTuple):
    """A text with its misspelt words corrected, and what was corrected, in order."""

    text: str
    corrections: tuple[Correction, ...] = ()


class WordCounts(Protocol):
    """The words of a catalog, and how many documents have each."""

    def count(self, word: str) -> int:
        """0 if no document has the word."""
        ...

    def beginning(self, letter: str) -> Iterable[str]:
        """The words that begin with a letter of ASCII, in order."""
        ...

    def most(self) -> int:
        """Of how many documents the word is that most have; 0 without any word."""
        ...


class CountedWords:
    """The words of a catalog in a table."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts

    def count(self, word: str) -> int:
        """0 if no document has the word."""
        return self._counts.get(word, 0)

    def beginning(self, letter: str) -> Iterable[str]:
        """The words that begin with a letter of ASCII, in order."""
        return sorted(word for word in self._counts if word.startswith(letter))

    def most(self) -> int:
        """Of how many documents the word is that most have; 0 without any word."""
        return max(self._counts.values(), default=0)


@dataclass(frozen=True)
class Speller:
    """Corrects what people type. `counts` are a catalog's terms: how many documents have each.

    Make one for each state of a catalog and keep it: it remembers. Safe to share between threads.
    """

    counts: WordCounts = field(default_factory=lambda: CountedWords({}))
    _remembered: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    _shapes: dict[str, WordShapes] = field(default_factory=dict[str, WordShapes], repr=False)

    def correct(self, text: str, *, may_say: Callable[[str], bool] = bool) -> CorrectedText:
        """The text with its unknown words corrected; as it is if nothing is to be corrected.

        `may_say` tells whether a word that only the catalog has may be shown to who asks.
        """
        found = [*_words(text)]
        unknown = [each for each in found if not self.knows(each[0].lower())]
        if not unknown or len(unknown) > MOST_UNKNOWN or _is_foreign(found):
            return CorrectedText(text)
        parts: list[str] = []
        corrections: list[Correction] = []
        at = 0
        for word in unknown:
            meant = self.meant(word[0].lower())
            if meant and (meant in our_words() or not self.counts.count(meant) or may_say(meant)):
                parts += [text[at : word.start()], meant]
                corrections.append(Correction(word[0], meant))
                at = word.end()
        return CorrectedText("".join([*parts, text[at:]]), tuple(corrections))

    def knows(self, word: str) -> bool:
        """Whether a word in lower case needs no correction."""
        common, here = our_words(), self.counts.count
        if word in our_abbreviations():
            return len(word) >= SHORTEST and here(word) > 0
        if word in common or here(word):
            return True  # nearly all of them
        return any(each in common or here(each) for each in bases(word))

    def meant(self, word: str) -> str:
        """What an unknown word in lower case most likely means; "" if nothing is near."""
        if (meant := self._remembered.get(word)) is None:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            meant = our_abbreviations().get(word) or self._nearest(word)
            self._remembered[word] = meant
        return meant

    def _nearest(self, word: str) -> str:
        if not SHORTEST <= len(word) <= LONGEST:
            return ""
        near = ((other, misspelling_cost(word, other)) for other in self._candidates(word))
        scored = [
            (self._likelihood(other) - cost, other)
            for other, cost in near
            if _is_plausible(word, other, cost)
        ]
        score, meant = max(scored, default=(LEAST, ""))
        return meant if score > LEAST else ""

    def _candidates(self, word: str) -> Iterator[str]:
        """The known words that are near, and begin like it or with its second letter."""
        from rapidfuzz import process  # noqa: PLC0415 - see `spelling`
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        edits = 1 + (len(word) >= TWO_EDITS)
        lengths = range(len(word) - edits, len(word) + edits + 1)
        for shape in [(first, length) for first in dict.fromkeys(word[:2]) for length in lengths]:
            for words in (our_word_shapes().get(shape, ()), self._shaped(shape)):
                found = process.extract(
                    word, words, scorer=OSA.distance, score_cutoff=edits, limit=MOST_CANDIDATES
                )
                yield from (near for near, _, _ in found)

    def _likelihood(self, word: str) -> float:
        """The logarithm of how usual a word is in requests and in this catalog."""
        place = our_words().get(word)
        usual = 1 / (place + FIRST_PLACES) if place is not None else 0.0
        here = self.counts.count(word) / (self._documents * SPREAD)
        return log(usual + here) - (FUNCTION_WORD if word in _FUNCTION_WORDS else 0.0)

    def _shaped(self, shape: tuple[str, int]) -> Sequence[str]:
        """The words that only the catalog has, of this shape; made a letter at a time."""
        letter, common = shape[0], our_words()
        if (shapes := self._shapes.get(letter)) is None:
            words = (word for word in self.counts.beginning(letter) if word not in common)
            shapes = word_shapes(word for word in words if word.isascii() and word.isalpha())
            self._shapes[letter] = shapes
        return shapes.get(shape, ())

    @cached_property
    def _documents(self) -> int:
        return max(FEWEST_DOCUMENTS, self.counts.most())


def _words(text: str) -> Iterator[re.Match[str]]:
    """The words that may be misspelt."""
    masked = _NAME.sub(lambda name: "\0" * len(name[0]), text)
    return _WORD.finditer(masked)


def _is_foreign(words: Sequence[re.Match[str]]) -> bool:
    """Whether a text has more small words of other languages than English ones."""
    said = [word[0].lower() for word in words]
    return sum(word in _FOREIGN for word in said) > sum(word in ENGLISH_STOPWORDS for word in said)


def _is_plausible(written: str, meant: str, cost: float) -> bool:
    """Of three letters one has to be left out or two are swapped; short words are one edit away."""
    if len(written) == SHORTEST:
        return len(meant) > SHORTEST or sorted(meant) == sorted(written)
    return len(written) >= LONG_WORD or cost <= SAME_LETTERS
