import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.sources.apps.json_rpc import (
    MOST_BYTES,
    BadMessage,
    RpcFailure,
    RpcNotification,
    RpcReply,
    RpcRequest,
    read,
    write,
)

MESSAGES = [
    RpcRequest(1, "call", {"name": "x"}),
    RpcNotification("cancel", {"id": 1}),
    RpcReply(2, {"content": [1, None, "é"]}),
    RpcFailure(3, -32000, "no", {"effect": "unknown"}),
    RpcFailure(None, -32700, "no"),
]

BAD = [
    "",
    "[]",
    "{}",
    "null",
    '{"jsonrpc":"1.0","method":"a"}',
    '{"jsonrpc":"2.0"}',
    '{"jsonrpc":"2.0","method":""}',
    '{"jsonrpc":"2.0","method":1}',
    '{"jsonrpc":"2.0","method":"a","params":[]}',
    '{"jsonrpc":"2.0","method":"a","id":null}',
    '{"jsonrpc":"2.0","method":"a","id":"1"}',
    '{"jsonrpc":"2.0","method":"a","id":true}',
    '{"jsonrpc":"2.0","method":"a","id":1.5}',
    '{"jsonrpc":"2.0","method":"a","id":-1}',
    '{"jsonrpc":"2.0","method":"a","extra":1}',
    '{"jsonrpc":"2.0","method":"a","method":"b"}',
    '{"jsonrpc":"2.0","id":1,"result":NaN}',
    '{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}}',
    '{"jsonrpc":"2.0","id":1,"error":"no"}',
    '{"jsonrpc":"2.0","id":1,"result":' + "[" * 100 + "]" * 100 + "}",
    '{"jsonrpc":"2.0","id":1,"result":' + "[" * 100_000 + "]" * 100_000 + "}",
    b'{"jsonrpc":"2.0","method":"a"}',
]


@pytest.mark.parametrize("message", MESSAGES)
def test_what_is_written_is_read(message):
    assert read(write(message)) == message


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_no_message_is_refused(text):
    with pytest.raises(BadMessage):
        read(text)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.text(), st.lists).map(json.dumps))
def test_nothing_else_is_raised(text):
    with pytest.raises(BadMessage):
        read(text)


def test_what_is_too_large_or_no_json_is_not_written():
    with pytest.raises(BadMessage, match="send less"):
        write(RpcReply(1, "x" * MOST_BYTES))
    with pytest.raises(BadMessage, match="not a JSON"):
        write(RpcReply(1, float("nan")))
