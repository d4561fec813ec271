"""Bodies that are no message of JSON-RPC, or that two readers could read differently."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.execute.counting import CountingSource, offered
from tests.gateway.daemons import MODERN, bare, call, request, serving, with_token
from tests.plan import amount
from toolcrib.crib import Crib
from toolcrib.gateway.server import GatewayServers
from toolcrib.settings import ApprovalRule, ApprovalSettings

NAME = "look"
ODD: list[Any] = [None, True, -1, 1e400, "", "x" * 5_000, [], [1], {}, {"a": {}}, "tools/call"]
SPELLINGS = (
    "Method",
    "METHOD",
    "method\u200b",
    "ｍethod",
    "Params",
    "param\u017f",
    "Id",
    "JSONRPC",
)


def proper() -> dict[str, Any]:
    params = {"name": NAME, "arguments": {}, "_meta": MODERN}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def bodies(count: int) -> Iterator[bytes]:
    """Each a call that would be made, but for one thing that is wrong with it."""
    chance = Random(31)
    kinds = [batch, doubled, misspelt, odd, cut, tailed, deep, encoded, unlike_json]
    for number in range(count):
        yield kinds[number % len(kinds)](chance)


def batch(chance: Random) -> bytes:
    return json.dumps([proper()] * chance.choice([1, 2, 50])).encode()


def doubled(chance: Random) -> bytes:
    """Two of one key, at the top or within."""
    text = json.dumps(proper())
    key = chance.choice(["method", "params", "id", "jsonrpc", "name", "arguments"])
    value = json.dumps({**proper(), **proper()["params"]}[key])
    other = chance.choice(['"ping"', "{}", "7", value])
    return text.replace(f'"{key}": ', f'"{key}": {other}, "{key}": ', 1).encode()


def misspelt(chance: Random) -> bytes:
    """A key that some readers take for the right one, in its place."""
    spelt = chance.choice(SPELLINGS)
    right = {"m": "method", "p": "params", "i": "id", "j": "jsonrpc", "ｍ": "method"}[
        spelt[0].lower()
    ]
    said = proper()
    said[spelt] = said.pop(right)
    return json.dumps(said, ensure_ascii=chance.random() < 0.5).encode()


def odd(chance: Random) -> bytes:
    """Something else where a word or an object belongs."""
    said = proper()
    at = chance.choice(["jsonrpc", "method", "params", "name"])
    value = chance.choice([each for each in ODD if each != said.get(at)])
    (said["params"] if at == "name" else said)[at] = value
    return json.dumps(said).encode()


def cut(chance: Random) -> bytes:
    text = json.dumps(proper()).encode()
    return text[: chance.randrange(1, len(text) - 1)]


def tailed(chance: Random) -> bytes:
    """Something after the end."""
    tails = [b"\0", b"\0" * 900, b"{}", b"]", json.dumps(proper()).encode(), b"\xff", b"//x", b",1"]
    return json.dumps(proper()).encode() + chance.choice(tails)


def deep(chance: Random) -> bytes:
    depth = chance.choice([200, 5_000, 100_000])
    opening, closing = chance.choice([("[", "]"), ('{"a":', "}")])
    nested = opening * depth + ("1" if opening != "[" else "") + closing * depth
    return json.dumps(proper()).replace('"arguments": {}', f'"arguments": {nested}').encode()


def encoded(chance: Random) -> bytes:
    """Not UTF-8, or with half a character, or a mark before it."""
    text = json.dumps(proper())
    half = text.replace(NAME, chance.choice(["look\\ud800", "\\udfff look"]))
    broken = text.encode().replace(b"look", b"look\xff\xc3")
    return chance.choice([text.encode("utf-16"), text.encode("utf-32"), half.encode(), broken])


def unlike_json(chance: Random) -> bytes:
    text = json.dumps(proper())
    changes = [
        text.replace('"', "'"),
        text.replace("{}", "{},"),
        text.replace("{}", "NaN"),
        text.replace("{}", '{"a": Infinity}'),
        text.replace("1,", "01,"),
        f"/* x */{text}",
        chance.choice(["", " ", "null", "7", '"tools/call"', "x" * 1_000, "<xml/>"]),
        "9" * 9_000,
        " " * chance.choice([10, 9_000_000]),
    ]
    return chance.choice(changes).encode()


@pytest.mark.plan(31)
def test_what_is_no_proper_message_is_refused_and_calls_nothing(tmp_path: Path):
    source = CountingSource(offered(NAME))
    allow = ApprovalSettings(rules=(ApprovalRule(verdict="allow"),))

    def crib() -> Crib:
        made = Crib(bare(approval=allow, gateway={"mode": "direct"}))
        made.add_source(source)
        return made

    async def scenario(port: int, token: str) -> None:
        headers = with_token(token, MCP_Protocol_Version="2026-07-28", Mcp_Method="tools/call")
        headers |= {"Mcp-Name": NAME}
        for body in bodies(amount(31, "bodies")):
            answer = await request(port, headers=headers, body=body or b" ")
            assert answer.status < 500, (answer, body[:300])
            assert not source.reached, body[:300]
        assert (await call(port, token, NAME)).status == 200
        assert len(source.reached) == 1

    async def served() -> None:
        async with serving(tmp_path, crib=crib, servers=GatewayServers) as (_, runtime):
            await scenario(runtime.port, runtime.token)

    asyncio.run(served())
