"""Tools as typed Python functions: what a model reads, and what a program is checked against.

    async def github.create_issue(*, title: str, labels: list[str] = ...) -> CreateIssueResult:
        \"\"\"Create an issue.

        labels: Names of labels.
        \"\"\"

A schema and a description come from a stranger. Names are made by `identifiers`, values are
written as Python literals, and of texts only what can stand in a comment or a docstring is left: so
none of it becomes code. A schema that is too large, too deep or goes round in a circle is `Any`
from there on; the door checks arguments in any case.
"""

import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite
from typing import NamedTuple

from toolcrib.execute import pointed_at
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.program.identifiers import identifiers
from toolcrib.text import without_hidden

ANY = "Any"
MOST_DEPTH = 6
MOST_TYPES = 40
MOST_FIELDS = 200
MOST_VALUES = 60
LONGEST_VALUE = 100
LONGEST_NOTE = 300
LONGEST_DOC = 4_000
LONGEST_BRIEF = 160
WIDTH = 100
LARGEST_INT = 2**63

PRELUDE = (
    "from typing import Any, Literal, NotRequired, TypedDict\n"
    "def print(*values: str | float | list[Any] | dict[str, Any] | None, **how: Any): ...\n"
)
"""What stands before all. `print` takes anything; that it is told a call was not awaited is what
the checker finds by this, and whatever else it says of it is no problem."""

_SIMPLE = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "null": "None",
    "array": "list[Any]",
    "object": "dict[str, Any]",
}
_WORD = re.compile(r"[A-Za-z0-9]+")


class Parameter(NamedTuple):
    """One parameter: its names in Python and in JSON, its type, its default if it has one.

    `**arguments`, without a key, stands for any others that a schema may allow.
    """

    name: str
    key: str
    type: str
    default: str
    note: str

    @property
    def text(self) -> str:
        """As it stands in a signature."""
        return f"{self.name}: {self.type}{f' = {self.default}' if self.default else ''}"

    @property
    def lenient(self) -> str:
        """The same, where None may stand for not given."""
        return f"{self.name}: {self.type} | None = ..." if self.default else self.text


_OTHERS = Parameter("**arguments", "", ANY, "", "")


@dataclass(frozen=True)
class ToolSignature:
    """A tool as a function of a group. Made anew for another definition."""

    group: str
    function: str
    tool: ToolInfo
    _types: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False)

    @property
    def path(self) -> str:
        """What a program writes: `github.create_issue`."""
        return f"{self.group}.{self.function}"

    @cached_property
    def parameters(self) -> Sequence[Parameter]:
        """Those that must be given first, then the others."""
        return _Typer(self.tool.parameters, self._stem, self._types).parameters()

    @cached_property
    def returns(self) -> str:
        """The type of what a call gives."""
        schema = self.tool.output_schema
        if schema is None:
            return ANY
        return _Typer(schema, f"{self._stem}Result", self._types).result()

    @cached_property
    def keys(self) -> Mapping[str, str]:
        """The names of the parameters in JSON, by their names in Python."""
        return {each.name: each.key for each in self.parameters if each.key}

    @cached_property
    def line(self) -> str:
        """The signature alone: `async def github.create_issue(*, title: str) -> Any`."""
        listed = ", ".join(_starred([each.text for each in self.parameters]))
        return f"async def {self.path}({listed}) -> {self.returns}"

    @cached_property
    def text(self) -> str:
        """All of it for a model: types, signature, description. See the top of this module."""
        about = self.tool.description[:LONGEST_DOC].strip() or self.tool.name
        doc = textwrap.indent(_docstring(about, self.parameters), "    ")
        line = self.line
        return "\n".join([*self._types.values(), f"{line}:", doc])

    @cached_property
    def brief(self) -> str:
        """The same in brief: types and signature, a short description, notes on what must be given.

        It has all that a call needs to fit. What may be left out is named, and not explained.
        """
        needed = [each for each in self.parameters if not each.default]
        said = _shortened(" ".join(self.tool.description.split()))
        notes = [each._replace(note=_shortened(each.note)) for each in needed]
        doc = textwrap.indent(_docstring(said or self.tool.name, notes), "    ")
        line = self.line
        return "\n".join([*self._types.values(), f"{line}:", doc])

    @cached_property
    def checked(self) -> str:
        """Its types and its method, for the type checker, to stand in the class of its group.

        A parameter that may be left out may be None too: the door reads that as not given.
        """
        listed = [each.lenient for each in self.parameters]
        signature = f"async def {self.function}({', '.join(['__self', '/', *_starred(listed)])})"
        method = f"{signature} -> {self.returns}: ..."
        return textwrap.indent("\n".join([*self._types.values(), method, ""]), "    ")

    @property
    def _stem(self) -> str:
        return _camel(self.function)


def checked_text(tools: Sequence[ToolSignature], groups: Collection[str]) -> str:
    """All of it for the type checker: a class for each group, and its one object."""
    methods = dict.fromkeys(groups, "")
    for each in tools:
        methods[each.group] += each.checked
    classes = [
        f"class _{group}:\n{text or '    pass'}\n{group}: _{group}\n"
        for group, text in methods.items()
    ]
    return "".join([PRELUDE, *classes])


def _starred(parameters: Sequence[str]) -> Sequence[str]:
    """Behind the star that makes them keywords; `**arguments` by itself needs none."""
    return ["*", *parameters] if parameters and not parameters[0].startswith("**") else parameters


def _camel(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in _WORD.findall(name))


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_BRIEF else f"{text[: LONGEST_BRIEF - 1]}…"


def _docstring(description: str, parameters: Sequence[Parameter]) -> str:
    about = _doc_text(description)
    notes = [f"{each.name}: {each.note}" for each in parameters if each.note]
    text = "\n".join([about, "", *notes]) if notes else about
    return f'"""{text}\n"""' if "\n" in text or text.endswith('"') else f'"""{text}"""'


def _doc_text(text: str) -> str:
    """What of a text can stand in a docstring without ending it, and is the same to all readers."""
    visible = without_hidden(text).replace("\\", "\\\\").replace('"""', "'''").strip()
    return "".join(c if c.isprintable() or c == "\n" else " " for c in visible)


def _note(schema: Json) -> str:
    """The description of a place, in one line."""
    said = schema.get("description") if isinstance(schema, Mapping) else None
    if not isinstance(said, str):
        return ""
    line = " ".join(_doc_text(said[: 2 * LONGEST_NOTE]).split())
    return line if len(line) <= LONGEST_NOTE else f"{line[:LONGEST_NOTE]}..."


class _Typer:
    """Makes types of one schema. `types` takes the classes that they need, inner ones first."""

    def __init__(self, root: JsonObject, stem: str, types: dict[str, str]) -> None:
        self._root = root
        self._stem = stem
        self._types = types

    def parameters(self) -> Sequence[Parameter]:
        """The properties of the root, as parameters."""
        root = self._at(self._root)
        found = [
            Parameter(name, key, self._type(schema, name, 1), "" if needed else default, note)
            for name, key, schema, needed in self._fields(root)
            for default, note in [(_default(self._at(schema)), _note(self._at(schema)))]
        ]
        in_order = sorted(found, key=lambda each: bool(each.default))
        return [*in_order, _OTHERS] if _takes_others(root) else in_order

    def result(self) -> str:
        """The type of the root."""
        return self._type(self._root, "", 0)

    def _fields(self, schema: JsonObject) -> Iterator[tuple[str, str, Json, bool]]:
        """The properties of an object: name, key, schema, whether it must be given."""
        properties = schema.get("properties")
        if not isinstance(properties, Mapping):
            return
        listed = schema.get("required")
        required = set(map(str, listed)) if isinstance(listed, list) else set[str]()
        keys = [key for key in properties if key.isprintable()][:MOST_FIELDS]
        names = identifiers(keys)
        for key in keys:
            yield names[key], key, properties[key], key in required

    def _at(self, schema: Json) -> JsonObject:
        """The schema of a place, with a reference followed; an empty one allows anything."""
        for _ in range(MOST_DEPTH):
            if not isinstance(schema, Mapping):
                return {}
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return _only_part(schema)
            if not reference.startswith("#"):
                return {}
            followed = pointed_at(self._root, reference)
            schema = _with_note(followed, schema)
        return {}

    def _type(self, place: Json, name: str, depth: int) -> str:
        schema = self._at(place)
        if depth > MOST_DEPTH:
            return ANY
        if literal := _literal(schema):
            return literal
        for key in ("anyOf", "oneOf"):
            choices = schema.get(key)
            if isinstance(choices, list) and choices:
                return self._union([self._type(each, name, depth + 1) for each in choices[:12]])
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return self._union([self._one_type({**schema, "type": k}, name, depth) for k in kinds])
        return self._one_type(schema, name, depth)

    def _one_type(self, schema: JsonObject, name: str, depth: int) -> str:
        kind = schema.get("type")
        if kind == "array":
            return f"list[{self._type(schema.get('items'), name, depth + 1)}]"
        if kind == "object" or (kind is None and isinstance(schema.get("properties"), Mapping)):
            return self._object(schema, name, depth)
        return _SIMPLE.get(kind, ANY) if isinstance(kind, str) else ANY

    def _object(self, schema: JsonObject, name: str, depth: int) -> str:
        fields = list(self._fields(schema))
        if not fields:
            values = schema.get("additionalProperties")
            inner = self._type(values, name, depth + 1) if isinstance(values, Mapping) else ANY
            return f"dict[str, {inner}]"
        if len(self._types) >= MOST_TYPES:
            return _SIMPLE["object"]
        title = self._title(name)
        text = self._typed_dict(title, fields, depth)
        self._types[title] = self._types.pop(title) + text  # behind those that it needs
        return title

    def _typed_dict(
        self, title: str, fields: Sequence[tuple[str, str, Json, bool]], depth: int
    ) -> str:
        typed = [
            (name, key, self._optional(self._type(schema, name, depth + 1), needed=needed), schema)
            for name, key, schema, needed in fields
        ]
        if all(name == key for name, key, _, _ in typed):
            lines = [f"    {name}: {kind}{self._comment(at)}" for name, _, kind, at in typed]
            return "\n".join([f"class {title}(TypedDict):", *lines])
        items = ", ".join(f"{key!r}: {kind}" for _, key, kind, _ in typed)
        return f'{title} = TypedDict("{title}", {{{items}}})'

    def _optional(self, kind: str, *, needed: bool) -> str:
        return kind if needed else f"NotRequired[{kind}]"

    def _comment(self, place: Json) -> str:
        note = _note(self._at(place))
        return f"  # {note}" if note else ""

    def _title(self, name: str) -> str:
        title = base = f"{self._stem}{_camel(name)}"
        number = 2
        while title in self._types:
            title, number = f"{base}{number}", number + 1
        self._types[title] = ""
        return title

    def _union(self, kinds: Sequence[str]) -> str:
        distinct = list(dict.fromkeys(kinds))
        return ANY if ANY in distinct or not distinct else " | ".join(distinct)


def _takes_others(schema: JsonObject) -> bool:
    """Whether there may be arguments that no parameter stands for."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return any(key in schema for key in ("anyOf", "oneOf", "allOf", "patternProperties"))
    more = schema.get("additionalProperties")
    return more is True or isinstance(more, Mapping) or len(properties) > MOST_FIELDS


def _only_part(schema: JsonObject) -> JsonObject:
    """The only part of an `allOf`, as generators write a reference with a description."""
    parts = schema.get("allOf")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], Mapping):
        return {**parts[0], **{key: value for key, value in schema.items() if key != "allOf"}}
    return schema


def _with_note(followed: Json, referring: JsonObject) -> Json:
    """What a reference leads to, with the description that stands beside the reference."""
    note = referring.get("description")
    if isinstance(followed, Mapping) and isinstance(note, str):
        return {**followed, "description": note}
    return followed


def _literal(schema: JsonObject) -> str:
    """The values that a place allows, if they are few and short; "" if not."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(values, list) or not 0 < len(values) <= MOST_VALUES:
        return ""
    shown = [_value(each) for each in values]
    return f"Literal[{', '.join(dict.fromkeys(shown))}]" if all(shown) else ""


def _default(schema: JsonObject) -> str:
    """The default of a parameter that may be left out: `...` if nobody says which."""
    return (_value(schema["default"]) or "...") if "default" in schema else "..."


def _value(value: Json) -> str:
    """A value as a Python literal; "" for one that is too long, or no plain value."""
    match value:
        case bool() | None:
            return repr(value)
        case int() if abs(value) < LARGEST_INT:
            return repr(value)
        case float() if isfinite(value):
            return repr(value)
        case str() if len(value) <= LONGEST_VALUE:
            return repr(value)
        case _:
            return ""
