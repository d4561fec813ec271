"""The edge as it is on the wire: with the web server before it and the SDK behind it."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.daemons import (
    INITIALIZE,
    MODERN,
    Answer,
    bare,
    call,
    parsed,
    request,
    rpc,
    say,
    serving,
    with_token,
)
from tests.gateway.echo_servers import EchoServers
from tests.gateway.key_names import named
from tests.plan import amount
from tests.waiting import HANG_S, until_async
from toolcrib.crib import Crib
from toolcrib.execute import ArgumentCheck
from toolcrib.execute.arguments import CheckedArguments
from toolcrib.gateway import keys_in
from toolcrib.gateway.server import GatewayServers
from toolcrib.http import web_server
from toolcrib.model import Json, ToolInfo

Scenario = Callable[[int, str], Coroutine[Any, Any, None]]


def run(folder: Path, scenario: Scenario) -> None:
    """A scenario with the stand-in behind the edge: tools that echo and wait."""

    async def served() -> None:
        async with serving(folder) as (_, runtime):
            await scenario(runtime.port, runtime.token)

    asyncio.run(served())


def run_whole(folder: Path, scenario: Scenario) -> None:
    """The same with the real servers, and the tools that come along."""

    async def served() -> None:
        profiles = {"default": {"builtin_tools": True}}
        settings = bare(builtin_tools=True, gateway={"profiles": profiles})
        async with serving(folder, settings, servers=GatewayServers) as (_, runtime):
            await scenario(runtime.port, runtime.token)

    asyncio.run(served())


def test_a_client_of_the_handshake_era_has_a_session(tmp_path: Path):
    async def scenario(port: int, token: str) -> None:
        right = with_token(token)
        hello = await request(port, headers=right, body=rpc("initialize", **INITIALIZE))
        assert hello.status == 200
        session = hello.headers["mcp-session-id"]
        mine = right | {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
        noted = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        assert (await request(port, headers=mine, body=noted)).status == 202
        listed = await request(port, headers=mine, body=rpc("tools/list", 2))
        assert b'"echo"' in listed.body
        forged = mine | {"Mcp-Session-Id": "0" * 32}
        assert (await request(port, headers=forged, body=rpc("tools/list", 2))).status == 404
        assert (await request(port, "DELETE", headers=mine)).status == 200
        assert (await request(port, headers=mine, body=rpc("tools/list", 3))).status == 404

    run(tmp_path, scenario)


@pytest.mark.plan(71)
def test_others_are_answered_while_arguments_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    going, told = threading.Event(), threading.Event()
    check = ArgumentCheck.check

    def held_up(self: ArgumentCheck, tool: ToolInfo, given: Json) -> CheckedArguments:
        going.set()
        assert told.wait(HANG_S), "nobody else was answered meanwhile"
        return check(self, tool, given)

    monkeypatch.setattr(ArgumentCheck, "check", held_up)

    async def scenario(port: int, token: str) -> None:
        arguments = {"expression": "1 + 1"}
        asked: dict[str, Any] = {"name": "calculate", "arguments": arguments}
        calling = asyncio.create_task(call(port, token, "tool_call_read", **asked))
        await asyncio.to_thread(going.wait, HANG_S)
        assert (await request(port, "GET", "/health")).status == 200
        told.set()
        assert b'"2"' in (await calling).body

    run_whole(tmp_path, scenario)


@pytest.mark.plan(71)
def test_requests_that_are_dear_to_check_are_refused(tmp_path: Path):
    dear: dict[str, Any] = {
        "kinds": ["zz"] * 100_000,
        "queries": ["a"] * 99_000,
        "limit": [1] * 60_000,
        "set": {"a": [[]] * 40_000},
    }

    async def scenario(port: int, token: str) -> None:
        for name, value in dear.items():
            refused = await call(port, token, "tool_search", **{name: value})
            assert b"send fewer" in refused.body, name
        assert (await request(port, "GET", "/health")).status == 200

    run_whole(tmp_path, scenario)


@pytest.mark.plan(49)
def test_a_session_is_its_owners_alone(tmp_path: Path):
    keys = keys_in(bare().state_folder)
    key = keys.add("other")

    async def scenario(port: int, token: str) -> None:
        hello = await request(port, headers=with_token(token), body=rpc("initialize", **INITIALIZE))
        session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
        theirs = with_token(key) | session | {"MCP-Protocol-Version": "2025-11-25"}
        assert (await request(port, headers=theirs, body=rpc("tools/list", 2))).status == 404
        assert (await request(port, "DELETE", headers=theirs)).status == 404
        nobody = {name: value for name, value in theirs.items() if name != "Authorization"}
        assert (await request(port, headers=nobody, body=rpc("tools/list", 2))).status == 401
        theirs = await call(port, key, "echo", text="x")
        said = theirs.json["result"]["content"][0]["text"]
        assert named(said) == "key:other@default: x"

    run(tmp_path, scenario)


@pytest.mark.plan(51)
def test_what_header_and_body_say_has_to_be_the_same(tmp_path: Path):
    async def scenario(port: int, token: str) -> None:
        right = await call(port, token, "echo")
        assert right.status == 200
        headers = with_token(token, MCP_Protocol_Version="2026-07-28", Mcp_Method="tools/call")
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        body = rpc("tools/call", name="echo", arguments={}, _meta=meta)
        unlike = headers | {"Mcp-Name": "other"}
        assert (await request(port, headers=unlike, body=body)).status == 400

    run(tmp_path, scenario)


@pytest.mark.plan(51)
def test_what_could_be_two_requests_is_none(tmp_path: Path):
    async def scenario(port: int, token: str) -> None:
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
        smuggled = f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        twice = "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
        many = "".join(f"X-{number}: x\r\n" for number in range(10_000))
        long = f"X-Long: {'x' * 100_000}\r\n\r\n"
        for rest in (both + smuggled, twice, many + "\r\n", long, "Bad Header\r\n\r\n"):
            said = await say(port, (head + rest).encode())
            # Whoever sends so much more may be cut off before the answer is read.
            assert not said or 400 <= parsed(said).status < 500, said[:200]
            assert said.count(b"HTTP/1.1") <= 1
        for upgrade in ("websocket", "h2c"):
            more = {"Connection": "Upgrade", "Upgrade": upgrade}
            answer = await request(port, "GET", headers=with_token(token) | more)
            assert answer.status == 400
        assert (await request(port, "GET", "/health")).status == 200

    run(tmp_path, scenario)


@pytest.mark.plan(51)
def test_slow_clients_are_sent_away_and_the_others_notice_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(web_server, "HEAD_S", 1.5)

    async def scenario(port: int, token: str) -> None:
        slow = [
            await asyncio.open_connection("127.0.0.1", port)
            for _ in range(amount(51, "slow connections"))
        ]
        for number, (_, writer) in enumerate(slow):
            writer.write((b"", b"GET /mcp HTT", b"GET /mcp HTTP/1.1\r\nHost: x\r\nX")[number % 3])
        for number in range(20):
            answer = await call(port, token, "echo", text=str(number))
            assert answer.status == 200
        # A head that comes to no end is not waited for on a connection that was used, either.
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        await reader.readuntil(b"}")
        writer.write(b"GET /health HTT")
        async with asyncio.timeout(HANG_S):
            assert await reader.read() == b""
            for each, _ in slow:
                assert await each.read() == b""
        for _, each in (*slow, (reader, writer)):
            each.close()

    run(tmp_path, scenario)


@pytest.mark.plan(13)
def test_too_much_at_once_is_refused_before_the_rest_is_done(tmp_path: Path):
    made: list[EchoServers] = []
    answers: list[Answer] = []
    wanted, most = amount(13, "requests"), 64  # what one principal may have under way

    def servers(crib: Crib) -> EchoServers:
        made.append(EchoServers(crib))
        return made[-1]

    async def one(port: int, token: str, number: int) -> None:
        answers.append(await call(port, token, "hold", id=number))

    async def served() -> None:
        async with (
            serving(tmp_path, servers=servers) as (_, runtime),
            asyncio.TaskGroup() as group,
        ):
            for number in range(wanted):
                group.create_task(one(runtime.port, runtime.token, number))
            # Whoever is refused does not wait for those who are not.
            await until_async(lambda: len(answers) == wanted - most)
            assert {answer.status for answer in answers} == {429}
            assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers)
            made[0].let_go.set()
            await until_async(lambda: len(answers) == wanted)
            assert (await call(runtime.port, runtime.token, "echo")).status == 200

    asyncio.run(served())
    assert [answer.status for answer in answers[-most:]] == [200] * most


@pytest.mark.plan(14)
def test_a_steady_stream_of_searches_is_served(tmp_path: Path):
    async def scenario(port: int, token: str) -> None:
        async def one(number: int) -> None:
            await asyncio.sleep(number / 100)
            query = ("read a file", "what time is it")[number % 2]
            answer = await call(port, token, "tool_search", id=number, queries=[query])
            # A machine that stands still for a second makes a queue.
            while answer.status in {429, 503}:
                await asyncio.sleep(float(answer.headers["retry-after"]))
                answer = await call(port, token, "tool_search", id=number, queries=[query])
            assert json.loads(answer.body)["id"] == number
            found = answer.json["result"]["content"][0]["text"]
            assert ("read_file", "current_time")[number % 2] in found

        await asyncio.gather(*map(one, range(100 * amount(14, "seconds"))))

    run_whole(tmp_path, scenario)


SPAWNS = {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.system", "pty.spawn"}
STDIO = {"command": "/bin/sh", "args": ["-c", "touch /tmp/owned"], "type": "stdio"}


@pytest.mark.plan(53)
def test_no_route_starts_what_a_request_describes(tmp_path: Path):
    spawned: list[str] = []
    listening = True

    def hear(event: str, _arguments: object) -> None:
        if listening and event in SPAWNS:
            spawned.append(event)

    bodies = [
        {"mcpServers": {"x": STDIO}},
        {"name": "x", **STDIO},
        {"server": "x", "config": STDIO},
    ]
    methods = ["servers/add", "server/test", "tools/call", "initialize", "toolcrib/add", "ping"]
    paths = ["/mcp", "/servers", "/mcp/servers", "/api/servers", "/test", "/config", "/v1/mcp/test"]

    async def scenario(port: int, token: str) -> None:
        for path in paths:
            for how in ("POST", "PUT", "PATCH", "GET"):
                for body in bodies:
                    said = json.dumps(body).encode()
                    answer = await request(port, how, path, with_token(token), said)
                    assert answer.status >= 400 or how == "GET", (how, path)
        for method in methods:
            for body in bodies:
                for name in ("add_server", "toolcrib_add", "server_add"):
                    params = {**INITIALIZE, **body, "name": name, "arguments": body}
                    await request(port, headers=with_token(token), body=rpc(method, **params))

    sys.addaudithook(hear)
    try:
        run_whole(tmp_path, scenario)
    finally:
        listening = False
    assert not spawned


ADDRESSES = [
    "http://127.0.0.1:{port}/{n}",
    "http://localhost:{port}/{n}",
    "http://[::ffff:127.0.0.1]:{port}/{n}",
    "http://2130706433:{port}/{n}",
    "http://0x7f000001:{port}/{n}",
    "http://127.1:{port}/{n}",
    "http://0:{port}/{n}",
    "http://u:p@127.0.0.1:{port}/{n}",
    "//127.0.0.1:{port}/{n}",
    "resource://127.0.0.1:{port}/{n}",
]
FIELDS = ["icons", "url", "server", "redirect_uri", "authorization_endpoint", "websiteUrl", "$ref"]


@pytest.mark.plan(52)
def test_no_address_in_a_request_is_ever_fetched(tmp_path: Path):
    hits: list[str] = []

    async def canary(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hits.append((await reader.readline()).decode())
        writer.close()

    async def scenario(port: int, token: str) -> None:
        server = await asyncio.start_server(canary, "127.0.0.1", 0)
        listening = server.sockets[0].getsockname()[1]
        sent = 0
        for address in ADDRESSES:
            for field in FIELDS:
                url = address.format(port=listening, n=sent)
                values = {field: [{"src": url}] if field == "icons" else url, "uri": url}
                about = {**INITIALIZE, "clientInfo": {"name": "x", "version": "1", **values}}
                found = {"name": "tool_search", "arguments": {"queries": [url], **values}}
                schema = {"name": "tool_call", "arguments": {"name": url, "arguments": values}}
                for method, params in (
                    ("initialize", about),
                    ("resources/read", values),
                    ("tools/call", found),
                    ("tools/call", schema),
                ):
                    sent += 1
                    body = rpc(method, **params, _meta={**MODERN, **values})
                    headers = with_token(token, MCP_Protocol_Version="2026-07-28")
                    more = {"Mcp-Method": method, "Mcp-Name": str(params.get("name", url))}
                    await request(port, headers=headers | more, body=body)
        server.close()
        assert sent >= 280

    run_whole(tmp_path, scenario)
    assert not hits
