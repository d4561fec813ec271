import pytest

from toolcrib.sources.mcp import reply_id


@pytest.mark.parametrize(
    ("line", "id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"result":{"content":[', 7),
        (b'{"id": 7, "jsonrpc": "2.0", "result": x', 7),
        (b'{"result":{"x":1,"jsonrpc":"2.0"},"id":12}', 12),
        (b'{"result":{,"id":12,"jsonrpc":"2.0"}', 12),
        (b'{"result":{"id":7}}', None),
        (b'{"jsonrpc":"2.0","method":"x","params":{"id":7,', None),
        (b'{"id":"7","result":1}', None),
        (b"", None),
        (b"junk", None),
    ],
)
def test_the_id_is_taken_from_where_it_can_only_be_the_replys(line, id):
    assert reply_id(line) == id
