"""The proxy tool stands for the tool that it names."""

from typing import Any

import pytest

from toolcrib.adapters.wire.calls import ToolCall
from toolcrib.adapters.wire.proxy import unwrapped


@pytest.mark.parametrize(
    ("arguments", "name", "inner"),
    [
        ({"name": "look", "arguments": {"a": 1}}, "look", {"a": 1}),
        ('{"name": "look", "arguments": {"a": 1}}', "look", {"a": 1}),
        ({"name": "look", "arguments": '{"a": 1}'}, "look", '{"a": 1}'),
        ({"name": "look"}, "look", {}),
        ("{", "call_tool", "{"),
        ({"arguments": {}}, "call_tool", {"arguments": {}}),
    ],
)
def test_a_call_of_the_proxy_is_unwrapped(arguments: Any, name: str, inner: Any):
    assert unwrapped(ToolCall("1", "call_tool", arguments)) == ToolCall("1", name, inner)


def test_another_call_is_left_as_it_is():
    call = ToolCall("1", "look", {"name": "x", "arguments": {}})
    assert unwrapped(call) is call
