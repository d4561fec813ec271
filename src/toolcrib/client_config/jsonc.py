"""JSON as people write it, with comments and trailing commas: where each part stands, and edits.

An edit puts members into an object and takes others out; the rest stays as it is, byte for byte.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.client_config.spans import (
    Edit,
    applied,
    indent_at,
    indent_unit,
    line_indent,
    newline,
    without_its_line,
)
from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject

DEEPEST = 200

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"')
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_REST_OF_LINE = re.compile(r"[ \t]*,?[ \t]*(?://[^\r\n]*)?(?=\r?\n)")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the span it stands in; of an object, its members too."""

    start: int
    end: int
    value: Json
    members: tuple["Member", ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """A key and its value. `comma` is the place of the comma after it, if there is one."""

    key: str
    start: int
    node: Node
    comma: int | None


def parse_jsonc(text: str) -> Node | None:
    """The one value in the text; None if there is nothing but blanks and comments.

    Raises `ConfigError` naming the line. A key that stands twice in one object is an error: the
    readers of such a file disagree about what it says.
    """
    reader = _JsoncParser(text)
    start = reader.skip(0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise reader.wrong(end, "there is something after the end")
    return node


class _JsoncParser:
    def __init__(self, text: str) -> None:
        self._text = text

    def wrong(self, place: int, words: str) -> ConfigError:
        return ConfigError(f"line {self._text.count(chr(10), 0, place) + 1}: {words}")

    def skip(self, place: int) -> int:
        found = _BLANK.match(self._text, place)
        return found.end() if found else place

    def value(self, place: int, depth: int) -> Node:
        if depth > DEEPEST:
            raise self.wrong(place, "it is nested too deep")
        match self._text[place : place + 1]:
            case "{":
                return self._object(place, depth)
            case "[":
                return self._list(place, depth)
            case '"':
                text, end = self._string(place)
                return Node(place, end, text)
            case _:
                return self._plain(place)

    def _object(self, start: int, depth: int) -> Node:
        members: dict[str, Member] = {}
        place = self.skip(start + 1)
        while self._text[place : place + 1] != "}":
            member, place = self._member(place, depth)
            if member.key in members:
                raise self.wrong(member.start, f"the key {member.key!r} stands there twice")
            members[member.key] = member
        value = {key: member.node.value for key, member in members.items()}
        return Node(start, place + 1, value, tuple(members.values()))

    def _member(self, start: int, depth: int) -> tuple[Member, int]:
        key, place = self._string(start)
        place = self.skip(place)
        if self._text[place : place + 1] != ":":
            raise self.wrong(place, f"a colon is missing after the key {key!r}")
        node = self.value(self.skip(place + 1), depth + 1)
        comma, place = self._comma(node.end, "}")
        return Member(key, start, node, comma), place

    def _list(self, start: int, depth: int) -> Node:
        items: list[Json] = []
        place = self.skip(start + 1)
        while self._text[place : place + 1] != "]":
            node = self.value(place, depth + 1)
            items.append(node.value)
            _, place = self._comma(node.end, "]")
        return Node(start, place + 1, items)

    def _comma(self, place: int, closing: str) -> tuple[int | None, int]:
        """The comma after a value, and where to go on; without one, the list has to end there."""
        place = self.skip(place)
        match self._text[place : place + 1]:
            case ",":
                return place, self.skip(place + 1)
            case sign if sign == closing:
                return None, place
            case _:
                raise self.wrong(place, f"a comma or {closing!r} is missing")

    def _string(self, place: int) -> tuple[str, int]:
        found = _TEXT.match(self._text, place)
        if not found:
            raise self.wrong(place, "a text in double quotes is missing, or has no end")
        try:
            return str(json.loads(found[0])), found.end()
        except ValueError as error:
            raise self.wrong(place, f"a text cannot be read: {error}") from error

    def _plain(self, place: int) -> Node:
        found = _PLAIN.match(self._text, place)
        if not found:
            raise self.wrong(place, "a value is missing")
        try:
            return Node(place, found.end(), json.loads(found[0]))
        except ValueError as error:  # a number of very many digits
            raise self.wrong(place, f"a number cannot be read: {error}") from error


def edit_json(
    text: str, path: Sequence[str], drop: Collection[str], put: Mapping[str, JsonObject]
) -> str:
    """The text with an object changed, which is made if need be.

    New members stand where the first of those was that are gone, or at the end. Raises
    `ConfigError` for a text that is no JSON object, or where something else stands at the path.
    """
    root = parse_jsonc(text)
    if root is None:
        return text + _pretty(_nested(path, put), newline(text), "", "  ") + newline(text)
    found, missing = _walk(root, path)
    if missing:
        return _changed(text, found, (), {missing[0]: _nested(missing[1:], put)})
    return _changed(text, found, drop, put)


def _nested(path: Sequence[str], put: Mapping[str, Json]) -> JsonObject:
    return {path[0]: _nested(path[1:], put)} if path else put


def _walk(root: Node, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """The deepest object there is on the way, and what is missing behind it."""
    node = root
    for depth, key in enumerate(path):
        inner = next((each.node for each in _members(node, path[:depth]) if each.key == key), None)
        if inner is None or inner.value is None:
            return node, path[depth:]
        node = inner
    _members(node, path)
    return node, ()


def _members(node: Node, path: Sequence[str]) -> tuple[Member, ...]:
    if not isinstance(node.value, Mapping):
        raise ConfigError(f"{'.'.join(path) or 'it'} is not an object")
    return node.members


def _changed(text: str, node: Node, drop: Collection[str], put: Mapping[str, Json]) -> str:
    gone = [each for each in node.members if each.key in drop or each.key in put]
    new = _rendered(text, node, put)
    if not gone:
        return applied(text, _appended(text, node, new)) if put else text
    return applied(text, _replaced(text, node.members, gone, new))


def _replaced(
    text: str, members: Sequence[Member], gone: Sequence[Member], new: str
) -> Iterator[Edit]:
    """New members in the place of the first that is gone, and the others deleted."""
    stay = [each for each in members if each not in gone or (new and each is gone[0])]
    if new:
        yield Edit(gone[0].start, gone[0].node.end, new)
    for each in gone:
        if each not in stay:
            yield from _deleted(text, each)
    last = stay[-1] if stay else None
    if last and last.comma is not None and last is not members[-1] and members[-1].comma is None:
        yield Edit(last.comma, last.comma + 1)


def _deleted(text: str, member: Member) -> Iterator[Edit]:
    """The member and its comma. A comment between them is nobody's to delete."""
    end, comma = member.node.end, member.comma
    if comma is None:
        yield without_its_line(text, member.start, end)
    elif not text[end:comma].strip():
        yield without_its_line(text, member.start, comma + 1)
    else:
        yield Edit(member.start, end)
        yield Edit(comma, comma + 1)


def _appended(text: str, node: Node, new: str) -> Iterator[Edit]:
    end = newline(text)
    if node.members:
        yield from _after(text, node.members, new)
        return
    outer = line_indent(text, node.start)
    opening = end + outer + indent_unit(text)
    inside = text[node.start + 1 : node.end - 1]
    if inside.strip():  # a comment, which may go to the end of its line
        yield Edit(node.start + 1, node.start + 1, opening + new)
    else:
        yield Edit(node.start + 1, node.end - 1, opening + new + end + outer)


def _after(text: str, members: Sequence[Member], new: str) -> Iterator[Edit]:
    """New members behind the last, and behind the comment on its line."""
    last, indent = members[-1], indent_at(text, members[0].start)
    place = last.node.end
    rest = _REST_OF_LINE.match(text, place)
    if indent is None or not rest or (last.comma or 0) >= rest.end():
        yield Edit(place, place, f", {new}")
    elif last.comma is None:
        yield Edit(place, place, ",")
        yield Edit(rest.end(), rest.end(), newline(text) + indent + new)
    else:
        yield Edit(rest.end(), rest.end(), newline(text) + indent + new + ",")


def _rendered(text: str, node: Node, put: Mapping[str, Json]) -> str:
    """The members as they are to stand there, in the manner of those that do."""
    end, outer, unit = newline(text), line_indent(text, node.start), indent_unit(text)
    indent: str | None = outer + unit
    if node.members:
        indent = indent_at(text, node.members[0].start)
    if indent is None:
        return ", ".join(f"{_quoted(key)}: {_compact(value)}" for key, value in put.items())
    if node.members and indent.startswith(outer) and len(indent) > len(outer):
        unit = indent[len(outer) :]
    members = (f"{_quoted(key)}: {_pretty(value, end, indent, unit)}" for key, value in put.items())
    return f",{end}{indent}".join(members)


def _pretty(value: Json, end: str, indent: str, unit: str) -> str:
    """A value as people write it: an object on several lines, a list on one."""
    if not isinstance(value, Mapping) or not value:
        return _compact(value)
    inner = indent + unit
    lines = (f"{_quoted(key)}: {_pretty(each, end, inner, unit)}" for key, each in value.items())
    return f"{{{end}{inner}" + f",{end}{inner}".join(lines) + f"{end}{indent}}}"


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _quoted(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)
