"""What is plain goes past the models of the SDK, which would say the same."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from toolcrib.gateway import sdk

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
TEXTS = st.lists(st.builds(lambda text: {"text": text, "type": "text"}, st.text()))
RESULTS = st.fixed_dictionaries(
    {"content": TEXTS},
    optional={
        "isError": st.booleans(),
        "structuredContent": st.dictionaries(st.text(), JSON),
        "resultType": st.just("complete"),
    },
)


@given(RESULTS, st.sampled_from(HANDSHAKE_PROTOCOL_VERSIONS))
def test_a_plain_result_is_sent_as_the_model_would_have_it(result: Any, version: str):
    plain = sdk.result_json("tools/call", version, result)
    # An empty `_meta` is of no account, and is not plain.
    modelled = sdk.result_json("tools/call", version, {**result, "_meta": {}})
    assert {**json.loads(plain), "_meta": {}} == json.loads(modelled)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": "a"},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 1}]},
        {"content": [{"type": "odd", "text": "a"}]},
        {"content": [], "isError": "perhaps"},
        {"content": [], "structuredContent": []},
        {"structuredContent": {}},
    ],
)
def test_a_result_that_is_not_valid_is_not_sent(wrong: Any):
    with pytest.raises(sdk.ValidationError):
        sdk.result_json("tools/call", "2025-11-25", wrong)


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def test_a_call_is_told_from_all_else():
    params = {"name": "a"}
    found = sdk.call_on(line(id="7", method="tools/call", params=params))
    assert found == sdk.JSONRPCRequest(jsonrpc="2.0", id="7", method="tools/call", params=params)


@pytest.mark.parametrize(
    "other",
    [
        line(id=1, method="ping", params={"a": "tools/call"}),
        line(method="tools/call", params={}),
        line(id=None, method="tools/call"),
        line(id=1.5, method="tools/call"),
        line(id=1, method="tools/call", params=[]),
        line(id=1, result={"a": "tools/call"}),
        b'{"id": 1, "method": "tools/call"}',
        b'["tools/call"]',
        b'"tools/call',
    ],
)
def test_what_is_no_call_is_left_to_others(other: bytes):
    assert sdk.call_on(other) is None
