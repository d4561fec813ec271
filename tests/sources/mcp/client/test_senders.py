"""What goes past the SDK's session says the same, and takes the same for an answer."""

from typing import Any

import pytest
from mcp_types import CallToolResult

from toolcrib.sources.mcp.client.round_trips import outcome_of
from toolcrib.sources.mcp.jsonrpc import is_plain_result

TEXT = {"type": "text", "text": "a"}
PLAIN: list[dict[str, Any]] = [
    {"content": []},
    {"content": [TEXT, TEXT]},
    {"content": [TEXT], "isError": True},
    {"content": [], "isError": True},
    {"content": [TEXT], "isError": False, "structuredContent": {"a": None, "b": [1]}},
]
UNUSUAL: list[dict[str, Any]] = [
    {},
    {"content": None},
    {"content": [TEXT | {"annotations": {}}]},
    {"content": [TEXT | {"x": 1}]},
    {"content": [{"type": "text"}]},
    {"content": [{"type": "text", "text": 1}]},
    {"content": [{"type": "image", "text": "a"}]},
    {"content": ["a"]},
    {"content": [TEXT], "isError": "yes"},
    {"content": [TEXT], "isError": None},
    {"content": [TEXT], "structuredContent": [1]},
    {"content": [TEXT], "structuredContent": None},
    {"content": [TEXT], "_meta": {}},
    {"content": [TEXT], "resultType": "complete"},
    {"content": [TEXT], "more": 1},
]


@pytest.mark.parametrize("result", PLAIN)
def test_a_plain_result_has_the_outcome_that_a_model_gives_it(result: dict[str, Any]):
    assert is_plain_result(result)
    assert outcome_of(result, "s") == outcome_of(CallToolResult.model_validate(result), "s")


@pytest.mark.parametrize("result", UNUSUAL)
def test_all_else_is_left_to_the_models(result: dict[str, Any]):
    assert not is_plain_result(result)
