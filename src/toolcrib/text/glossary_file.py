"""Glossary files: terms that mean the same in two languages, written by hand, a line each.

    en | zh                      the languages, once, before anything else
    [weather]                    a section, for whoever reads the file
    forecast, predict | 预报, 预测    every term on the left means every term on the right
    # a note

Among terms of one side the most usual comes first. Chinese may be simplified or traditional.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard, get_args

from toolcrib.errors import ConfigError
from toolcrib.system import read_plain_file
from toolcrib.text.language import Language

LARGEST_FILE = 4 * 1024 * 1024
SEPARATOR = "|"


class GlossaryLine(NamedTuple):
    """One entry: the terms of two languages, each side in its order, and where it stands."""

    languages: tuple[Language, Language]
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    section: str
    number: int


def read_glossary(path: Path) -> tuple[GlossaryLine, ...]:
    """Every entry of a file, in order. Raises `ConfigError` naming file and line."""
    return tuple(parse_glossary(_text(path), str(path)))


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
            return _terms(left, where), _terms(right, where)
        case sides:
            raise ConfigError(
                f"{where}: an entry has two sides with one '|' between, as in 'file | 文件'; "
                f"{line!r} has {len(sides)}"
            )


def _terms(side: str, where: str) -> tuple[str, ...]:
    terms = tuple([term.strip() for term in side.split(",")])
    if not all(terms):
        raise ConfigError(f"{where}: a term is empty; take out the comma, or write the term")
    return terms


def _text(path: Path) -> str:
    try:
        content = read_plain_file(path, LARGEST_FILE)
    except OSError as error:
        raise ConfigError(f"{path}: this glossary cannot be read: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8; save it as UTF-8") from error
