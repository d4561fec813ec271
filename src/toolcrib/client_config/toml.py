"""TOML text: where each statement stands, and edits that leave the rest as it is.

The text has been read by `tomllib` before, so nothing is checked here.
"""

import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from toolcrib.client_config.spans import Edit, applied, newline
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")
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
        path, place = _read_key(text, place + brackets)
        return Statement(path, start, _end(_LINE, text, place), header=True)
    path, place = _read_key(text, place)
    return Statement((*table, *path), start, _value_end(text, place + 1), header=False)


def _read_key(text: str, place: int) -> tuple[tuple[str, ...], int]:
    """The parts of a key, and where the sign after it stands."""
    parts: list[str] = []
    while found := _PART.match(text, place):
        parts.append(_unquoted(found[1]))
        place = found.end()
        if text[place : place + 1] != ".":
            break
        place += 1
    return tuple(parts), place


def _unquoted(part: str) -> str:
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


def edit_toml(
    text: str, path: Sequence[str], drop: Collection[str], put: Mapping[str, JsonObject]
) -> str:
    """The text with the tables below a key changed.

    New tables stand where the first of those was that are gone, or at the end. Raises `ConfigError`
    where the tables are written as one value, which cannot be taken apart.
    """
    found = list(statements(text))
    if any(each.path == tuple(path) and not each.header for each in found):
        raise ConfigError(f"{'.'.join(path)} is one value; write each server as a table of its own")
    gone = list(_gone(text, found, tuple(path), {*drop, *put}))
    new = newline(text).join(
        _toml_table(path, key, value, newline(text)) for key, value in put.items()
    )
    slot = next((each for each, header in gone if header), None) if new else None
    edits = [Edit(each.start, each.end) for each, _ in gone if each is not slot]
    if slot:
        return applied(text, [*edits, Edit(slot.start, _trimmed(text, slot), new)])
    changed = applied(text, edits)
    return changed + _gap(changed, newline(text)) + new if new else changed


def _gone(
    text: str, found: Sequence[Statement], path: tuple[str, ...], names: set[str]
) -> Iterator[tuple[Edit, bool]]:
    """The spans of what is named, each with whether it begins with a header.

    A table ends with its last pair; a comment after that may be about what follows.
    """
    size, place = len(path), 0
    while place < len(found):
        first = found[place]
        place += 1
        if first.path[:size] != path or not {*first.path[size : size + 1]} & names:
            continue
        last = first
        while first.header and place < len(found) and not found[place].header:
            last = found[place]
            place += 1
        yield Edit(first.start, _with_blank_lines(text, last.end, first.header)), first.header


def _with_blank_lines(text: str, end: int, header: bool) -> int:  # noqa: FBT001
    found = _BLANK_LINES.match(text, end) if header else None
    return found.end() if found else end


def _trimmed(text: str, edit: Edit) -> int:
    """The end of the span without the blank lines after it."""
    content = text[edit.start : edit.end].rstrip()
    after = text.find("\n", edit.start + len(content))
    return edit.end if after < 0 else min(after + 1, edit.end)


def _gap(text: str, end: str) -> str:
    """What has to stand between a text and a table after it."""
    if not text.strip("\ufeff"):
        return ""
    return end if text.endswith("\n") else end + end


def _toml_table(path: Sequence[str], key: str, value: JsonObject, end: str) -> str:
    lines = [f"[{'.'.join(map(_toml_key, (*path, key)))}]"]
    lines += [f"{_toml_key(name)} = {_toml_value(each)}" for name, each in value.items()]
    return end.join([*lines, ""])


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _toml_value(key)


def _toml_value(value: Json) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_toml_key(key)} = {_toml_value(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_toml_value, value))}]"
    # TOML reads what JSON writes, but for one sign that it wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
