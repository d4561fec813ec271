"""The scripted model refuses what the Messages API would: a test that runs on it can fail."""

from typing import Any

import pytest

from toolcrib.testing import CallTool, Say
from toolcrib.testing.anthropic import AnthropicApi
from toolcrib.testing.provider import ApiRefusal

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def tool(name: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": SCHEMA, **others}


def use(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "a", "input": {}}


def result(id: str, content: Any = "") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def said(*turns: list[Any]) -> list[Any]:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": turn} for place, turn in enumerate(turns)]


UNKNOWN = [{"type": "tool_reference", "tool_name": "b"}]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"tools": [tool("a", defer_loading=True)]}, "At least one tool"),
        ({"tools": [tool("a"), tool("a")]}, "unique"),
        ({"tools": [tool("a b")]}, "does not match"),
        ({"tools": [{"name": "a", "input_schema": {}}]}, "Field required"),
        ({"tools": [{"name": "a", "input_schema": {**SCHEMA, "anyOf": []}}]}, "top level"),
        (
            {"tools": [tool("a"), tool("b", defer_loading=True, cache_control={"type": "x"})]},
            "cache_control",
        ),
        ({"messages": said([], [use("1")], [])}, "without `tool_result`"),
        ({"messages": said([], [use("1")])}, "no `tool_result`"),
        ({"messages": said([result("1")])}, "unexpected `tool_use_id`"),
        (
            {"tools": [tool("a")], "messages": said([], [use("1")], [result("1", UNKNOWN)])},
            "Tool reference 'b' not found",
        ),
    ],
)
def test_a_bad_request_is_refused(body: dict[str, Any], why: str):
    with pytest.raises(ApiRefusal, match=why):
        AnthropicApi().sees(body)


def test_a_deferred_tool_is_out_of_sight_until_it_is_referred_to():
    tools = [tool("a"), tool("b", defer_loading=True)]
    body: Any = {"tools": tools, "max_tokens": 1, "messages": said([])}
    with pytest.raises(ApiRefusal, match="cannot call 'b'"):
        AnthropicApi().reply(body, [CallTool("b")], 1)
    body["messages"] = said([], [use("1")], [result("1", UNKNOWN)])
    assert AnthropicApi().reply(body, [CallTool("b")], 1)["stop_reason"] == "tool_use"


def test_the_number_of_tokens_has_to_be_said():
    with pytest.raises(ApiRefusal, match="max_tokens"):
        AnthropicApi().reply({}, [Say("Hi.")], 1)
