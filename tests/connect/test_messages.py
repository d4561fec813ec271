import json

import pytest

from toolcrib.connect.messages import Message, failure, read_message, with_id


@pytest.mark.parametrize(
    ("line", "method", "id", "target"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":{}}', "", "1", ""),
        ('{"jsonrpc":"2.0","id":"1","error":{}}', "", '"1"', ""),
        ('{"id": "a\\"b", "result": {}}', "", '"a\\"b"', ""),
        ('{"id": 0, "method": "ping"}', "ping", "0", ""),
        ('{"method":"notifications/cancelled","params":{"requestId":"x"}}', None, "", '"x"'),
        ('{"id":2,"method":"tools/call","params":{"name":"tool_call"}}', None, "2", "tool_call"),
        ("not json", "", "", ""),
        ("[1]", "", "", ""),
        ("[" * 100_000, "", "", ""),
        ('{"id": null, "method": 3}', "", "", ""),
    ],
)
def test_a_line_is_read_as_far_as_needed(line: str, method: str | None, id: str, target: str):
    message = read_message(line.encode())
    assert (message.id, message.target) == (id, target)
    assert method is None or message.method == method


def test_our_own_answers_are_json_rpc():
    assert json.loads(failure('"a"', -1, 'why "so"')) == {
        "jsonrpc": "2.0",
        "id": "a",
        "error": {"code": -1, "message": 'toolcrib: why "so"'},
    }
    assert json.loads(failure("", -1, "why"))["id"] is None


def test_a_request_under_another_id_is_the_same_request():
    line = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"a":[1]}}\n'
    again = json.loads(with_id(line, "ours"))
    assert again == {**json.loads(line), "id": "ours"}
    assert read_message(with_id(line, "ours")) == Message(
        with_id(line, "ours"), "initialize", '"ours"'
    )
