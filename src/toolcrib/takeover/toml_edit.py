"""Puts tables into a TOML text and takes others out; the rest stays as it is."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.takeover.spans import Edit, applied, newline
from toolcrib.takeover.toml_text import Statement, statements

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK_LINES = re.compile(r"(?:[ \t]*\r?\n)*")


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
    new = newline(text).join(_table(path, key, value, newline(text)) for key, value in put.items())
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
    kept = text[edit.start : edit.end].rstrip()
    after = text.find("\n", edit.start + len(kept))
    return edit.end if after < 0 else min(after + 1, edit.end)


def _gap(text: str, end: str) -> str:
    """What has to stand between a text and a table after it."""
    if not text.strip("\ufeff"):
        return ""
    return end if text.endswith("\n") else end + end


def _table(path: Sequence[str], key: str, value: JsonObject, end: str) -> str:
    lines = [f"[{'.'.join(map(_key, (*path, key)))}]"]
    lines += [f"{_key(name)} = {_value(each)}" for name, each in value.items()]
    return end.join([*lines, ""])


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _value(key)


def _value(value: Json) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_value, value))}]"
    # TOML reads what JSON writes, but for one sign that it wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
