"""What a text in one language is called in another, term by term, and the files that say so.

Glossary files list terms that mean the same in two languages, written by hand, a line each:

    en | zh                      the languages, once, before anything else
    [weather]                    a section, for whoever reads the file
    forecast, predict | 预报, 预测    every term on the left means every term on the right
    # a note

Among terms of one side the most usual comes first. Chinese may be simplified or traditional.
`Glossary` is ours with such files on top; a `Lexicon` is a glossary read in one direction.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeGuard, get_args

from toolcrib.errors import ConfigError
from toolcrib.system import read_plain_file
from toolcrib.text.analyzer import is_unspaced, stems, words
from toolcrib.text.language import Language

OURS = "en-zh.txt"
MOST_MEANINGS = 4
AFTER_MORE = 1000
"""The rank that our meanings begin at, behind those of anybody's own file."""
LARGEST_GLOSSARY = 4 * 1024 * 1024
SEPARATOR = "|"


class GlossaryLine(NamedTuple):
    """One entry: the terms of two languages, each side in its order, and where it stands."""

    languages: tuple[Language, Language]
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    section: str
    number: int


class GlossaryToken(NamedTuple):
    """What terms are compared by (a stem, or a single character), and the word it is from."""

    key: str
    word: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The terms of one language and their meanings in another.

    A key is a term in tokens with spaces between: the stems of its words, or the characters of a
    run without spaces. `longest` is how many tokens the longest term has.
    """

    target: Language
    meanings: Mapping[str, tuple[str, ...]]
    longest: int

    def glosses(self, text: str) -> Sequence[tuple[str, ...]]:
        """The meanings of each known term in order, of the longest one that ends at each place.

        From the end, because Chinese goes wrong less often so: 并发送 is 并 and 发送, not 并发 and
        送. A word that is written like those of the target is its own meaning; a number is none.
        """
        tokens = _tokens(text)
        found: list[tuple[str, ...]] = []
        end = len(tokens)
        while end:
            length, meanings = self._longest(tokens[max(end - self.longest, 0) : end])
            if meanings:
                found.append(meanings)
            end -= length
        return found[::-1]

    def _longest(self, tokens: Sequence[GlossaryToken]) -> tuple[int, tuple[str, ...]]:
        """The meanings of the longest term that these tokens end with, and how many it takes."""
        for start in range(len(tokens)):
            key = " ".join([token.key for token in tokens[start:]])
            if meanings := self.meanings.get(key):
                return len(tokens) - start, meanings
        word = tokens[-1].word
        stays = is_unspaced(word) == (self.target == "zh") and not word.isdigit()
        return 1, (word,) if stays else ()


@dataclass(frozen=True, eq=False)
class Glossary:
    """The glossary that comes with Toolcrib, and `more` lines, whose meanings come first."""

    more: tuple[GlossaryLine, ...] = ()

    def lexicon(self, source: Language, target: Language) -> Lexicon:
        """The lexicon from one language into another, made when it is first asked for."""
        return _lexicon(self, source, target)


def load_glossary(paths: Iterable[Path]) -> Glossary:
    """Our glossary and these files, whose meanings come first. Raises `ConfigError`."""
    return Glossary(tuple(chain.from_iterable(map(read_glossary, paths))))


@cache
def our_glossary() -> tuple[GlossaryLine, ...]:
    """The entries that come with Toolcrib."""
    file = resources.files("toolcrib.text") / "glossaries" / OURS
    return tuple(parse_glossary(file.read_text(encoding="utf-8"), OURS))


def read_glossary(path: Path) -> tuple[GlossaryLine, ...]:
    """Every entry of a file, in order. Raises `ConfigError` naming file and line."""
    return tuple(parse_glossary(_read_text(path), str(path)))


def parse_glossary(text: str, name: str) -> Iterator[GlossaryLine]:
    """Every entry of a text, in order. Raises `ConfigError` with this name and the line."""
    languages: tuple[Language, Language] | None = None
    section = ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line[0] == "#":
            continue
        if languages is None:
            languages = _languages(line, f"{name}:{number}")
        elif line[0] == "[" and line[-1] == "]":
            section = line[1:-1].strip()
        else:
            yield GlossaryLine(languages, _sides(line, f"{name}:{number}"), section, number)


def _languages(line: str, where: str) -> tuple[Language, Language]:
    supported = ", ".join(get_args(Language))
    match [tag.strip() for tag in line.split(SEPARATOR)]:
        case [one, other] if _is_language(one) and _is_language(other) and one != other:
            return one, other
        case _:
            raise ConfigError(
                f"{where}: the first line names two languages, as in 'en | zh', not {line!r}; "
                f"those that search can tell apart are {supported}"
            )


def _is_language(tag: str) -> TypeGuard[Language]:
    return tag in get_args(Language)


def _sides(line: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    match line.split(SEPARATOR):
        case [left, right]:
            return _split_terms(left, where), _split_terms(right, where)
        case sides:
            raise ConfigError(
                f"{where}: an entry has two sides with one '|' between, as in 'file | 文件'; "
                f"{line!r} has {len(sides)}"
            )


def _split_terms(side: str, where: str) -> tuple[str, ...]:
    terms = tuple([term.strip() for term in side.split(",")])
    if not all(terms):
        raise ConfigError(f"{where}: a term is empty; take out the comma, or write the term")
    return terms


def _read_text(path: Path) -> str:
    try:
        content = read_plain_file(path, LARGEST_GLOSSARY)
    except OSError as error:
        raise ConfigError(f"{path}: this glossary cannot be read: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8; save it as UTF-8") from error


@lru_cache(maxsize=16)
def _lexicon(glossary: Glossary, source: Language, target: Language) -> Lexicon:
    found: dict[str, dict[str, int]] = {}
    for least, lines in ((0, glossary.more), (AFTER_MORE, our_glossary())):
        for line in lines:
            left, right = line.sides
            if line.languages == (source, target):
                _put(found, left, right, least)
            elif line.languages == (target, source):
                _put(found, right, left, least)
    return Lexicon(
        target,
        {
            key: tuple(sorted(ranks, key=ranks.__getitem__)[:MOST_MEANINGS])
            for key, ranks in found.items()
        },
        max((key.count(" ") + 1 for key in found), default=0),
    )


def _put(
    found: dict[str, dict[str, int]], here: tuple[str, ...], there: tuple[str, ...], least: int
) -> None:
    """Rank what terms mean: the earlier both stand on their sides, the more usual it is."""
    for place, term in enumerate(here, least):
        ranks = found.setdefault(_key(term), {})
        for rank, meaning in enumerate(there, place):
            ranks[meaning] = min(rank, ranks.get(meaning, rank))


def _key(term: str) -> str:
    return " ".join([key for word in words(term) for key in _keys(word)])


def _keys(word: str) -> Sequence[str]:
    return word if is_unspaced(word) else stems([word])


def _tokens(text: str) -> Sequence[GlossaryToken]:
    return [
        GlossaryToken(key, key if is_unspaced(word) else word)
        for word in words(text)
        for key in _keys(word)
    ]
