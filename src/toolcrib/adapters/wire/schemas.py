"""Schemas as providers take them.

A provider refuses what it does not know, a stranger's schema may hold anything, and one refused
tool fails the whole request. So what is sent says less than the tool's own schema where it must:
the door checks every call against the tool's own.
"""

from collections.abc import Mapping
from typing import cast

from toolcrib.model import Json, JsonObject

ALTERNATIVES = ("allOf", "anyOf", "oneOf")


def object_schema(schema: JsonObject) -> JsonObject:
    """A schema that is an object's at the top, without alternatives there.

    What the alternatives name as properties is kept, as what may be left out.
    """
    if schema.get("type") == "object" and not any(each in schema for each in ALTERNATIVES):
        return schema if "properties" in schema else {**schema, "properties": {}}
    kept = {key: value for key, value in schema.items() if key not in ALTERNATIVES}
    return {**kept, "type": "object", "properties": _properties(schema)}


def _properties(schema: JsonObject) -> JsonObject:
    found: dict[str, Json] = {}
    for word in ALTERNATIVES:
        for each in cast("list[Json]", schema.get(word) or []):
            if isinstance(each, Mapping):
                found |= _properties(cast("JsonObject", each))
    own = schema.get("properties")
    return found | (dict(cast("JsonObject", own)) if isinstance(own, Mapping) else {})
