"""Requests of the handshake era over HTTP: a plain answer, or a stream where there is more."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from mcp.server.lowlevel.server import Server
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    TextContent,
)

from tests.gateway.clients import plain_answer
from tests.gateway.daemons import INITIALIZE, Answer, parsed, request, rpc, serving, with_token
from tests.waiting import HANG_S, let_pass_async, until_async
from toolcrib.crib import Crib
from toolcrib.gateway.http import post_reply
from toolcrib.gateway.principal import Principal

CANCELLED = -32800
BOTH_WAYS = pytest.mark.parametrize(
    "arguments", [{}, None], ids=["past the session's loop", "by the session's loop"]
)


class TalkingServer:
    """What it is asked to do before its answer, it does. `running` counts what is under way."""

    def __init__(self, principal: Principal) -> None:
        self.principal = principal
        self.running = 0
        self.let_go = asyncio.Event()
        self.mcp_server: Server[Any] = Server("talking", on_call_tool=self._call)
        self.left: list[int | str] = []

    def client_left(self, connection: Any, id: int | str) -> None:  # noqa: ARG002 - as `CallServer`
        self.left.append(id)

    async def call_plainly(self, context: Any) -> bytes:
        return await plain_answer(context, self._call)

    async def _call(self, context: Any, params: Any) -> CallToolResult:
        self.running += 1
        try:
            if params.name == "progress":
                await context.session.report_progress(1, 2, "half")
            if params.name == "wait":
                await self.let_go.wait()
            if params.name == "ask":
                asked = ElicitRequestFormParams(
                    message="who?", requested_schema={"type": "object", "properties": {}}
                )
                related = ServerMessageMetadata(related_request_id=context.request_id)
                question = ElicitRequest(params=asked)
                await context.session.send_request(question, ElicitResult, metadata=related)
        finally:
            self.running -= 1
        return CallToolResult(content=[TextContent(type="text", text=params.name)])


class TalkingServers:
    def __init__(self, _crib: Crib) -> None:
        self.made: dict[str, TalkingServer] = {}

    def of(self, principal: Principal) -> TalkingServer:
        return self.made.setdefault(principal.caller.id, TalkingServer(principal))

    def all(self) -> tuple[TalkingServer, ...]:
        return ()  # none that has sets to send

    def close(self) -> None:
        self.made.clear()


class Visit:
    """A client with a session, by hand."""

    def __init__(self, port: int, token: str, servers: TalkingServers) -> None:
        self.port, self._token, self._servers = port, token, servers
        self.session = ""

    @property
    def server(self) -> TalkingServer:
        return next(iter(self._servers.made.values()))

    def headers(self, **more: str) -> dict[str, str]:
        named = {"MCP_Session_Id": self.session} if self.session else {}
        return with_token(self._token, **named, **more)

    async def open(self) -> None:
        answer = await request(
            self.port, headers=self.headers(), body=rpc("initialize", **INITIALIZE)
        )
        self.session = answer.headers["mcp-session-id"]
        await self.post(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    async def post(self, body: str | bytes, **more: str) -> Answer:
        content = body.encode() if isinstance(body, str) else body
        return await request(self.port, headers={**self.headers(), **more}, body=content)

    def raw(self, body: bytes) -> bytes:
        """A POST as it is on the wire."""
        length = {"Content-Length": str(len(body)), "Host": f"127.0.0.1:{self.port}"}
        named = {**self.headers(), **length}.items()
        head = "".join(f"{name}: {value}\r\n" for name, value in named)
        return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body

    async def call(self, name: str, id: object = 7, **more: Any) -> Answer:
        return await self.post(rpc("tools/call", id, name=name, **{"arguments": {}, **more}))


def visit(folder: Path, scenario: Callable[[Visit], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        async with serving(folder, servers=TalkingServers) as (daemon, runtime):
            client = Visit(runtime.port, runtime.token, daemon.serving.servers)  # type: ignore[arg-type]
            await client.open()
            async with asyncio.timeout(HANG_S):
                await scenario(client)

    asyncio.run(run())


def events(answer: Answer) -> list[Any]:
    """The messages of a stream."""
    assert answer.headers["content-type"] == "text/event-stream"
    lines = answer.body.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def test_an_answer_with_nothing_before_it_is_plain(tmp_path: Path):
    async def scenario(client: Visit) -> None:
        answer = await client.call("echo", id="a")
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert answer.headers["mcp-session-id"] == client.session
        assert answer.json["id"] == "a"
        assert answer.json["result"]["content"][0]["text"] == "echo"
        missing = await client.post(rpc("no/such", 8))
        assert (missing.status, missing.json["id"]) == (200, 8)
        assert missing.json["error"]

    visit(tmp_path, scenario)


@BOTH_WAYS
def test_what_comes_before_the_answer_makes_it_a_stream(tmp_path: Path, arguments: object):
    async def scenario(client: Visit) -> None:
        answer = await client.call("progress", arguments=arguments, _meta={"progressToken": 3})
        progress, result = events(answer)
        assert progress["params"]["progressToken"] == 3
        assert result["id"] == 7

    visit(tmp_path, scenario)


def test_a_question_comes_on_the_stream_of_its_call(tmp_path: Path):
    async def scenario(client: Visit) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(client.raw(rpc("tools/call", 7, name="ask", arguments={})))
        said = b""
        while b"}" not in said:
            said += await reader.read(64 * 1024)
        assert b"elicitation/create" in said, said
        writer.close()

    visit(tmp_path, scenario)


@BOTH_WAYS
def test_a_call_that_takes_long_is_kept_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: object
):
    monkeypatch.setattr(post_reply, "PING_S", 0.05)

    async def scenario(client: Visit) -> None:
        calling = asyncio.create_task(client.call("wait", arguments=arguments))
        await until_async(lambda: bool(client.server.running))
        await let_pass_async()
        client.server.let_go.set()
        answer = await calling
        assert answer.body.startswith(b": ping\r\n\r\n")
        assert [each["id"] for each in events(answer)] == [7]

    visit(tmp_path, scenario)


@BOTH_WAYS
def test_a_cancelled_request_is_answered_as_cancelled(tmp_path: Path, arguments: object):
    async def scenario(client: Visit) -> None:
        calling = asyncio.create_task(client.call("wait", arguments=arguments))
        await until_async(lambda: bool(client.server.running))
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
        assert (await client.post(json.dumps(cancel))).status == 202
        assert (await calling).json["error"]["code"] == CANCELLED
        assert not client.server.running

    visit(tmp_path, scenario)


@BOTH_WAYS
def test_a_session_that_ends_answers_what_is_under_way(tmp_path: Path, arguments: object):
    async def scenario(client: Visit) -> None:
        calling = asyncio.create_task(client.call("wait", arguments=arguments))
        await until_async(lambda: bool(client.server.running))
        deleted = await request(client.port, "DELETE", headers=client.headers())
        assert deleted.status == 200
        answer = await calling
        assert answer.json["error"]
        assert (await client.call("echo")).status == 404

    visit(tmp_path, scenario)


@BOTH_WAYS
def test_a_client_that_leaves_in_the_middle_harms_nobody(tmp_path: Path, arguments: object):
    async def scenario(client: Visit) -> None:
        calling = asyncio.create_task(client.call("wait", arguments=arguments))
        await until_async(lambda: bool(client.server.running))
        calling.cancel()
        client.server.let_go.set()
        await until_async(lambda: not client.server.running)
        assert (await client.call("echo", id=8)).json["id"] == 8

    visit(tmp_path, scenario)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"Accept": "application/json"}, 406),
        ({"MCP-Session-Id": "0" * 32}, 404),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_what_the_sdk_refuses_is_refused(tmp_path: Path, more: dict[str, str], status: int):
    async def scenario(client: Visit) -> None:
        body = rpc("tools/call", 7, name="echo", arguments={})
        headers = {**client.headers(), **more}
        if "MCP-Session-Id" in more:
            headers = {
                name: value for name, value in headers.items() if name.lower() != "mcp-session-id"
            } | more
        assert (await request(client.port, headers=headers, body=body)).status == status

    visit(tmp_path, scenario)


def test_the_head_is_sent_with_its_body(tmp_path: Path):
    async def scenario(client: Visit) -> None:
        said = client.raw(rpc("tools/call", 7, name="echo", arguments={}))
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        for _ in range(3):  # on one connection
            writer.write(said)
            answer = parsed(await reader.read(64 * 1024))
            assert answer.json["id"] == 7
        writer.close()

    visit(tmp_path, scenario)


@BOTH_WAYS
def test_who_hangs_up_is_told_of_and_what_runs_runs_on(tmp_path: Path, arguments: object):
    async def scenario(client: Visit) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(client.raw(rpc("tools/call", 9, name="wait", arguments=arguments)))
        await until_async(lambda: client.server.running, "the call runs")
        writer.close()
        await until_async(lambda: client.server.left == [9], "it is told of")
        assert client.server.running == 1
        client.server.let_go.set()
        await until_async(lambda: not client.server.running, "it has run on")

    visit(tmp_path, scenario)
