"""The words that come with Toolcrib: common English ones, products, names, and those of chats.

Each is a file in the package, which says what it holds and where it is from. `toolcrib.text.verbs`
reads the list of verbs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TypeAlias

SHORTEST, LONGEST = 3, 24
"""The lengths of words that a misspelt word may mean."""

WordShapes: TypeAlias = Mapping[tuple[str, int], Sequence[str]]
"""Words by their first letter and their length."""

_ENDINGS = (
    *(("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ied", "y"), ("ing", "")),
    *(("ing", "e"), ("er", ""), ("er", "e"), ("ers", ""), ("ers", "e"), ("ly", ""), ("ness", "")),
    *(("less", ""), ("ful", ""), ("able", ""), ("able", "e")),
)
_BEGINNINGS = ("un", "re", "non", "pre", "multi", "sub", "over", "auto", "anti")


@cache
def our_words() -> Mapping[str, int]:
    """Common English words, products and names, each with its place by use, from 0."""
    words = [*_read("english.txt"), *_read("products.txt"), *_read("names.txt")]
    return {word: place for place, word in reversed([*enumerate(words)])}


@cache
def our_word_shapes() -> WordShapes:
    """The same words by their shapes."""
    return word_shapes(our_words())


@cache
def our_abbreviations() -> Mapping[str, str]:
    """What people write in chats, and what they mean."""
    lines = (line.partition(" = ") for line in _lines("chat.txt"))
    return {short: meant for short, _, meant in lines}


def word_shapes(words: Iterable[str]) -> WordShapes:
    """These words by their shapes, in order; none that is too short or too long."""
    shapes: dict[tuple[str, int], list[str]] = {}
    for word in words:
        if SHORTEST <= len(word) <= LONGEST:
            shapes.setdefault((word[0], len(word)), []).append(word)
    return shapes


def bases(word: str) -> Iterator[str]:
    """What a word may be a form of: deployments of deployment, stopped of stop, reopen of open."""
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(base := word.removesuffix(ending) + instead) >= SHORTEST:
            yield base
            if len(base) > SHORTEST and base[-1] == base[-2]:
                yield base[:-1]
    for beginning in _BEGINNINGS:
        if word.startswith(beginning) and len(base := word.removeprefix(beginning)) > SHORTEST:
            yield base


def _read(name: str) -> list[str]:
    return [word for line in _lines(name) for word in line.split()]


def _lines(name: str) -> Iterator[str]:
    """The lines of a list without its notes."""
    text = (resources.files("toolcrib.text") / "wordlists" / name).read_text(encoding="utf-8")
    return (line for line in text.split("\n") if line and not line.startswith("#"))
