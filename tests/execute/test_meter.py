import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execute.meter import (
    MOST_STEPS,
    MOST_STEPS_IN_ALL,
    Meter,
    TooLong,
    has_few_values,
    most_steps_a_value,
)


def affords(schema, value, **others) -> bool:
    try:
        Meter(schema, **others).afford(value)
    except TooLong:
        return False
    return True


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
    "names": lambda many: {"propertyNames": {"allOf": many}},
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


FRACTIONS = [number + 0.5 for number in range(3_000)]


@pytest.mark.parametrize(
    ("enum", "item"),
    [
        (FRACTIONS, 7.25),
        ([[number] for number in range(3_000)], [-1]),
        ([{"a": number} for number in range(3_000)], {"a": -1}),
        (list(range(3_000)), 7.25),
        (list(range(3_000)), 10**30),
    ],
    ids=["fractions", "lists", "objects", "fraction", "huge"],
)
@pytest.mark.parametrize("word", ["enum", "const"])
def test_a_comparison_with_many_values_counts_as_many(word: str, enum, item):
    schema = {"items": {"not": {word: enum}}}
    assert affords(schema, [item])
    assert not affords(schema, [item] * 8_000)


def test_texts_are_looked_up():
    schema = {"items": {"enum": [f"v{number}" for number in range(6_000)]}}
    assert affords(schema, ["w"] * 8_000)


@pytest.mark.parametrize("way", ["value", "keys", "names"])
def test_a_pattern_counts_by_its_states_and_the_length_of_the_text(way: str):
    text = "ab" * 100_000
    schema, value = {
        "value": ({"pattern": "p"}, text),
        "keys": ({"patternProperties": {"p": {}}}, {text: 1}),
        "names": ({"propertyNames": {"pattern": "p"}}, {text: 1}),
    }[way]
    assert affords(schema, value, patterns={"p": 1})
    assert not affords(schema, value, patterns={"p": 64})


@pytest.mark.parametrize("word", ["unevaluatedProperties", "unevaluatedItems"])
@pytest.mark.parametrize("way", ["allOf", "anyOf", "oneOf", "if"])
def test_what_is_left_unevaluated_is_gone_through_again_at_every_level(word: str, way: str):
    def nested(levels: int) -> dict[str, object]:
        schema: dict[str, object] = {}
        for _ in range(levels):
            schema = {word: False, way: schema if way == "if" else [schema]}
        return schema

    assert affords(nested(4), {"a": 1})
    assert not affords(nested(20), {"a": 1})


def test_many_values_do_not_make_everything_affordable():
    schema = {"items": {"allOf": [{}] * 19}}
    assert affords(schema, [1] * (MOST_STEPS_IN_ALL // 40))
    assert not affords(schema, [1] * MOST_STEPS_IN_ALL)


def test_counting_ends_at_the_deadline():
    schema, value = {"items": {}}, [1] * 10_000
    assert affords(schema, value, deadline=time.monotonic() + 1_000)
    assert not affords(schema, value, deadline=time.monotonic() - 1)


def steps_of(schema, value) -> int:
    """How many steps the meter counts."""

    class Counted(Meter):
        steps = 0

        def _weight(self, step):
            weight = super()._weight(step)
            Counted.steps += weight
            return weight

    Counted(schema).afford(value)
    return Counted.steps


LEAVES = st.sampled_from(
    [True, {"type": "string"}, {"enum": [1, 2.5, "x"]}, {"const": {"a": [1]}}, {"required": ["a"]}]
)
KEYS = st.sampled_from(["a", "b", "c"])
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.dictionaries(
            st.sampled_from(["not", "if", "then", "additionalProperties", "items", "contains"]),
            inner,
        )
        | st.dictionaries(st.sampled_from(["allOf", "anyOf", "prefixItems"]), st.lists(inner))
        | st.dictionaries(
            st.sampled_from(["properties", "dependentSchemas"]), st.dictionaries(KEYS, inner)
        )
    ),
    max_leaves=12,
)
VALUES = st.recursive(
    st.just("x") | st.just(1.5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(SCHEMAS, VALUES)
def test_no_check_takes_more_steps_than_there_are_parts_for_each_value(schema, value):
    most = most_steps_a_value(schema)
    assert most is not None
    values = next(number for number in range(1, 1_000) if has_few_values(value, number))
    assert steps_of(schema, value) <= most * values


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": {}}},
        {"properties": {"a": {"pattern": "a"}}},
        {"patternProperties": {"a": {}}},
        {"propertyNames": {"maxLength": 3}},
        {"allOf": [{"unevaluatedProperties": False}]},
        {"items": {"unevaluatedItems": False}},
    ],
)
def test_what_may_be_gone_through_again_is_always_counted(schema):
    assert most_steps_a_value(schema) is None


def test_values_are_counted_up_to_a_bound():
    value = {"a": [1, {"b": 2}]}
    assert [has_few_values(value, most) for most in (0, 4, 5)] == [False, False, True]
    endless: list[Any] = []
    endless.append(endless)
    assert not has_few_values(endless, 100)
