"""Many clients of one gateway at once, raw on the wire of 2026-07-28: nobody sees another's."""

import asyncio
import json
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.visits import MODERN, Door
from tests.plan import amount
from tests.sources.mcp.faking import FAKE, nothing_left
from tests.waiting import HANG_S

META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SETTINGS = '[gateway]\nmode = "search"\n'
SERVERS = {"fake": {"command": sys.executable, "args": ["-S", str(FAKE)]}}
SAME_ID = 1
AT_ONCE = 16
"""Requests under way: of more, a gateway refuses some until later."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A key, and the way to the gateway, which all take in turn."""

    door: Door
    http: httpx2.AsyncClient
    turn: asyncio.Semaphore

    async def ask(self, method: str, name: str = "", **params: Any) -> Any:
        """The result of a request that has the same number as all others."""
        headers = {
            **self.door.headers,
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
        }
        named = {"name": name} if name else {}
        given = {**named, **params, "_meta": META}
        body = {"jsonrpc": "2.0", "id": SAME_ID, "method": method, "params": given}
        async with self.turn:
            said = await self.http.post(self.door.url, json=body, headers=headers)
        assert said.status_code == 200, said.text
        return _message(said)["result"]

    async def echo(self, text: str) -> str:
        given = {"name": "mcp_fake_echo", "arguments": {"text": text}}
        result = await self.ask("tools/call", "tool_call", arguments=given)
        return result["content"][0]["text"]

    async def search(self, query: str) -> str:
        result = await self.ask("tools/call", "tool_search", arguments={"queries": [query]})
        return result["content"][0]["text"]


def _message(said: httpx2.Response) -> dict[str, Any]:
    """The one answer, whether it came as JSON or as a stream."""
    if said.headers["content-type"].startswith("application/json"):
        message = said.json()
    else:
        lines = [line for line in said.text.splitlines() if line.startswith("data:")]
        [message] = [each for each in map(_data, lines) if "id" in each]
    assert message["id"] == SAME_ID
    return message


def _data(line: str) -> dict[str, Any]:
    text = line.removeprefix("data:").strip()
    return json.loads(text) if text else {}


@pytest.fixture
def gateway(tmp_path: Path) -> Generator[Gateway]:
    with (
        nothing_left(),
        gateway_over(tmp_path, SERVERS, SETTINGS) as gateway,
        gateway.daemon(),
    ):
        yield gateway


def principals(gateway: Gateway, count: int) -> list[Door]:
    """As many keys, each of a principal of its own."""
    made = [json.loads(gateway.run("keys", "add", f"g{n}", "--json")) for n in range(count)]
    return [gateway.http(key=each["key"]) for each in made]


async def clients_of(principal: Principal, count: int, calls: int) -> list[str]:
    """Let some clients of one principal call at once; the answers that are not theirs."""
    mixed: list[str] = []

    async def client(number: int) -> None:
        for call in range(calls):
            nonce = f"{principal.door.token[-8:]} {number} {call}"
            said = await principal.echo(nonce)
            mixed.extend([] if said == nonce else [f"{nonce}: {said}"])

    before = await principal.ask("tools/list")
    await asyncio.gather(*(client(number) for number in range(count)))
    await principal.search("the echo tool")
    assert await principal.ask("tools/list") == before
    return mixed


@pytest.mark.plan(57)
@pytest.mark.plan(58)
def test_everybody_gets_their_own_answers(gateway: Gateway):
    doors, count = principals(gateway, amount(57, "principals")), amount(57, "clients")
    calls = amount(57, "calls") // (len(doors) * count)

    async def all_at_once() -> list[list[str]]:
        turn = asyncio.Semaphore(AT_ONCE)
        async with httpx2.AsyncClient(timeout=HANG_S) as http:
            every = (clients_of(Principal(door, http, turn), count, calls) for door in doors)
            return await asyncio.gather(*every)

    assert asyncio.run(all_at_once()) == [[] for _ in doors]


def test_a_set_is_of_use_to_nobody_else(gateway: Gateway):
    ours, theirs = principals(gateway, 2)

    async def tell() -> tuple[str, str]:
        async with httpx2.AsyncClient(timeout=HANG_S) as http:
            one, other = (Principal(door, http, asyncio.Semaphore(1)) for door in (ours, theirs))
            found = (await one.search("the echo tool")).rpartition("set: ")[2].split()[0]
            given = {"queries": [], "set": found}
            known = await one.ask("tools/call", "tool_search", arguments=given)
            unknown = await other.ask("tools/call", "tool_search", arguments=given)
            return known["content"][0]["text"], unknown["content"][0]["text"]

    known, unknown = asyncio.run(tell())
    assert "mcp_fake_echo" in known
    assert "is not known any more" not in known
    assert "is not known any more" in unknown
