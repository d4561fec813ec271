import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from tests.gateway.daemons import bare, serving
from tests.gateway.echo_servers import EchoServers
from tests.waiting import HANG_S, until_async
from toolcrib.gateway import KeyTerms, keys_in


class Shim:
    """The wire of a shim, said by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def say(self, raw: bytes) -> None:
        self._writer.write(raw + b"\n")
        await self._writer.drain()

    async def hear(self) -> Any:
        async with asyncio.timeout(HANG_S):
            line = await self._reader.readline()
        return json.loads(line) if line else None

    async def ask(self, id: int, method: str, **params: Any) -> None:
        said = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        await self.say(json.dumps(said).encode())

    async def greet(self) -> None:
        about = {"name": "x", "version": "1"}
        await self.ask(
            0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about
        )
        assert "result" in await self.hear()
        await self.say(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')


@asynccontextmanager
async def shim(path: str, **hello: Any) -> AsyncGenerator[tuple[Shim, Any]]:
    reader, writer = await asyncio.open_unix_connection(path)
    one = Shim(reader, writer)
    await one.say(json.dumps({"toolcrib": 1, "profile": "default", "pid": 1, **hello}).encode())
    try:
        yield one, await one.hear()
    finally:
        writer.close()


@pytest.mark.parametrize(
    "hello",
    [{"toolcrib": 2}, {"profile": 3}, {"pid": "x"}, {"profile": "x"}, {"key": ""}, {"key": None}],
)
def test_a_hello_that_is_not_right_is_refused_with_a_reason(tmp_path: Path, hello: dict[str, Any]):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, runtime):
            async with shim(runtime.socket, **hello) as (one, answer):
                if hello == {"key": None}:
                    assert "error" not in answer  # as good as none: the socket says who it is
                    return
                assert answer["error"]
                assert await one.hear() is None
            assert not daemon.shims.clients

    asyncio.run(scenario())


def test_what_is_no_hello_is_hung_up_on(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (_, runtime):
            for raw in (b"GET / HTTP/1.1", b"x" * 300_000, b"[]", b"\xff"):
                reader, writer = await asyncio.open_unix_connection(runtime.socket)
                writer.write(raw + b"\n")
                async with asyncio.timeout(HANG_S):
                    said = await reader.read()
                assert b'"error"' in said or not said
                writer.close()

    asyncio.run(scenario())


def test_there_is_an_end_to_clients(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, runtime), shim(runtime.socket) as (one, _):
            daemon.shims._most = 1
            await one.greet()
            async with shim(runtime.socket) as (_, answer):
                assert "close one" in answer["error"]

    asyncio.run(scenario())


def test_a_flood_on_one_connection_is_refused_and_what_was_taken_is_done(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, runtime):
            async with shim(runtime.socket) as (one, _):
                await one.greet()
                for id in range(1, 101):
                    await one.ask(id, "tools/call", name="hold")
                refused = [await one.hear() for _ in range(36)]
                servers = cast("EchoServers", daemon.serving.servers)
                servers.let_go.set()
                answers = [*refused, *[await one.hear() for _ in range(64)]]
                assert [each for each in answers if "error" in each] == refused
                assert refused[0]["error"]["data"] == {
                    "code": "too_many_requests",
                    "retry_after_s": 1,
                }
                assert {each["id"] for each in answers} == set(range(1, 101))
                assert daemon.request_limiter.running == 0
                await one.ask(200, "tools/call", name="wait", arguments={"s": 60})
                note = {"method": "notifications/cancelled", "params": {"requestId": 200}}
                await one.say(json.dumps({"jsonrpc": "2.0", **note}).encode())
                await one.ask(201, "ping")
                while (await one.hear())["id"] != 201:
                    pass
                assert daemon.request_limiter.running == 0
                await one.ask(202, "tools/call", name="wait", arguments={"s": 60})
                await one.ask(203, "ping")
                await one.hear()
                assert daemon.request_limiter.running == 1
            await until_async(lambda: not daemon.request_limiter.running)

    asyncio.run(scenario())


def test_a_key_that_is_taken_back_ends_what_is_open(tmp_path: Path):
    keys = keys_in(bare().state_folder)
    key = keys.add("laptop")

    async def scenario() -> None:
        async with (
            serving(tmp_path) as (_, runtime),
            shim(runtime.socket, key=key) as (one, welcome),
            shim(runtime.socket) as (local, _),
        ):
            assert "error" not in welcome
            await one.greet()
            await local.greet()
            keys.remove("laptop")
            await one.ask(1, "tools/list")
            assert "was removed" in (await one.hear())["error"]["message"]
            assert await one.hear() is None
            await local.ask(1, "tools/list")
            assert "result" in await local.hear()

    asyncio.run(scenario())


def test_one_id_is_under_way_once_so_that_repeating_it_escapes_no_limit(tmp_path: Path):
    async def scenario() -> None:
        async with serving(tmp_path) as (daemon, runtime), shim(runtime.socket) as (one, _):
            await one.greet()
            for _ in range(100):
                await one.ask(7, "tools/call", name="wait", arguments={"s": 1000})
            refused = [await one.hear() for _ in range(99)]
            assert {each["error"]["code"] for each in refused} == {-32600}
            assert "under way already" in refused[0]["error"]["message"]
            # A refusal is no answer to the one that is under way: it counts until it is done.
            assert daemon.request_limiter.running == 1
            for id in range(100, 164):
                await one.ask(id, "tools/call", name="wait", arguments={"s": 1000})
            over = await one.hear()
            assert (over["id"], over["error"]["data"]["code"]) == (163, "too_many_requests")
            assert daemon.request_limiter.running == 64
            await one.say(
                b'{"jsonrpc": "2.0", "method": "notifications/cancelled",'
                b' "params": {"requestId": 7}}'
            )
            await one.ask(8, "tools/list")  # there is room for one again
            assert "result" in await one.hear()

    asyncio.run(scenario())


def test_a_shim_with_a_key_has_the_limits_of_the_key(tmp_path: Path):
    key = keys_in(bare().state_folder).add("laptop", KeyTerms(rate=3))

    async def scenario() -> None:
        async with serving(tmp_path) as (_, runtime), shim(runtime.socket, key=key) as (one, _):
            await one.greet()  # the first request
            said: list[Any] = []
            for id in (1, 2, 3):
                await one.ask(id, "tools/list")
                said.append(await one.hear())
            assert ["error" in each for each in said] == [False, False, True]
            assert said[2]["error"]["data"]["code"] == "too_many_requests"
            assert said[2]["error"]["data"]["retry_after_s"] > 1

    asyncio.run(scenario())
