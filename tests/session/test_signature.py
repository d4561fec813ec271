import pytest

from toolcrib.model import JsonObject
from toolcrib.session.search_result import signature

CASES: list[tuple[JsonObject, str]] = [
    ({}, "f()"),
    ({"properties": {"a": {"type": "string"}}}, "f(a?: string)"),
    (
        {"properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]},
        "f(b: any, a?: integer)",
    ),
    (
        {"properties": {"a": {"type": "array", "items": {"type": "string"}}}},
        "f(a?: string[])",
    ),
    ({"properties": {"a": {"enum": ["x", 1]}}}, "f(a?: 'x'|1)"),
    ({"properties": {"a": {"enum": ["x" * 90]}}}, "f(a?: choice)"),
    ({"properties": {"a": {"enum": [*range(9)]}}}, "f(a?: 0|1|2|3|4|5|…)"),
    ({"properties": {"a": {"type": ["string", "null"]}}}, "f(a?: string|null)"),
    (
        {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "null"}]}}},
        "f(a?: string|null)",
    ),
    ({"properties": "none", "required": "a"}, "f()"),
    ({"properties": {"a": True}}, "f(a?: any)"),
]


@pytest.mark.parametrize(("schema", "line"), CASES)
def test_a_schema_on_one_line(schema: JsonObject, line: str):
    assert signature("f", schema) == line


def test_many_parameters_are_cut():
    schema: JsonObject = {"properties": {f"p{n}": {"type": "null"} for n in range(20)}}
    assert signature("f", schema).endswith("p11?: null, …)")
