"""Plain calls are served past the SDK's dispatcher, and all else by it."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from mcp.server.lowlevel.server import Server
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, JSONRPCRequest, TextContent, jsonrpc_message_adapter

from tests.gateway.clients import AnsweringStream, RereadStream
from tests.waiting import HANG_S, until_async
from toolcrib.gateway import call_dispatcher, sdk
from toolcrib.gateway.call_dispatcher import CallDispatcher, is_plain_call
from toolcrib.gateway.message_streams import message_streams
from toolcrib.gateway.stream_serving import serve_stream
from toolcrib.system import LineReader

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a", "version": "1"},
}
VERSION = "io.modelcontextprotocol/protocolVersion"


def call(id: int = 7, **params: Any) -> dict[str, Any]:
    return {"id": id, "method": "tools/call", "params": params}


class Halves:
    """A server that says by which half of it a call was served. `held` calls wait."""

    def __init__(self) -> None:
        self.mcp_server: Server[Any] = Server("halves", on_call_tool=self._by_the_sdk)
        self.let_go = asyncio.Event()
        self.held = 0
        self.context: Any = None

    def client_left(self, connection: Any, id: int | str) -> None:
        """Nothing is held here."""

    async def call_plainly(self, context: Any) -> bytes:
        self.context = context
        if context.params["name"] == "hold":
            self.held += 1
            try:
                await self.let_go.wait()
            finally:
                self.held -= 1
        if context.params["name"] == "break":
            raise RuntimeError("broken")
        if context.params["name"] == "refuse":
            raise sdk.MCPError(-5, "refused")
        return b'{"by":"us"}'

    async def _by_the_sdk(self, _context: Any, _params: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="sdk")])


class Line:
    """A client's end of a connection."""

    def __init__(self, read: Any, write: Any, server: Halves) -> None:
        self._read, self._write, self.server = read, write, server

    async def send(self, message: dict[str, Any]) -> None:
        parsed = jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **message})
        await self._write.send(SessionMessage(parsed))

    async def receive(self) -> dict[str, Any]:
        item = await self._read.receive()
        return json.loads(item.message.model_dump_json(exclude_unset=True))

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        await self.send(message)
        return await self.receive()


def talk(test: Callable[[Line], Coroutine[Any, Any, None]], *, greet: bool = True) -> None:
    async def run() -> None:
        server = Halves()
        async with create_client_server_memory_streams() as (client, (read, write)):
            streams: Any = RereadStream(read), AnsweringStream(write)
            serving = asyncio.ensure_future(serve_stream(server, *streams))
            line = Line(*client, server)
            if greet:
                await line.ask({"id": 0, "method": "initialize", "params": HELLO})
                await line.send({"method": "notifications/initialized"})
            try:
                async with asyncio.timeout(HANG_S):
                    await test(line)
            finally:
                serving.cancel()
                await asyncio.wait({serving})
                assert not server.held  # no call outlives its connection

    asyncio.run(run())


@pytest.mark.parametrize(
    "params",
    [
        {"name": "a"},
        {"name": "a", "arguments": {"b": [1]}},
        {"name": "a", "arguments": {}, "_meta": {"progressToken": "x", "other": 1}},
    ],
)
def test_a_plain_call_is_served_by_us(params: dict[str, Any]):
    async def test(line: Line) -> None:
        assert (await line.ask(call(**params))) == {
            "jsonrpc": "2.0",
            "id": 7,
            "result": {"by": "us"},
        }
        assert line.server.context.params == params
        assert line.server.context.protocol_version == HELLO["protocolVersion"]

    talk(test)


@pytest.mark.parametrize(
    "params",
    [
        None,
        {"arguments": {}},
        {"name": 3},
        {"name": "a", "arguments": None},
        {"name": "a", "arguments": []},
        {"name": "a", "task": {}},
        {"name": "a", "_meta": []},
        {"name": "a", "_meta": {"progressToken": True}},
        {"name": "a", "_meta": {"progressToken": 1.5}},
        {"name": "a", "_meta": {VERSION: "2026-07-28"}},
    ],
)
def test_what_is_unusual_is_left_to_the_sdk(params: dict[str, Any] | None):
    given = {} if params is None else {"params": params}
    request = JSONRPCRequest(jsonrpc="2.0", id=7, method="tools/call", **given)
    assert not is_plain_call(request)

    async def test(line: Line) -> None:
        await line.ask({"id": 7, "method": "tools/call", **given})
        assert line.server.context is None

    talk(test)


def test_nobody_is_served_before_the_greeting():
    async def test(line: Line) -> None:
        assert (await line.ask(call(name="a")))["error"]
        assert line.server.context is None

    talk(test, greet=False)


def test_calls_that_are_followed_by_a_tracer_are_the_sdks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(call_dispatcher.sdk, "is_traced", lambda: True)

    async def test(line: Line) -> None:
        assert (await line.ask(call(name="a")))["result"]["content"]
        assert line.server.context is None

    talk(test)


@pytest.mark.parametrize(("name", "code"), [("break", 0), ("refuse", -5)])
def test_what_a_call_raises_is_its_answer(name: str, code: int):
    async def test(line: Line) -> None:
        assert (await line.ask(call(name=name)))["error"]["code"] == code
        assert (await line.ask(call(8, name="a")))["id"] == 8

    talk(test)


@pytest.mark.parametrize("spelled", [7, "7"], ids=["number", "text"])
def test_a_cancelled_call_ends_and_has_no_answer(spelled: int | str):
    async def test(line: Line) -> None:
        await line.send(call(name="hold"))
        await until_async(lambda: bool(line.server.held))
        params = {"requestId": spelled}
        await line.send({"method": "notifications/cancelled", "params": params})
        await until_async(lambda: not line.server.held)
        assert (await line.ask(call(8, name="a")))["id"] == 8

    talk(test)


def test_a_call_that_is_cancelled_before_it_begins_leaves_nothing():
    async def test(line: Line) -> None:
        await line.send(call(name="hold"))
        await line.send({"method": "notifications/cancelled", "params": {"requestId": 7}})
        assert (await line.ask(call(7, name="a")))["result"] == {"by": "us"}
        assert not line.server.held

    talk(test)


def test_calls_do_not_wait_for_each_other():
    async def test(line: Line) -> None:
        await line.send(call(name="hold"))
        await until_async(lambda: bool(line.server.held))
        assert (await line.ask(call(8, name="a")))["id"] == 8
        line.server.let_go.set()
        assert (await line.receive())["id"] == 7

    talk(test)


def test_calls_end_with_their_connection():
    async def test(line: Line) -> None:
        await line.send(call(name="hold"))
        await until_async(lambda: bool(line.server.held))

    talk(test)


def test_a_call_on_a_line_goes_past_the_loop_that_reads(monkeypatch: pytest.MonkeyPatch):
    read: list[str] = []
    dispatch = CallDispatcher._dispatch_request  # pyright: ignore[reportPrivateUsage]

    async def noted(self: Any, request: Any, *others: Any) -> None:
        read.append(request.method)
        await dispatch(self, request, *others)

    monkeypatch.setattr(CallDispatcher, "_dispatch_request", noted)
    answers: list[dict[str, Any]] = []

    async def send(data: bytes) -> None:
        answers.append(json.loads(data))

    async def run() -> None:
        reader = LineReader()
        streams = message_streams(reader, send)
        serving = asyncio.ensure_future(serve_stream(Halves(), streams.read, streams.write))
        greeting = {"id": 0, "method": "initialize", "params": HELLO}
        for number, message in enumerate((greeting, call(name="a"), {"id": 8, "method": "ping"})):
            reader.feed_data(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            await until_async(lambda sent=number + 1: len(answers) == sent)
        reader.feed_eof()
        await asyncio.wait_for(serving, HANG_S)

    asyncio.run(run())
    assert answers[1]["result"] == {"by": "us"}
    assert read == ["initialize", "ping"]
