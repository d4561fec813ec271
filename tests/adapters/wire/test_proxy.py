"""The proxy tool stands for the tool that it names."""

from typing import Any

import pytest

from toolcrib.adapters.wire.calls import ToolCall
from toolcrib.adapters.wire.outcome_text import error_text
from toolcrib.adapters.wire.proxy import revealed_by_call, unwrap_proxy_call
from toolcrib.model import CallError


@pytest.mark.parametrize(
    ("arguments", "name", "inner"),
    [
        ({"name": "look", "arguments": {"a": 1}}, "look", {"a": 1}),
        ('{"name": "look", "arguments": {"a": 1}}', "look", {"a": 1}),
        ({"name": "look", "arguments": '{"a": 1}'}, "look", '{"a": 1}'),
        ({"name": "look"}, "look", {}),
    ],
)
def test_a_call_of_the_proxy_is_unwrapped(arguments: Any, name: str, inner: Any):
    assert unwrap_proxy_call(ToolCall("1", "call_tool", arguments)) == ToolCall("1", name, inner)


@pytest.mark.parametrize("arguments", ["{", "[]", {"arguments": {}}, {"name": 7, "arguments": {}}])
def test_a_call_of_the_proxy_that_names_no_tool_is_refused_with_what_it_wants(arguments: Any):
    refused = unwrap_proxy_call(ToolCall("1", "call_tool", arguments)).refused
    assert refused
    assert (refused.code, refused.effect) == ("bad_arguments", "not_sent")
    assert refused.schema
    assert "name" in refused.schema["required"]  # pyright: ignore[reportOperatorIssue]


def test_another_call_is_left_as_it_is():
    call = ToolCall("1", "look", {"name": "x", "arguments": {}})
    assert unwrap_proxy_call(call) is call


def test_a_call_reveals_its_tool_unless_it_failed():
    call = ToolCall("1", "call_tool", {"name": "get_forecast", "arguments": {}})
    assert revealed_by_call(call, "sunny") == ("get_forecast",)
    assert revealed_by_call(ToolCall("1", "get_forecast", "{}"), "sunny") == ("get_forecast",)
    failed = error_text(CallError("not_revealed", "state", "search first"))
    assert revealed_by_call(call, failed) == ()
    assert revealed_by_call(
        ToolCall("1", "tool_search", "{}"), "You can call these now:\n- a(x)"
    ) == ("a",)
