import asyncio
import json

import pytest
from anyio import ClosedResourceError

from tests.waiting import HANG_S
from toolcrib.gateway import sdk
from toolcrib.gateway.message_streams import (
    MOST_VALUES,
    MessageGate,
    OpenGate,
    message_streams,
)
from toolcrib.system import LineReader


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


CALL = b'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "echo"}}'
PING = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


class Taker:
    """Takes calls, and notes them."""

    def __init__(self, *, takes: bool = True) -> None:
        self.begun: list[object] = []
        self._takes = takes

    def takes(self, _request: object) -> bool:
        return self._takes

    def begin(self, request: object) -> None:
        self.begun.append(getattr(request, "id", None))


class Full:
    """A gate that refuses every request, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.outgoing, self.answered = OpenGate().outgoing, OpenGate().answered

    def refusal(self, _message: object) -> sdk.ErrorData:
        self.asked += 1
        return sdk.ErrorData(code=-32092, message="too many")


def handed_over(
    *lines: bytes, taker: Taker, gate: MessageGate | None = None, longest: int = 10_000
) -> tuple[list[str], list[dict[str, object]]]:
    """The methods that whoever reads was given, and the answers; each line comes in its turn."""
    read: list[str] = []
    answered: list[dict[str, object]] = []

    async def send(data: bytes) -> None:
        answered.append(json.loads(data))

    async def run() -> None:
        reader = LineReader()
        messages = message_streams(reader, send, gate, longest=longest).read
        messages.hand_calls_to(taker)

        async def read_all() -> None:
            items = [item async for item in messages]
            read.extend(getattr(getattr(each, "message", None), "method", "") for each in items)

        reading = asyncio.create_task(read_all())
        for line in lines:
            await asyncio.sleep(0)
            reader.feed_data(line + b"\n")
            await asyncio.sleep(0)
        reader.feed_eof()
        await asyncio.wait_for(reading, HANG_S)

    asyncio.run(run())
    return read, answered


def test_a_plain_call_is_handed_over_and_all_else_is_read():
    taker = Taker()
    wordy = PING.replace(b"ping", b'ping", "params": {"about": "tools/call"}, "x": "')
    read, answered = handed_over(PING, CALL, wordy, CALL, taker=taker)
    assert (read, answered) == (["ping", "ping"], [])
    assert taker.begun == [3, 3]


def test_a_call_that_nobody_takes_is_read():
    read, answered = handed_over(CALL, taker=Taker(takes=False))
    assert (read, answered) == (["tools/call"], [])


def test_a_call_that_the_gate_refuses_is_refused_once():
    taker, gate = Taker(), Full()
    read, answered = handed_over(CALL, CALL, taker=taker, gate=gate)
    assert (read, taker.begun) == ([], [])
    assert [each["id"] for each in answered] == [3, 3]
    assert "too many" in str(answered[0]["error"])
    assert gate.asked == 2


def test_a_call_is_bounded_as_every_message_is():
    taker = Taker()
    many = CALL.replace(b'"echo"', b'"echo", "arguments": {"a": [' + b"0," * MOST_VALUES + b"0]}")
    _, answered = handed_over(many, taker=taker, longest=10 * MOST_VALUES)
    assert "send fewer" in str(answered[0]["error"])
    long = CALL.replace(b"echo", b"x" * 200)
    _, answered = handed_over(long, taker=taker, longest=100)
    assert "at most 100 bytes" in str(answered[0]["error"])
    assert taker.begun == []


@pytest.mark.parametrize("id", ["true", "1.5", "null", "[]", "{}"])
def test_a_request_that_no_answer_can_name_is_told_so(id: str):
    handed, answered = exchanged(f'{{"jsonrpc": "2.0", "id": {id}, "method": "ping"}}'.encode())
    assert handed == []
    [answer] = answered
    assert answer["id"] is None
    assert "a text or a whole number" in str(answer["error"])
    assert "-32600" in str(answer["error"])
