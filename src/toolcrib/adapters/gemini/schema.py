"""Parameters in the part of JSON Schema that Gemini takes.

It refuses a request for a keyword that it does not know. So what it does not take is left out or
said otherwise: the door checks every call against the tool's own schema.
"""

from collections.abc import Mapping
from typing import cast

from toolcrib.adapters.wire.tool_list import object_schema
from toolcrib.model import Json, JsonObject

PLAIN = frozenset(
    """
    $anchor $id description enum format maxItems maximum minItems minimum propertyOrdering required
    title type
    """.split()
)
NAMED = frozenset({"$defs", "properties"})
LISTED = frozenset({"anyOf", "oneOf", "prefixItems"})
INNER = frozenset({"additionalProperties", "items"})
OLD_PLACE, PLACE = "#/definitions/", "#/$defs/"


def gemini_schema(schema: JsonObject) -> JsonObject:
    """The parameters of a tool as Gemini takes them."""
    return _reduced(object_schema(schema))


def _reduced(schema: JsonObject) -> JsonObject:
    ref = schema.get("$ref")
    if isinstance(ref, str):
        moved = ref.replace(OLD_PLACE, PLACE)
        return {"$ref": moved} if moved.startswith(PLACE) else {}
    result: dict[str, Json] = {}
    for key, value in _merged(schema).items():
        match key, value:
            case "const", _:
                result["enum"] = [value]
            case "definitions", dict():
                result["$defs"] = _each(value)
            case _, dict() if key in NAMED:
                result[key] = _each(value)
            case _, list() if key in LISTED:
                result[key] = [_inner(each) for each in value]
            case "additionalProperties", bool():
                result[key] = value
            case _ if key in INNER:
                result[key] = _inner(value)
            case _ if key in PLAIN:
                result[key] = value
            case _:
                pass
    return result


def _merged(schema: JsonObject) -> JsonObject:
    """The schema with what `allOf` adds to it, the schema's own words first."""
    added: dict[str, Json] = {}
    for each in cast("list[Json]", schema.get("allOf") or []):
        if isinstance(each, Mapping):
            added |= _merged(cast("JsonObject", each))
    return {**added, **{key: value for key, value in schema.items() if key != "allOf"}}


def _each(schemas: Mapping[str, Json]) -> JsonObject:
    return {name: _inner(schema) for name, schema in schemas.items()}


def _inner(schema: Json) -> JsonObject:
    """True and other oddities allow everything, which nothing says as well."""
    return _reduced(cast("JsonObject", schema)) if isinstance(schema, Mapping) else {}
