"""Tools as typed functions, of schemas from anybody."""

import ast
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolcrib.model import JsonObject, ToolInfo
from toolcrib.program.signatures import ToolSignature, checked_text


def signature(
    parameters: JsonObject, output: JsonObject | None = None, description: str = "Do it."
) -> ToolSignature:
    tool = ToolInfo(
        name="mcp_shop_sell",
        description=description,
        parameters=parameters,
        output_schema=output,
    )
    return ToolSignature("shop", "sell", tool)


LABEL: JsonObject = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "As shown."}, "user-id": {}},
    "required": ["name"],
}
LARGE: JsonObject = {
    "type": "object",
    "properties": {
        "state": {"enum": ["open", "it's"], "default": "open", "description": "Which ones."},
        "class": {"type": ["integer", "null"]},
        "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}},
        "title": {"type": "string"},
        "ratio": {"anyOf": [{"type": "number"}, {"const": 3}]},
        "extra": {"type": "object", "additionalProperties": {"type": "boolean"}},
    },
    "required": ["title", "class"],
    "$defs": {"Label": LABEL},
}


def test_a_schema_becomes_types():
    output: JsonObject = {
        "type": "object",
        "properties": {"id": {"type": "integer", "description": "New."}},
    }
    assert (
        signature(LARGE, output).text
        == '''\
SellLabels = TypedDict("SellLabels", {'name': str, 'user-id': NotRequired[Any]})
class SellResult(TypedDict):
    id: NotRequired[int]  # New.
async def shop.sell(*, class_: int | None, title: str, state: Literal['open', "it's"] = 'open', \
labels: list[SellLabels] = ..., ratio: float | Literal[3] = ..., extra: dict[str, bool] = ...) \
-> SellResult:
    """Do it.

    state: Which ones.
    """'''
    )


def test_a_name_that_is_no_python_leads_back_to_its_key():
    assert signature(LARGE).keys["class_"] == "class"


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        ({}, "async def shop.sell() -> Any"),
        ({"type": "object"}, "async def shop.sell() -> Any"),
        ({"anyOf": [{}]}, "async def shop.sell(**arguments: Any) -> Any"),
        (
            {"properties": {"a": {}}, "additionalProperties": True},
            "async def shop.sell(*, a: Any = ..., **arguments: Any) -> Any",
        ),
        (
            {"properties": {"a": {"$ref": "https://elsewhere.example/schema"}}},
            "async def shop.sell(*, a: Any = ...) -> Any",
        ),
        (
            {"properties": {"n": {"default": 10**6000}, "s": {"enum": ["x" * 200]}}},
            "async def shop.sell(*, n: Any = ..., s: Any = ...) -> Any",
        ),
    ],
)
def test_what_nobody_knows_is_anything(schema: JsonObject, line: str):
    assert signature(schema).line == line


def test_a_schema_that_goes_round_in_a_circle_ends():
    node: JsonObject = {"properties": {"next": {"$ref": "#/$defs/Node"}}}
    circle: JsonObject = {
        "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Self"}},
        "$defs": {"Node": node, "Self": {"$ref": "#/$defs/Self"}},
    }
    text = checked_text([signature(circle)], ["shop"])
    assert "class SellNext5(TypedDict):\n        next: NotRequired[Any]" in text
    assert len(text) < 1_000


HOSTILE = st.sampled_from(
    [
        *['"""', '\\"""', "'''", "\\", "\n", "\r\n", "\x85", "\u2028", "\x00", "#", '"', "'"],
        *["}", ")", "import os", ": ...", "\ud800", "\u202e", "{x}", "class A:", "    pass", "é"],
        "__class__",
    ]
)
TEXTS = st.one_of(st.text(max_size=20), st.lists(HOSTILE, max_size=8).map("".join))
KINDS = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object", "x"])


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.one_of(KINDS, st.lists(KINDS, max_size=3)),
            "description": TEXTS,
            "properties": st.dictionaries(TEXTS, inner, max_size=4),
            "required": st.lists(TEXTS, max_size=3),
            "enum": st.lists(st.one_of(TEXTS, st.integers(), st.none(), st.booleans()), max_size=4),
            "const": st.one_of(TEXTS, st.floats()),
            "default": st.one_of(TEXTS, st.floats(), st.integers()),
            "items": inner,
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "additionalProperties": inner,
            "$ref": st.one_of(st.sampled_from(["#", "#/properties/a", "#/items"]), TEXTS),
        },
    )


SCHEMAS = st.recursive(st.one_of(st.just({}), st.none(), TEXTS), schemas, max_leaves=12)


@settings(max_examples=150, deadline=None)
@given(schemas(SCHEMAS), st.one_of(st.none(), schemas(SCHEMAS)), TEXTS)
def test_no_text_of_a_stranger_becomes_code(
    parameters: JsonObject, output: JsonObject | None, description: str
):
    made = signature(parameters, output, description)
    shown = ast.parse(made.text.replace("async def shop.sell(", "async def sell("))
    function = shown.body[-1]
    assert isinstance(function, ast.AsyncFunctionDef)
    assert len(function.body) == 1
    assert ast.get_docstring(function) is not None
    assert all(map(is_type, shown.body[:-1]))
    prelude, printing, group, thing = ast.parse(checked_text([made], ["shop"])).body
    assert isinstance(prelude, ast.ImportFrom)
    assert isinstance(printing, ast.FunctionDef)
    assert isinstance(thing, ast.AnnAssign)
    assert isinstance(group, ast.ClassDef)
    *types, method = group.body
    assert all(map(is_type, types))
    assert isinstance(method, ast.AsyncFunctionDef)


def is_type(node: ast.stmt) -> bool:
    """A `TypedDict` by either syntax, with names, subscripts and literals for types alone."""
    if isinstance(node, ast.Assign):
        value = node.value
        return isinstance(value, ast.Call) and ast.unparse(value.func) == "TypedDict"
    if not isinstance(node, ast.ClassDef):
        return False
    fields = all(isinstance(each, ast.AnnAssign) and not each.value for each in node.body)
    calls = any(isinstance(each, ast.Call) for each in ast.walk(node))
    return fields and not calls and [ast.unparse(base) for base in node.bases] == ["TypedDict"]


def test_a_huge_schema_has_a_bounded_text():
    wide: JsonObject = {
        "properties": {
            f"p{n}": {"properties": {f"q{m}": {"properties": {"r": {}}} for m in range(20)}}
            for n in range(1_000)
        }
    }
    text = signature(wide, description="x" * 100_000).text
    assert len(text) < 50_000 < len(json.dumps(wide))
