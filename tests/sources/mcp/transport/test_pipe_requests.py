"""Calls over the pipes of a process: lines out, replies by their id."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, jsonrpc_message_adapter

from tests.waiting import HANG_S, until_async
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.transport.pipe_requests import FIRST_ID, PipeRequests


class Input:
    """The input of a process that reads, until it is `full` or `closed`."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.room = asyncio.Event()
        self.room.set()
        self.closed = False

    async def wait_for_room(self) -> None:
        await self.room.wait()

    def write_line(self, line: bytes) -> None:
        if self.closed:
            raise sdk.ClosedResourceError
        assert line.endswith(b"\n")
        self.lines.append(json.loads(line))


def message(**fields: Any) -> Any:
    return jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **fields})


def talk(test: Callable[[PipeRequests, Input], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        pipe = Input()
        async with asyncio.timeout(HANG_S):
            await test(PipeRequests(pipe), pipe)

    asyncio.run(run())


def calling(requests: PipeRequests, progress: list[Any] | None = None) -> "asyncio.Task[Any]":
    heard = [] if progress is None else progress
    work = requests.send("tools/call", {"name": "a"}, lambda *each: heard.append(each))
    return asyncio.ensure_future(work)


@pytest.mark.parametrize("spelled", [int, str])
def test_a_reply_is_found_by_its_id_however_it_is_spelled(spelled: Callable[[int], int | str]):
    async def test(requests: PipeRequests, pipe: Input) -> None:
        first, second = calling(requests), calling(requests)
        await until_async(lambda: len(pipe.lines) == 2)
        one, two = (line["id"] for line in pipe.lines)
        assert requests.take(message(id=spelled(two), result={"n": 2}))
        assert requests.take(message(id=spelled(one), result={"n": 1}))
        assert [await first, await second] == [{"n": 1}, {"n": 2}]
        assert not requests.take(message(id=one, result={}))

    talk(test)


@pytest.mark.parametrize("id", ["9" * 5_000, "\u0663" * 5_000, "", " ", "-1", "1e9"])
def test_an_id_that_nobody_gave_is_nobodys(id: str):
    async def test(requests: PipeRequests, pipe: Input) -> None:
        task = calling(requests)
        await until_async(lambda: bool(pipe.lines))
        assert not requests.take(message(id=id, result={}))
        params = {"progressToken": id, "progress": 1}
        assert not requests.take(message(method="notifications/progress", params=params))
        assert not task.done()
        task.cancel()

    talk(test)


def test_a_request_says_what_it_was_given_and_its_id_as_the_token():
    async def test(requests: PipeRequests, pipe: Input) -> None:
        task = asyncio.ensure_future(
            requests.send("tools/call", {"name": "a", "_meta": {"b": 1}}, lambda *_: None)
        )
        await until_async(lambda: bool(pipe.lines))
        assert pipe.lines == [
            {
                "jsonrpc": "2.0",
                "id": FIRST_ID,
                "method": "tools/call",
                "params": {"name": "a", "_meta": {"b": 1, "progressToken": FIRST_ID}},
            }
        ]
        requests.take(message(id=FIRST_ID, result={}))
        await task

    talk(test)


def test_messages_of_others_are_left_to_them():
    async def test(requests: PipeRequests, pipe: Input) -> None:
        task = calling(requests)
        await until_async(lambda: bool(pipe.lines))
        others = [
            message(id=1, result={}),
            message(id="x", result={}),
            message(id=None, error={"code": 1, "message": "no"}),
            message(id=FIRST_ID, method="ping"),
            message(method="notifications/progress", params={"progressToken": 1, "progress": 1}),
            message(method="notifications/message", params={"level": "info", "data": 1}),
        ]
        assert not any(map(requests.take, others))
        assert not task.done()
        task.cancel()

    talk(test)


def test_an_error_of_the_server_is_raised():
    async def test(requests: PipeRequests, pipe: Input) -> None:
        task = calling(requests)
        await until_async(lambda: bool(pipe.lines))
        assert requests.take(message(id=FIRST_ID, error={"code": -5, "message": "no", "data": 3}))
        with pytest.raises(MCPError) as caught:
            await task
        assert (caught.value.code, caught.value.data) == (-5, 3)

    talk(test)


def test_progress_reaches_its_call_and_is_checked():
    async def test(requests: PipeRequests, pipe: Input) -> None:
        heard: list[Any] = []
        task = calling(requests, heard)
        await until_async(lambda: bool(pipe.lines))
        told = [
            {"progress": 1, "total": 4, "message": "a"},
            {"progress": 2.5},
            {"progress": "3"},
            {"progress": True},
            {"progress": 4, "total": "x", "message": 7},
        ]
        for each in told:
            params = {"progressToken": FIRST_ID, **each}
            assert requests.take(message(method="notifications/progress", params=params))
        assert heard == [(1.0, 4.0, "a"), (2.5, None, ""), (4.0, None, "")]
        task.cancel()

    talk(test)


def test_a_call_that_is_given_up_is_cancelled_at_the_server():
    async def test(requests: PipeRequests, pipe: Input) -> None:
        task = calling(requests)
        await until_async(lambda: bool(pipe.lines))
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        assert pipe.lines[1]["method"] == "notifications/cancelled"
        assert pipe.lines[1]["params"]["requestId"] == FIRST_ID
        assert not requests.take(message(id=FIRST_ID, result={}))

    talk(test)


def test_what_was_never_sent_is_not_cancelled():
    async def test(requests: PipeRequests, pipe: Input) -> None:
        pipe.room.clear()
        task = calling(requests)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert not pipe.lines

    talk(test)


@pytest.mark.parametrize("when", ["before", "meanwhile", "as it is written"])
def test_a_server_that_is_gone_ends_its_calls(when: str):
    async def test(requests: PipeRequests, pipe: Input) -> None:
        pipe.closed = when == "as it is written"
        if when == "before":
            requests.end()
        task = calling(requests)
        if when == "meanwhile":
            await until_async(lambda: bool(pipe.lines))
            requests.end()
        with pytest.raises(MCPError) as caught:
            await task
        assert caught.value.code == CONNECTION_CLOSED

    talk(test)
