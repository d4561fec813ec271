import pytest

from toolcrib.execute.schema_reader import SchemaReader, properties_of, required_by, type_of

ROOT = {"$defs": {"n": {"type": "integer"}, "loop": {"$ref": "#/$defs/loop"}}}
READER = SchemaReader(ROOT)


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"integer", "null"}),
        ({"oneOf": [{"$ref": "#/$defs/n"}, {"type": "array"}]}, {"integer", "array"}),
        ({"$ref": "#/$defs/n"}, {"integer"}),
        ({"enum": ["a", 1, None]}, {"string", "integer", "number", "null"}),
        ({"const": True}, {"boolean"}),
        ({"anyOf": [{"type": "integer"}, {}]}, set()),
        ({}, set()),
        (True, set()),
        (None, set()),
        ({"$ref": "#/$defs/loop"}, set()),
        ({"$ref": "#/nowhere"}, set()),
    ],
)
def test_the_types_that_a_value_may_have(schema, types: set[str]):
    assert READER.types(schema) == types


def test_a_rule_is_what_stands_behind_references_and_beside_null():
    number = {"type": "integer"}
    assert READER.resolved({"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}) == number
    assert READER.resolved({"$ref": "#/$defs/n"}) == number
    both = {"anyOf": [number, {"type": "string"}]}
    assert READER.resolved(both) == both


@pytest.mark.parametrize(
    ("value", "types"),
    [
        (None, {"null"}),
        (True, {"boolean"}),
        (1, {"integer", "number"}),
        (1.5, {"number"}),
        ("1", {"string"}),
        ([1], {"array"}),
        ({}, {"object"}),
    ],
)
def test_the_types_that_a_value_has(value, types: set[str]):
    assert type_of(value) == types


@pytest.mark.parametrize("rule", [{}, {"properties": [], "required": "a"}, {"properties": None}])
def test_a_schema_that_says_nothing_sensible_says_nothing(rule):
    assert properties_of(rule) == {}
    assert required_by(rule) == frozenset()
