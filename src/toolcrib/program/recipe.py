"""A recipe: a program that the operator has kept as a tool, with typed inputs.

    NAME, description, inputs, program, the tools that it calls with their pins

Its inputs are variables of the program. It may call the tools that it was saved with, by the pins
that they had then, and no others. So it calls no other recipe, and itself neither.
"""

import ast
import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, get_args

from toolcrib.errors import ConfigError
from toolcrib.model import Entry, Json, JsonObject, PermissionKind, ToolInfo
from toolcrib.names import RESERVED_NAMES
from toolcrib.program.identifiers import is_taken
from toolcrib.strict_json import canonical_json, json_digest
from toolcrib.text import without_hidden

CATEGORY = "recipe"
MOST_INPUTS = 20
LONGEST_TEXT = 1_000

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")
_INPUT = re.compile(
    r"(?P<name>\w+)\s*:\s*(?P<type>[\w\[\]]+)\s*(?:=\s*(?P<default>.*))?\Z", re.DOTALL
)
_TYPES: Mapping[str, JsonObject] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object"},
    "list": {"type": "array"},
    "list[str]": {"type": "array", "items": {"type": "string"}},
    "list[int]": {"type": "array", "items": {"type": "integer"}},
    "list[float]": {"type": "array", "items": {"type": "number"}},
    "list[dict]": {"type": "array", "items": {"type": "object"}},
}
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "object": dict,
    "array": list,
}


class RecipeTool(NamedTuple):
    """A tool that a recipe may call: its name, the function that it is, its kind and its pin."""

    name: str
    path: str
    permission_kind: PermissionKind
    pin: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """A program that is a tool. `parameters` is the JSON Schema of its inputs."""

    name: str
    description: str
    parameters: JsonObject
    program: str
    tools: tuple[RecipeTool, ...]

    @property
    def permission_kind(self) -> PermissionKind:
        """The highest of its calls; `read` if it calls nothing."""
        order: tuple[PermissionKind, ...] = get_args(PermissionKind)
        kinds: list[PermissionKind] = [each.permission_kind for each in self.tools]
        return max(kinds, key=order.index) if kinds else "read"

    @property
    def pin(self) -> str:
        """A hash of all of it, with the pins of its tools."""
        return json_digest(self.fields())

    @property
    def info(self) -> ToolInfo:
        """The tool that it is."""
        return ToolInfo(
            name=self.name,
            description=self.description,
            parameters=self.parameters,
            permission_kind=self.permission_kind,
            category=CATEGORY,
            named_by="operator",
            pin=self.pin,
        )

    def values(self, arguments: JsonObject) -> Mapping[str, Json]:
        """The inputs of a run: the arguments, and the defaults of what is not given."""
        properties: Any = self.parameters["properties"]
        given = {name: value for name, value in arguments.items() if value is not None}
        default = {name: each["default"] for name, each in properties.items() if "default" in each}
        return {**default, **given}

    def handle(self, arguments: JsonObject, caller: str) -> str:
        """Under which this call waits for a person: the same call of the same caller goes on."""
        return f"{HANDLE}{json_digest([self.pin, caller, canonical_json(arguments)])[:32]}"

    def fields(self) -> JsonObject:
        """As JSON, for `recipe_from`."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "program": self.program,
            "tools": [list(each) for each in self.tools],
        }


HANDLE = "recipe-"
"""How the handle of a recipe that waits begins. Only the same call resumes it."""


def recipe_from(fields: Any) -> Recipe:  # noqa: ANN401 - of a file
    """The recipe of such fields. Raises `ValueError` for any other."""
    match fields:
        case {
            "name": str(name),
            "description": str(description),
            "parameters": {"properties": {}} as parameters,
            "program": str(program),
            "tools": [*tools],
        }:
            return Recipe(name, description, parameters, program, tuple(map(_tool, tools)))
        case _:
            raise ValueError("not a recipe that this version can read")


def is_recipe(what: ToolInfo | Entry) -> bool:
    """Whether a tool is a recipe: beside servers, nothing else is added by the operator by name."""
    return (what.source, what.named_by) == ("builtin", "operator")


def changed_tools(recipe: Recipe, entries: Mapping[str, Entry]) -> Sequence[str]:
    """The tools of a recipe that are not what they were when it was saved, or are gone."""
    return [
        each.name
        for each in recipe.tools
        if each.name not in entries or entries[each.name].pin != each.pin
    ]


def checked_name(name: str) -> str:
    """The name of a recipe. Raises `ConfigError`."""
    if not _NAME.match(name) or keyword.iskeyword(name) or name in RESERVED_NAMES:
        rule = "lower-case letters, digits and `_`, a letter first, at most 64"
        raise ConfigError(f"{name!r:.80} cannot be the name of a recipe; take {rule}")
    return name


def checked_description(text: str) -> str:
    """What a recipe is for, as a search reads it. Raises `ConfigError`."""
    visible = without_hidden(text).strip()
    if not visible or len(visible) > LONGEST_TEXT:
        todo = f"say in at most {LONGEST_TEXT} characters what it does: --description"
        raise ConfigError(f"a recipe is found by its description; {todo}")
    return visible


def recipe_parameters(inputs: Iterable[str], groups: Iterable[str] = ()) -> JsonObject:
    """The schema of inputs like `city:str` and `days:int=3`.

    `groups` are names that mean servers in programs. Raises `ConfigError`.
    """
    properties: dict[str, JsonObject] = {}
    for text in inputs:
        name, schema = _read_input(text)
        if name in properties or name in groups or is_taken(name) or name.startswith("_"):
            raise ConfigError(f"the input {name!r} needs another name: this one means something")
        properties[name] = schema
    if len(properties) > MOST_INPUTS:
        raise ConfigError(f"a recipe has at most {MOST_INPUTS} inputs; take a `dict`")
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, each in properties.items() if "default" not in each],
        "additionalProperties": False,
    }


def _read_input(text: str) -> tuple[str, JsonObject]:
    found = _INPUT.match(text.strip())
    schema = _TYPES.get(found["type"]) if found else None
    if found is None or schema is None or not found["name"].isidentifier():
        types = ", ".join(_TYPES)
        raise ConfigError(
            f"{text!r:.80} is no input; write NAME:TYPE or NAME:TYPE=DEFAULT, {types}"
        )
    name, default = found["name"], found["default"]
    if keyword.iskeyword(name) or not name.isascii():
        raise ConfigError(f"{name!r:.80} cannot be the name of an input; take another")
    if default is None:
        return name, schema
    value = _literal(default)
    wanted, is_bool = _KINDS[str(schema["type"])], isinstance(value, bool)
    if not isinstance(value, wanted) or is_bool != (wanted is bool):
        raise ConfigError(f"the default of {name!r} is no {found['type']}; write it as in Python")
    return name, {**schema, "default": value}


def _literal(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """The value of a Python literal; a text that is none is itself."""
    try:
        return json.loads(json.dumps(ast.literal_eval(text)))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text


def _tool(fields: object) -> RecipeTool:
    match fields:
        case [str(name), str(path), str(kind), str(pin)] if kind in get_args(PermissionKind):
            return RecipeTool(name, path, kind, pin)  # pyright: ignore[reportArgumentType] - it is one
        case _:
            raise ValueError("not a tool of a recipe")
