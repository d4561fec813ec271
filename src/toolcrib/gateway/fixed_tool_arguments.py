"""The arguments of the fixed tools, read with patience.

The usual slips of weak models are put right here: arguments as text, flattened beside the name,
wrapped once more, the name under another key or inside the arguments. Nothing is guessed: the call
goes to the door, which resolves the name and checks all arguments.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from toolcrib.execute import ARGUMENT_WRAPPERS, ArgumentCheck, CallRefused
from toolcrib.gateway.fixed_tool_definitions import CALL, CALL_READ, FIXED_TOOLS
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.strict_json import NotJson, check_json_size, read_json

DEEPEST = 3
MOST_VALUES = 1_000
MOST_CHARACTERS = 64 * 1024
"""Of the arguments of a fixed tool; those that it hands on are the door's to bound."""

_NAMES = ("name", "tool_name", "toolName", "tool")
_CALLS = frozenset({CALL, CALL_READ})


class ArgumentReader:
    """Reads and checks the arguments of fixed tools. Within its bounds that takes a moment."""

    def __init__(self) -> None:
        self._check = ArgumentCheck()

    def read(
        self, tool: ToolInfo, given: JsonObject, read: Callable[[JsonObject], JsonObject] = dict
    ) -> JsonObject:
        """The arguments of a tool, as `read` puts them right. Raises `CallRefused`."""
        try:
            check_json_size(given, most_values=MOST_VALUES, most_characters=MOST_CHARACTERS)
        except NotJson as error:
            message = f"the arguments of {tool.name!r}: {error}"
            raise CallRefused(
                "bad_arguments", "arguments", message, schema=tool.parameters
            ) from None
        return self._check.check(tool, read(given)).arguments


@dataclass(frozen=True, slots=True)
class CallRequest:
    """The call that a call tool is to make. `set` is empty where none was given."""

    name: str
    arguments: JsonObject | str
    set: str = ""


def read_call(given: JsonObject, deepest: int = DEEPEST) -> CallRequest:
    """The call that the arguments of a call tool mean. Raises `CallRefused` without a name."""
    rest = dict(given)
    handle = rest.pop("set", "")
    name = _pop_name(rest)
    inner = _pop_arguments(rest)
    nested = _object(inner)
    if deepest and nested and (name in _CALLS or not name) and any(k in nested for k in _NAMES):
        inner_call = read_call(nested, deepest - 1)
        return CallRequest(inner_call.name, inner_call.arguments, inner_call.set or _text(handle))
    if not name:
        message = "a call needs the `name` of a tool, as a search gave it"
        schema = FIXED_TOOLS[CALL].parameters
        raise CallRefused("bad_arguments", "arguments", message, schema=schema)
    return CallRequest(name, _merge(inner, rest), _text(handle))


def read_search(given: JsonObject) -> JsonObject:
    """The arguments of a search, with a single `query` among the `queries`."""
    if "query" not in given:
        return given
    rest = dict(given)
    query, queries = rest.pop("query"), rest.get("queries")
    others = (
        [*queries] if isinstance(queries, list | tuple) else [] if queries is None else [queries]
    )
    return {**rest, "queries": [query, *others]}


def read_names(given: JsonObject) -> JsonObject:
    """The arguments of a description, with a single `name` for the `names`."""
    one = {key: given[key] for key in _NAMES if key in given}
    if "names" in given or not one:
        return given
    rest = {key: value for key, value in given.items() if key not in one}
    return {**rest, "names": list(one.values())[:1]}


def _pop_name(rest: dict[str, Json]) -> str:
    """The name, taken out of the rest; "" if there is none."""
    for key in _NAMES:
        if isinstance(rest.get(key), str):
            return cast("str", rest.pop(key))
    return ""


def _pop_arguments(rest: dict[str, Json]) -> Json:
    """The arguments, taken out of the rest; None if there are none.

    Another key than `arguments` counts only if it is the only one and holds an object: else it is
    the name of a parameter.
    """
    if "arguments" in rest:
        return rest.pop("arguments")
    if (
        len(rest) == 1
        and (key := next(iter(rest))) in ARGUMENT_WRAPPERS
        and _object(rest[key]) is not None
    ):
        return rest.pop(key)
    return None


def _merge(inner: Json, rest: JsonObject) -> JsonObject | str:
    """The arguments, with those that were given beside them."""
    if isinstance(inner, str) and not rest:
        return inner
    arguments = _object(inner)
    if arguments is None and inner not in (None, ""):
        return cast("JsonObject", inner)  # no object: the door says so, with the schema
    return {**rest, **(arguments or {})}


def _object(value: Json) -> JsonObject | None:
    """An object, also one that is written as text; None for anything else."""
    if isinstance(value, str):
        try:
            value = read_json(value)
        except NotJson:
            return None
    return value if isinstance(value, Mapping) else None


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
