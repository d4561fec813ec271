import asyncio
import json

import pytest
from anyio import ClosedResourceError

from tests.waiting import HANG_S
from toolcrib.gateway.message_streams import MOST_VALUES, message_streams


def exchanged(*lines: bytes, longest: int = 100) -> tuple[list[object], list[dict[str, object]]]:
    """What a server is handed of these lines, and what is answered for it."""
    handed: list[object] = []
    answered: list[dict[str, object]] = []

    async def send(data: bytes) -> None:
        answered.append(json.loads(data))

    async def run() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(b"".join(line + b"\n" for line in lines))
        reader.feed_eof()
        read = message_streams(reader, send, longest=longest).read
        handed.extend([getattr(item, "message", item) async for item in read])

    asyncio.run(asyncio.wait_for(run(), HANG_S))
    return handed, answered


def test_every_message_is_handed_on_and_empty_lines_are_none():
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    handed, answered = exchanged(ping, b"", b"  ", ping)
    assert [getattr(each, "method", "") for each in handed] == ["ping", "ping"]
    assert answered == []


def test_what_is_no_message_is_answered_under_its_id_if_it_has_one():
    handed, answered = exchanged(b"{", b'{"jsonrpc": "2.0", "id": 7, "method": 3}', b"[]")
    assert handed == []
    assert [each["id"] for each in answered] == [None, 7, None]


def test_a_line_that_is_too_long_is_refused_and_the_next_is_read():
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    long = b'{"jsonrpc": "2.0", "id": 8, "method": "' + b"x" * 200 + b'"}'
    handed, answered = exchanged(long, ping)
    assert len(handed) == 1
    assert answered[0]["id"] == 8
    assert "at most 100 bytes" in str(answered[0]["error"])


def test_a_line_with_too_many_values_is_refused_and_the_next_is_read():
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    many = b'{"jsonrpc": "2.0", "id": 8, "method": "x", "params": {"a": [' + b"0," * MOST_VALUES
    handed, answered = exchanged(many + b"0]}}", ping, longest=10 * MOST_VALUES)
    assert len(handed) == 1
    assert answered[0]["id"] == 8
    assert "send fewer" in str(answered[0]["error"])


def test_a_client_that_is_gone_ends_it():
    async def send(data: bytes) -> None:
        raise BrokenPipeError

    async def run() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(b"no json\n")
        streams = message_streams(reader, send)
        assert [each async for each in streams.read] == []
        assert reader.at_eof()
        with pytest.raises(ClosedResourceError):
            await streams.read.receive()

    asyncio.run(asyncio.wait_for(run(), HANG_S))
