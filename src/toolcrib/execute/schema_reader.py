"""What a JSON Schema says of the value in one place, with its references followed.

For repairs and for the meter. Not a check: `schema_gate` decides whether a value fits.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from toolcrib.model import Json, JsonObject

# References within one schema, read as the validator reads them (RFC 6901 within RFC 3986).

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


MOST_HOPS = 8


class _Reading(NamedTuple):
    """What was found in a place. The schema is held, so that no other gets its identity."""

    schema: Json
    rule: JsonObject
    types: frozenset[str]
    defaults: Sequence[Json]


class SchemaReader:
    """Looks up rules in a schema, whose references lead into itself.

    Each place is looked at once: a list may have many values, and an enumeration too.
    """

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._seen: dict[int, _Reading] = {}

    def rule(self, schema: Json) -> JsonObject:
        """The schema itself: references followed, and `or null` looked through."""
        return self._look(schema).rule

    def types(self, schema: Json) -> frozenset[str]:
        """The JSON types that a value here may have; empty means any."""
        return self._look(schema).types

    def defaults(self, schema: Json) -> Sequence[Json]:
        """The value that stands for one that was left out here: one, or none."""
        return self._look(schema).defaults

    def _look(self, schema: Json) -> _Reading:
        if id(schema) not in self._seen:
            rule = self._rule(schema)
            said = (each for each in (schema, rule) if isinstance(each, Mapping))
            defaults = [each["default"] for each in said if "default" in each][:1]
            self._seen[id(schema)] = _Reading(schema, rule, self._types_of(schema), defaults)
        return self._seen[id(schema)]

    def _rule(self, schema: Json) -> JsonObject:
        followed = self._followed(schema)
        choices = [each for each in _choices(followed) if each != {"type": "null"}]
        return self._followed(choices[0]) if len(choices) == 1 else followed

    def _types_of(self, schema: Json) -> frozenset[str]:
        followed = self._followed(schema)
        if said := _said(followed):
            return said
        inner = [_said(self._followed(choice)) for choice in _choices(followed)]
        return frozenset[str]().union(*inner) if all(inner) else frozenset()

    def _followed(self, schema: Json) -> JsonObject:
        for _ in range(MOST_HOPS):
            if not isinstance(schema, Mapping):
                return {}
            if not isinstance(reference := schema.get("$ref"), str):
                return schema
            schema = pointed_at(self._root, reference)
        return {}


def properties_of(rule: JsonObject) -> JsonObject:
    """The properties that a schema declares."""
    properties = rule.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def required_by(rule: JsonObject) -> frozenset[str]:
    """The properties that a schema requires."""
    required = rule.get("required")
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


def _said(schema: JsonObject) -> frozenset[str]:
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
