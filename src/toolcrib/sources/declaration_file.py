"""Files that people write by hand, and every mistake in them has a line.

    parse_yaml         mappings, lists and plain values; nothing is run
    read_front_matter  Markdown that begins with YAML between two lines of `---`: skills and agents

In YAML, anchors, tags and a key given twice are refused. A key is the text as written, so that
`no:` is Norwegian and not false. A time such as `12:30` is text too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, StringConstraints, ValidationError

from toolcrib.errors import DeclarationError
from toolcrib.model import Json
from toolcrib.sources.text_file import read_text_file

MAX_DEPTH = 16
LONGEST_NUMBER = 64

Place: TypeAlias = tuple[int | str, ...]
"""Where a value stands in a file: keys and positions, from the top."""
Head = TypeVar("Head", bound=BaseModel)

_TEXT = {"str", "timestamp", "merge", "value"}
_NUMBERS = {"int", "float"}
_PLAIN = _TEXT | {"bool", "int", "float", "null", "seq", "map"}
_FENCE = "---"


def _split_commas(value: object) -> object:
    return [part.strip() for part in value.split(",")] if isinstance(value, str) else value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Tags = Annotated[tuple[Text, ...], BeforeValidator(_split_commas)]
"""A list, or one text with commas."""


@dataclass(frozen=True, slots=True)
class YamlFile:
    """The data of a file, and the line of each part of it."""

    path: Path
    data: Json
    lines: Mapping[Place, int]

    def error(self, place: Place, message: str) -> DeclarationError:
        """The error to raise about the part at `place`, or else about what is around it."""
        return DeclarationError(f"{self.where(place)} {message}")

    def where(self, place: Place) -> str:
        """The file, the line and the key of the part at `place`, as a message begins with them."""
        around = place
        while around not in self.lines:
            around = around[:-1]
        key = f" {'.'.join(map(str, place))}:" if place else ""
        return f"{self.path}:{self.lines[around]}:{key}"


def parse_yaml(text: str, path: Path, *, first_line: int = 1) -> YamlFile:
    """Parse `text`, which begins at `first_line` of the file. No text at all is None."""
    try:
        reader = _YamlReader(text)
        root = reader.get_single_node()
        data = reader.read(root, ()) if root else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = first_line + (mark.line if mark else 0)
        raise DeclarationError(f"{path}:{line}: {_reason(error)}") from error
    lines = {place: first_line + line for place, line in reader.lines.items()}
    return YamlFile(path, data, {(): first_line} | lines)


class _YamlReader(yaml.SafeLoader):
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
    """Whether YAML 1.1 takes this for a number of base 60, which people mean as a time: `12:30:45`.

    Converting it takes time that grows with the square of the length.
    """
    return kind in _NUMBERS and ":" in node.value


def _kind(node: yaml.Node) -> str:
    return node.tag.removeprefix("tag:yaml.org,2002:")


def _refusal(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


def _reason(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or "there is a character that YAML does not take"
    return problem + ("; put the value in quotes" if "mapping values" in problem else "")


def read_front_matter(path: Path, kind: type[Head]) -> tuple[Head, str]:
    """The front matter, as a `kind`, and the text below it, trimmed.

    Raises `DeclarationError` naming file, line and key. Keys that `kind` does not have are ignored:
    other programs read these files too.
    """
    file, body = _split_front_matter(read_text_file(path), path)
    try:
        return kind.model_validate(file.data or {}), body
    except ValidationError as error:
        first = error.errors()[0]
        cause = "is missing; add it" if first["type"] == "missing" else first["msg"]
        raise file.error(first["loc"], cause) from None


def _split_front_matter(text: str, path: Path) -> tuple[YamlFile, str]:
    lines = [line.rstrip() for line in text.split("\n")]
    if lines[0] != _FENCE:
        raise DeclarationError(f"{path}:1: there is no front matter; begin with a line of ---")
    if _FENCE not in lines[1:]:
        raise DeclarationError(f"{path}:1: the front matter does not end; add a line of ---")
    end = lines.index(_FENCE, 1)
    file = parse_yaml("\n".join(lines[1:end]), path, first_line=2)
    return file, "\n".join(lines[end + 1 :]).strip()
