from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.execute import CallRefused
from toolcrib.gateway.fixed_tool_arguments import CallRequest, read_call, read_names, read_search


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ({"name": "a", "arguments": {"b": 1}}, CallRequest("a", {"b": 1})),
        ({"name": "a", "arguments": {"b": 1}, "set": "s"}, CallRequest("a", {"b": 1}, "s")),
        ({"name": "a"}, CallRequest("a", {})),
        ({"name": "a", "arguments": None}, CallRequest("a", {})),
        ({"name": "a", "arguments": ""}, CallRequest("a", "")),
        ({"name": "a", "arguments": '{"b": 1}'}, CallRequest("a", '{"b": 1}')),
        ({"name": "a", "b": 1}, CallRequest("a", {"b": 1})),
        ({"name": "a", "b": 1, "arguments": {"c": 2}}, CallRequest("a", {"b": 1, "c": 2})),
        ({"name": "a", "b": 1, "arguments": '{"c": 2}'}, CallRequest("a", {"b": 1, "c": 2})),
        ({"name": "a", "b": 1, "arguments": {"b": 2}}, CallRequest("a", {"b": 2})),
        ({"tool_name": "a", "params": {"b": 1}}, CallRequest("a", {"b": 1})),
        ({"toolName": "a", "input": '{"b": 1}'}, CallRequest("a", '{"b": 1}')),
        ({"tool": "a", "input": "text"}, CallRequest("a", {"input": "text"})),
        ({"name": "a", "input": {"b": 1}, "c": 2}, CallRequest("a", {"input": {"b": 1}, "c": 2})),
        ({"name": "a", "arguments": [1]}, CallRequest("a", [1])),  # type: ignore[arg-type]
        ({"arguments": {"name": "a", "arguments": {"b": 1}}}, CallRequest("a", {"b": 1})),
        ({"arguments": '{"tool_name": "a", "b": 1}'}, CallRequest("a", {"b": 1})),
        (
            {"name": "tool_call", "arguments": {"name": "a", "arguments": {"b": 1}}, "set": "s"},
            CallRequest("a", {"b": 1}, "s"),
        ),
        ({"name": "a", "arguments": {"name": "b"}}, CallRequest("a", {"name": "b"})),
        ({"name": "tool_call", "arguments": {"x": 1}}, CallRequest("tool_call", {"x": 1})),
    ],
)
def test_a_call_is_read_as_it_was_meant(said: dict[str, Any], wanted: CallRequest):
    assert read_call(said) == wanted


@pytest.mark.parametrize("said", [{}, {"arguments": {}}, {"name": 3}, {"name": ""}, {"set": "s"}])
def test_without_a_name_there_is_no_call(said: dict[str, Any]):
    with pytest.raises(CallRefused, match="`name` of a tool"):
        read_call(said)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "arguments", "set", "input", "x"]), inner)
    ),
    max_leaves=9,
)


@given(st.dictionaries(st.sampled_from(["name", "tool", "arguments", "set", "params", "x"]), JSON))
def test_whatever_is_said_is_read_or_refused(said: dict[str, Any]):
    with suppress(CallRefused):
        assert read_call(said).name


def test_one_query_and_one_name_do_for_several():
    assert read_search({"query": "a", "limit": 2}) == {"queries": ["a"], "limit": 2}
    assert read_search({"query": "a", "queries": ["b"]}) == {"queries": ["a", "b"]}
    assert read_search({"query": "a", "queries": "b"}) == {"queries": ["a", "b"]}
    assert read_search({"queries": ["b"]}) == {"queries": ["b"]}
    assert read_names({"name": "a"}) == {"names": ["a"]}
    assert read_names({"names": ["a"], "name": "b"}) == {"names": ["a"], "name": "b"}
    assert read_names({}) == {}
