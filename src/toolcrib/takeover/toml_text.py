"""The statements of a TOML text: where each stands, and which key it is about.

The text has been read by `tomllib` before, so nothing is checked here.
"""

import re
import tomllib
from collections.abc import Iterator
from typing import NamedTuple

_BLANK = re.compile(r"[ \t\ufeff]*(?:#[^\n]*)?(?:\r?\n|$)")
_SPACE = re.compile(r"[ \t\ufeff]*")
_PART = re.compile(r"""[ \t\ufeff]*([A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')[ \t]*""")
_LINE = re.compile(r"[^\n]*(?:\n|$)")
_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{}]|\n"
    r"|[^\"'\#\[\]{}\n]+",
    re.DOTALL,
)


class Statement(NamedTuple):
    """A header or a pair with all of its lines. `path` is the whole key, from the top."""

    path: tuple[str, ...]
    start: int
    end: int
    header: bool


def statements(text: str) -> Iterator[Statement]:
    """In their order. Blank lines and comments belong to none."""
    place, table = 0, ()
    while place < len(text):
        after = _end(_BLANK, text, place)
        if after > place:
            place = after
            continue
        statement = _statement(text, place, table)
        table = statement.path if statement.header else table
        yield statement
        place = statement.end


def _statement(text: str, place: int, table: tuple[str, ...]) -> Statement:
    start = place
    place = _end(_SPACE, text, place)
    if text[place] == "[":
        brackets = 2 if text.startswith("[[", place) else 1
        path, place = _key(text, place + brackets)
        return Statement(path, start, _end(_LINE, text, place), header=True)
    path, place = _key(text, place)
    return Statement((*table, *path), start, _value_end(text, place + 1), header=False)


def _key(text: str, place: int) -> tuple[tuple[str, ...], int]:
    """The parts of a key, and where the sign after it stands."""
    parts: list[str] = []
    while found := _PART.match(text, place):
        parts.append(_plain(found[1]))
        place = found.end()
        if text[place : place + 1] != ".":
            break
        place += 1
    return tuple(parts), place


def _plain(part: str) -> str:
    return str(tomllib.loads(f"x = {part}")["x"]) if part[0] in "\"'" else part


def _value_end(text: str, place: int) -> int:
    """Behind the end of the line on which the value that begins here ends."""
    depth = 0
    while found := _TOKEN.match(text, place):
        place = found.end()
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if found[0] == "\n" and depth <= 0:
            break
    return place


def _end(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Behind what the pattern matches here; here, if it does not."""
    found = pattern.match(text, place)
    return found.end() if found else place
