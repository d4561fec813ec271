"""Calls that wait for the operator at a running gateway: real programs, every door, both eras."""

import asyncio
import json
import sys
from collections.abc import Generator
from typing import Any
from uuid import uuid4

import pytest
from mcp import Client

from tests.e2e.gateway.conftest import PROFILE, SEARCH
from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.visits import ERAS, HANDSHAKE, MODERN, Door, python_client
from tests.sources.mcp.faking import FAKE, nothing_left
from tests.waiting import until_async

SERVER = {"command": sys.executable, "args": ["-S", str(FAKE)]}
HELD = '[approval]\nservers = "ask"\nwait_s = 200\n'
WAYS = ("shim", "http", "stdio")


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Generator[Gateway]:
    made = gateway_over(tmp_path_factory.mktemp("gateway"), {"fake": SERVER}, PROFILE + HELD)
    with nothing_left(), made as gateway, gateway.daemon():
        yield gateway


def door_of(gateway: Gateway, way: str) -> Door:
    words = ("--profile", SEARCH)
    ways = {"shim": gateway.connect, "stdio": gateway.stdio}
    return ways[way](*words) if way in ways else gateway.http(SEARCH)


class Waiting:
    """A call that waits at a client, and the operator's commands."""

    def __init__(self, gateway: Gateway, client: Client) -> None:
        self._gateway, self.text = gateway, uuid4().hex
        self.given = {"name": "mcp_fake_echo", "arguments": {"text": self.text}}
        self.call = asyncio.create_task(client.call_tool("tool_call", self.given))

    async def run(self, *words: str) -> str:
        return await asyncio.to_thread(self._gateway.run, *words)

    async def tickets(self) -> list[str]:
        waiting: list[Any] = json.loads(await self.run("approvals", "--json"))
        return [each["id"] for each in waiting if each["arguments"].get("text") == self.text]

    async def ticket(self) -> str:
        [ticket] = await until_async(self.tickets, "the call waits")
        assert not self.call.done()
        return ticket


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
def test_what_the_operator_says_ends_the_wait(gateway: Gateway, era: str, way: str):
    async def run() -> None:
        async with python_client(door_of(gateway, way), era) as client:
            allowed = Waiting(gateway, client)
            await allowed.run("approvals", "allow", await allowed.ticket())
            result = await allowed.call
            assert not result.is_error
            assert result.content[0].text == allowed.text  # type: ignore[union-attr]
            denied = Waiting(gateway, client)
            await denied.run("approvals", "deny", await denied.ticket())
            error: Any = (await denied.call).structured_content
            assert error["error"]["code"] == "approval_denied"

    asyncio.run(run())


@pytest.mark.parametrize(("era", "way"), [(HANDSHAKE, "shim"), (MODERN, "shim"), (MODERN, "http")])
def test_what_is_allowed_after_its_client_has_gone_waits_until_it_is_called_again(
    gateway: Gateway, era: str, way: str
):
    door = door_of(gateway, way)

    async def run() -> None:
        async with python_client(door, era) as client:
            left = Waiting(gateway, client)
            ticket = await left.ticket()
            left.call.cancel()
            await asyncio.wait({left.call})
        async with python_client(door, era) as client:
            assert await left.tickets() == [ticket]
            await left.run("approvals", "allow", ticket)
            again = await client.call_tool("tool_call", left.given)
            assert again.content[0].text == left.text  # type: ignore[union-attr]

    asyncio.run(run())
