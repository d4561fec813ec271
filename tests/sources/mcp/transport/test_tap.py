import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from tests.waiting import HANG_S
from toolcrib.sources.mcp.transport.tap import ItemReader, Tap
from toolcrib.text import Redactor


def notice(method, **params):
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))


def reply(**result):
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))


def test_changes_are_heard_here_and_go_no_further():
    heard = []
    tap = Tap(lambda: heard.append(1))
    assert not tap._passes(notice("notifications/tools/list_changed"))
    assert heard == [1]
    assert not tap._passes(notice("notifications/message", level="info", data="x"))
    assert tap._passes(notice("notifications/other"))


def test_progress_passes_now_and_then():
    tap = Tap(lambda: None)
    passed = [
        tap._passes(notice("notifications/progress", progressToken=token, progress=step))
        for step in range(500)
        for token in (1, "b")
    ]
    assert passed[:6] == [True] * 6
    assert sum(passed) < 30
    assert not tap._passes(notice("notifications/progress", progressToken=[], progress=1))


def test_the_raw_tools_are_kept_and_the_sdk_gets_a_harmless_list():
    tap = Tap(lambda: None)
    raw = [{"name": "a", "inputSchema": {"properties": 3}, "x": 1}, {"x": 1}, 7]
    message = reply(tools=list(raw), nextCursor=5)
    assert tap._passes(message)
    assert tap.take_page("tools") == (
        {"name": "a", "inputSchema": {"properties": 3}, "x": 1},
        {"x": 1},
    )
    assert tap.take_page("tools") == ()
    assert isinstance(message.message, JSONRPCResponse)
    assert message.message.result == {
        "tools": [{"name": "a", "inputSchema": {"type": "object"}}],
    }


def test_in_the_modern_era_the_schema_stays_for_the_headers_it_names():
    tap = Tap(lambda: None)
    schema = {"type": "object", "properties": {"a": {"x-mcp-header": "A"}}}
    message = reply(resultType="complete", tools=[{"name": "a", "inputSchema": schema}])
    tap._passes(message)
    assert isinstance(message.message, JSONRPCResponse)
    assert message.message.result["tools"] == [{"name": "a", "inputSchema": schema}]


class Process(ItemReader):
    """Both pipes of a process: what it is sent, and who takes what it says."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.take: Callable[[bytes], bool] = lambda _line: False

    def take_lines(self, take: Callable[[bytes], bool]) -> None:
        self.take = take

    async def wait_for_room(self) -> None:
        pass

    def write_line(self, line: bytes) -> None:
        self.sent.append(json.loads(line))

    async def send(self, item: SessionMessage) -> None:
        pass

    async def __anext__(self) -> Any:
        raise StopAsyncIteration

    async def aclose(self) -> None:
        pass

    def says(self, id: object, **others: Any) -> bool:
        """Whether a line was taken."""
        return self.take(json.dumps({"jsonrpc": "2.0", "id": id, **others}).encode())


def called(answer: Callable[[Process, int], bool]) -> tuple[bool, Any]:
    """Whether the answer to a call was taken from its line, and the result; None if there is none.

    The server has a secret.
    """

    async def run() -> tuple[bool, Any]:
        process = Process()

        @asynccontextmanager
        async def streams() -> AsyncGenerator[Any]:
            yield process, process

        tap = Tap(lambda: None, redactor=Redactor(["hunter22"]))
        async with tap.over(streams()):
            assert tap.pipe
            call = asyncio.ensure_future(tap.pipe.send("tools/call", {"name": "a"}, print))
            await asyncio.sleep(0)
            taken = answer(process, process.sent[0]["id"])
            await asyncio.sleep(0)
            if call.done():
                return taken, call.result()
            call.cancel()
            return taken, None

    return asyncio.run(asyncio.wait_for(run(), HANG_S))


def test_the_reply_to_a_call_is_taken_from_its_line():
    result = {"content": [{"type": "text", "text": "yes"}]}
    assert called(lambda process, id: process.says(id, result=result)) == (True, result)


def test_a_reply_that_is_taken_has_no_secret_of_its_server():
    told = {"content": [{"type": "text", "text": "it is hunter22"}]}
    _, result = called(lambda process, id: process.says(id, result=told))
    assert result["content"][0]["text"] == "it is ***"


OTHERS: dict[str, Callable[[Process, int], bool]] = {
    "another id": lambda process, id: process.says(id + 1, result={}),
    "the id as a text": lambda process, id: process.says(str(id), result={}),
    "an error": lambda process, id: process.says(id, error={"code": 1, "message": "no"}),
    "no object": lambda process, id: process.says(id, result=[]),
    "a list of tools": lambda process, id: process.says(id, result={"tools": []}),
    "more fields": lambda process, id: process.says(id, result={}, more=1),
    "a request": lambda process, id: process.says(id, method="ping"),
    "a truth": lambda process, _id: process.says(True, result={}),
    "no version": lambda process, id: process.take(b'{"id":%d,"result":{}}' % id),
    "no JSON": lambda process, id: process.take(b'{"jsonrpc":"2.0","id":%d,"result":{}' % id),
}


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_else_a_server_says_is_read(other: str):
    assert called(OTHERS[other]) == (False, None)


def test_nothing_is_taken_while_nobody_waits():
    process, tap = Process(), Tap(lambda: None)

    @asynccontextmanager
    async def streams() -> AsyncGenerator[Any]:
        yield process, process

    async def run() -> bool:
        async with tap.over(streams()):
            return process.says(2**30, result={})

    assert not asyncio.run(run())
