"""JSON as people write it, with comments and trailing commas, and where each part of it stands."""

import json
import re
from dataclasses import dataclass

from toolcrib.errors import ConfigError
from toolcrib.model import Json

DEEPEST = 200

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\.)*+"')
_PLAIN = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


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


def parse(text: str) -> Node | None:
    """The one value in the text; None if there is nothing but blanks and comments.

    Raises `ConfigError` naming the line. A key that stands twice in one object is an error: the
    readers of such a file disagree about what it says.
    """
    reader = _Reader(text)
    start = reader.skip(0)
    if start == len(text):
        return None
    node = reader.value(start, 0)
    end = reader.skip(node.end)
    if end != len(text):
        raise reader.wrong(end, "there is something after the end")
    return node


class _Reader:
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
