"""Schemas as every provider takes them at the top."""

from typing import Any

import pytest

from toolcrib.adapters.wire.tool_list import object_schema


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        (
            {"oneOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
            {"type": "object", "properties": {"a": {}, "b": {}}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "allOf": [{"anyOf": [{}]}]},
            {"type": "object", "properties": {"a": {"type": "string"}}},
        ),
    ],
)
def test_the_top_is_an_object_without_alternatives(schema: Any, sent: Any):
    assert object_schema(schema) == sent


def test_what_is_fine_is_left_as_it_is():
    schema: Any = {"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}}
    assert object_schema(schema) is schema
