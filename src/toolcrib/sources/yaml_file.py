"""YAML that may be wrong: read without running anything, and every mistake has a line.

Only mappings, lists and plain values. Anchors, tags and a key given twice are refused; a key is
the text that was written, so that `no:` is Norwegian and not false. So is a time, `12:30`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from toolcrib.errors import DeclarationError
from toolcrib.model import Json

MAX_DEPTH = 16
LONGEST_NUMBER = 64

Place: TypeAlias = tuple[int | str, ...]

_TEXT = {"str", "timestamp", "merge", "value"}
_NUMBERS = {"int", "float"}
_PLAIN = _TEXT | {"bool", "int", "float", "null", "seq", "map"}


@dataclass(frozen=True, slots=True)
class YamlFile:
    """What a file says, and at which line it says each part of it."""

    path: Path
    data: Json
    lines: Mapping[Place, int]

    def error(self, place: Place, message: str) -> DeclarationError:
        """The error to raise about the part at `place`, or else about what is around it."""
        return DeclarationError(f"{self.where(place)} {message}")

    def where(self, place: Place) -> str:
        """The file, the line and the key of the part at `place`, as a message begins with them."""
        known = place
        while known not in self.lines:
            known = known[:-1]
        key = f" {'.'.join(map(str, place))}:" if place else ""
        return f"{self.path}:{self.lines[known]}:{key}"


def parse_yaml(text: str, path: Path, *, first_line: int = 1) -> YamlFile:
    """Parse `text`, which begins at `first_line` of the file. No text at all is None."""
    try:
        reader = _Reader(text)
        root = reader.get_single_node()
        data = reader.read(root, ()) if root else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark else 0)
        raise DeclarationError(f"{path}:{line}: {_reason(error)}") from error
    lines = {place: first_line + line for place, line in reader.lines.items()}
    return YamlFile(path, data, {(): first_line} | lines)


class _Reader(yaml.SafeLoader):
    """One pass over one text; `lines` fills as the parts are read. Raises `yaml.YAMLError`."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lines: dict[Place, int] = {}
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse, before it costs anything, what makes a small file expensive or powerful."""
        self._depth += 1
        if parent and self._depth > MAX_DEPTH:
            raise _refusal(parent, f"more than {MAX_DEPTH} levels deep; flatten it")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node and self.anchors:
            raise _refusal(node, "there is an &anchor; write the value out where it is needed")
        if node and _kind(node) not in _PLAIN:
            raise _refusal(node, f"there is the tag {node.tag!r}; write the value without it")
        return node

    def read(self, node: yaml.Node, place: Place) -> Json:
        self.lines.setdefault(place, node.start_mark.line)
        match node:
            case yaml.MappingNode():
                return dict(self._items(node, place))
            case yaml.SequenceNode():
                return [self.read(one, (*place, at)) for at, one in enumerate(node.value)]
            case _:
                return self._scalar(node)

    def _items(self, node: yaml.MappingNode, place: Place) -> Iterator[tuple[str, Json]]:
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _refusal(key, "a key is a list or a mapping; use a plain word")
            name = str(key.value)
            if (*place, name) in self.lines:
                raise _refusal(key, f"{name!r} is here a second time; keep one of the two")
            self.lines[*place, name] = key.start_mark.line
            yield name, self.read(value, (*place, name))

    def _scalar(self, node: yaml.Node) -> Json:
        """A true, a number or a null; anything else, a date too, is the text as written."""
        kind = _kind(node)
        if kind in _TEXT or not isinstance(node, yaml.ScalarNode) or _is_of_base_60(kind, node):
            return str(node.value)
        if kind in _NUMBERS and len(node.value) > LONGEST_NUMBER:
            raise _refusal(node, f"a number has at most {LONGEST_NUMBER} signs; put it in quotes")
        try:
            return {
                "bool": self.construct_yaml_bool,
                "int": self.construct_yaml_int,
                "float": self.construct_yaml_float,
                "null": self.construct_yaml_null,
            }[kind](node)
        except (KeyError, ValueError) as error:
            raise _refusal(node, f"{node.value!r:.40} is no {kind}; put it in quotes") from error


def _is_of_base_60(kind: str, node: yaml.ScalarNode) -> bool:
    """Whether YAML 1.1 reads a number into what is a time to people: `12:30:45`.

    It takes time that grows with the square of the length.
    """
    return kind in _NUMBERS and ":" in node.value


def _kind(node: yaml.Node) -> str:
    return node.tag.removeprefix("tag:yaml.org,2002:")


def _refusal(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _reason(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or "there is a character that YAML does not take"
    return problem + ("; put the value in quotes" if "mapping values" in problem else "")
