import pytest

from toolcrib.execute.meter import MOST_STEPS, Meter


def affords(schema, value) -> bool:
    return Meter(schema).affords(schema, value)


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, {"a": [1, {"b": 2}]}])
def test_a_plain_schema_is_always_afforded(value):
    schema = {"properties": {"a": {"items": {"properties": {"b": {"type": "integer"}}}}}}
    assert affords(schema, value)
    assert affords({}, value)


def test_large_arguments_are_afforded_where_each_value_takes_few_steps():
    row = {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert affords({"properties": {"rows": {"items": row}}}, {"rows": [{"a": 1}] * MOST_STEPS})


APPLIED = {
    "allOf": lambda many: {"properties": {"a": {"allOf": many}}},
    "anyOf": lambda many: {"properties": {"a": {"anyOf": many}}},
    "patterns": lambda many: {"patternProperties": {str(n): each for n, each in enumerate(many)}},
    "items": lambda many: {"properties": {"a": {"items": {"oneOf": many}}}},
    "contains": lambda many: {"properties": {"a": {"contains": {"allOf": many}}}},
    "prefixItems": lambda many: {"properties": {"a": {"prefixItems": [{"allOf": many}]}}},
    "dependent": lambda many: {"dependentSchemas": {"a": {"allOf": many}}},
    "additional": lambda many: {"additionalProperties": {"not": {"if": {"allOf": many}}}},
    "unevaluated": lambda many: {"unevaluatedProperties": {"then": {"else": {"allOf": many}}}},
}


@pytest.mark.parametrize("way", APPLIED)
def test_every_way_to_apply_a_schema_is_counted(way: str):
    assert affords(APPLIED[way]([{}] * 10), {"a": [1]})
    assert not affords(APPLIED[way]([{}] * (2 * MOST_STEPS)), {"a": [1]})


def test_what_does_not_apply_costs_nothing():
    many = {"allOf": [{}] * (2 * MOST_STEPS)}
    assert affords({"properties": {"b": many}, "$defs": {"c": many}}, {"a": 1})
    assert affords({"prefixItems": [{}, many]}, [1])
