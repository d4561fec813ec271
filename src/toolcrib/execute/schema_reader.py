"""What a JSON Schema says of the value in one place, with its references followed.

References are read as the validator reads them (RFC 6901 within RFC 3986). For repairs and for the
meter. Not a check: `schema_gate` decides whether a value fits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from toolcrib.model import Json, JsonObject

MOST_HOPS = 8

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")


def pointed_at(root: Json, reference: str) -> Json:
    """What a local reference (`#`, `#/a/b`) leads to; None if nothing is there.

    None too for one that two readers could read differently: whoever needs to know what stands
    there has to refuse it.
    """
    try:
        pointer = unquote_to_bytes(reference.removeprefix("#")).decode()
    except ValueError:
        return None
    found = root
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        match found:
            case {**inner}:
                found = inner.get(key)
            case list() if _INDEX.fullmatch(key) and int(key) < len(found):
                found = found[int(key)]
            case _:
                return None
    return found


class _PlaceReading(NamedTuple):
    """What one place says. It holds the schema, so that no other schema gets the same id."""

    schema: Json
    resolved: JsonObject
    types: frozenset[str]
    defaults: Sequence[Json]


class SchemaReader:
    """Reads places of one schema, whose references lead into itself.

    Each place is read once: a list may have many values, and an enumeration too.
    """

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._readings: dict[int, _PlaceReading] = {}

    def resolved(self, schema: Json) -> JsonObject:
        """The schema itself: references followed, and the other one of "this or null"."""
        return self._read(schema).resolved

    def types(self, schema: Json) -> frozenset[str]:
        """The JSON types that a value here may have; empty means any."""
        return self._read(schema).types

    def defaults(self, schema: Json) -> Sequence[Json]:
        """The value that stands for one that was left out here: one, or none."""
        return self._read(schema).defaults

    def _read(self, schema: Json) -> _PlaceReading:
        if id(schema) not in self._readings:
            resolved = self._resolve(schema)
            both = [each for each in (schema, resolved) if isinstance(each, Mapping)]
            defaults = [each["default"] for each in both if "default" in each][:1]
            reading = _PlaceReading(schema, resolved, self._types_of(schema), defaults)
            self._readings[id(schema)] = reading
        return self._readings[id(schema)]

    def _resolve(self, schema: Json) -> JsonObject:
        followed = self._followed(schema)
        choices = [each for each in _choices(followed) if each != {"type": "null"}]
        return self._followed(choices[0]) if len(choices) == 1 else followed

    def _types_of(self, schema: Json) -> frozenset[str]:
        followed = self._followed(schema)
        if types := _own_types(followed):
            return types
        inner = [_own_types(self._followed(choice)) for choice in _choices(followed)]
        return frozenset[str]().union(*inner) if all(inner) else frozenset()

    def _followed(self, schema: Json) -> JsonObject:
        for _ in range(MOST_HOPS):
            if not isinstance(schema, Mapping):
                return {}
            if not isinstance(reference := schema.get("$ref"), str):
                return schema
            schema = pointed_at(self._root, reference)
        return {}


def properties_of(schema: JsonObject) -> JsonObject:
    """The properties that a schema declares."""
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def required_by(schema: JsonObject) -> frozenset[str]:
    """The properties that a schema requires."""
    required = schema.get("required")
    return frozenset(map(str, required)) if isinstance(required, list) else frozenset()


def type_of(value: Json) -> frozenset[str]:
    """The JSON types that a value has: a whole number is an integer and a number."""
    match value:
        case None:
            return frozenset({"null"})
        case bool():
            return frozenset({"boolean"})
        case int():
            return frozenset({"integer", "number"})
        case float():
            return frozenset({"number"})
        case str():
            return frozenset({"string"})
        case _:
            return frozenset({"object" if isinstance(value, Mapping) else "array"})


def _own_types(schema: JsonObject) -> frozenset[str]:
    """The types that a schema names, or those of the values that it lists; empty: neither."""
    match schema.get("type"):
        case str(only):
            return frozenset({only})
        case list(several):
            return frozenset(map(str, several))
        case _:
            return frozenset(name for value in _values(schema) for name in type_of(value))


def _values(schema: JsonObject) -> Iterator[Json]:
    if isinstance(listed := schema.get("enum"), list):
        yield from listed
    if "const" in schema:
        yield schema["const"]


def _choices(schema: JsonObject) -> Iterator[Json]:
    for key in ("anyOf", "oneOf"):
        if isinstance(choices := schema.get(key), list):
            yield from choices
