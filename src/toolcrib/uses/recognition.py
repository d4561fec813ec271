"""Which words led to which tool, as far as the catalog itself says these words.

Lessons hold hashes of words. A word is recognised by hashing every word of some given texts and
looking for the same hash. So nothing comes to light that does not stand in these texts already: no
name, no secret and no number that was once in a query.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from toolcrib.store import UseRecord
from toolcrib.text import ENGLISH_STOPWORDS, is_unspaced, stems, terms, words
from toolcrib.uses.counts import word_hashes


class LedWord(NamedTuple):
    """A word that led to a tool, and in how many conversations."""

    word: str
    uses: int


def words_that_led(record: UseRecord, texts: Iterable[str]) -> Mapping[str, tuple[LedWord, ...]]:
    """The recognised words by tool, the most used first, ties by the word."""
    known = _by_hash(texts, record.key)
    led: dict[str, Counter[str]] = {}
    for key, lesson in record.lessons.items():
        if word := known.get(key.word):
            led.setdefault(key.tool, Counter())[word] += lesson.uses
    return {
        tool: tuple(
            LedWord(*each) for each in sorted(some.items(), key=lambda each: (-each[1], each[0]))
        )
        for tool, some in led.items()
    }


def _by_hash(texts: Iterable[str], key: bytes) -> Mapping[bytes, str]:
    """The words of the texts by the hash that a query with them would have left.

    Of words with one stem the most frequent stands for all.
    """
    said = Counter(word for text in texts for word in words(text))
    spelt: dict[str, str] = {}
    for word, _ in said.most_common():
        if word not in ENGLISH_STOPWORDS:
            for each in (terms if is_unspaced(word) else stems)([word]):
                spelt.setdefault(each, each if is_unspaced(word) else word)
    return dict(zip(word_hashes(list(spelt), key), spelt.values(), strict=True))
