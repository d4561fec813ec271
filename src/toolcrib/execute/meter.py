"""What it costs to check a value against a schema, counted before it is checked.

References and alternatives multiply: twenty definitions that each name the next one twice are a
million steps. The count is never below what the check does, and stops when it is too much.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from toolcrib.execute.pointer import pointed_at
from toolcrib.model import Json, JsonObject

MOST_STEPS = 20_000
MOST_STEPS_A_VALUE = 20

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_BY_KEY = ("properties", "dependentSchemas", "dependencies")
_OF_ANY_VALUE = ("additionalProperties", "unevaluatedProperties", "propertyNames")
_OF_ANY_ITEM = ("items", "additionalItems", "unevaluatedItems", "contains")
_OF_SOME_ITEMS = ("prefixItems", "items")

Step: TypeAlias = tuple[Json, Json]


class Meter:
    """Counts the steps of one check against a schema, whose references lead into itself."""

    def __init__(self, root: JsonObject) -> None:
        self._root = root

    def affords(self, schema: Json, value: Json) -> bool:
        """Whether the check takes few steps, or few a value; one that never ends does not."""
        waiting: list[Step] = [(schema, value)]
        for _ in range(MOST_STEPS + MOST_STEPS_A_VALUE * _values(value)):
            if not waiting:
                return True
            waiting.extend(self._next(*waiting.pop()))
        return not waiting

    def _next(self, schema: Json, value: Json) -> Iterator[Step]:
        if not isinstance(schema, Mapping):
            return
        for each in self._in_place(schema):
            yield each, value
        if isinstance(value, Mapping):
            yield from _into_object(schema, value)
        elif isinstance(value, list):
            yield from _into_list(schema, value)

    def _in_place(self, schema: JsonObject) -> Iterator[Json]:
        """The schemas that the same value has to fit, or may."""
        if isinstance(reference := schema.get("$ref"), str):
            yield pointed_at(self._root, reference)
        for key in _ALTERNATIVES:
            yield from _listed(schema.get(key))
        for key in _IN_PLACE:
            if key in schema:
                yield schema[key]


def _values(value: Json) -> int:
    """How many values there are in it, itself included."""
    match value:
        case {**inner}:
            return 1 + sum(map(_values, inner.values()))
        case list():
            return 1 + sum(map(_values, value))
        case _:
            return 1


def _into_object(schema: JsonObject, value: Mapping[str, Json]) -> Iterator[Step]:
    for key in _BY_KEY:
        named = schema.get(key)
        if isinstance(named, Mapping):
            inner = value if key == "properties" else dict.fromkeys(value, value)
            yield from ((named[name], inner[name]) for name in inner if name in named)
    patterns = schema.get("patternProperties")
    for_any = [schema[key] for key in _OF_ANY_VALUE if key in schema]
    for_any += patterns.values() if isinstance(patterns, Mapping) else ()
    yield from ((each, inner) for each in for_any for inner in value.values())


def _into_list(schema: JsonObject, value: Sequence[Json]) -> Iterator[Step]:
    for key in _OF_SOME_ITEMS:
        yield from zip(_listed(schema.get(key)), value, strict=False)
    for key in _OF_ANY_ITEM:
        if isinstance(schema.get(key), Mapping):
            yield from ((schema[key], inner) for inner in value)


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()
