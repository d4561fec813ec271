"""Several clients at once on a gateway whose servers are killed, and on one that is itself."""

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.e2e.gateway.running import Gateway, gateway_over
from tests.e2e.gateway.visits import HANDSHAKE, MODERN, Door, python_client, text_of
from tests.plan import amount
from tests.sources.mcp.faking import FAKE, below, left_of, nothing_left, processes, zombies
from tests.waiting import let_pass_async
from toolcrib.system.process_tree import LAUNCHER

SETTINGS = '[gateway]\nmode = "search"\n'
SPARED = 2
"""The first few servers are never killed."""
DEADLINE = "no reply in time"
"""What a call says that was waited for to its deadline."""
PIPES, SOME = 5, 20
"""Descriptors of a server that is up, and of what else a daemon opens once; a leak has hundreds."""


def fakes(count: int, *kinds: str) -> dict[str, Mapping[str, Any]]:
    """Fake servers; `kinds` are their modes, in turn."""
    modes = [*kinds, ""]
    return {
        f"s{number}": {
            "command": sys.executable,
            "args": ["-S", str(FAKE), modes[number % len(modes)], f"number={number}"],
        }
        for number in range(count)
    }


@dataclass(slots=True)
class History:
    """What became of each call: the server, whether it went well, what it said."""

    calls: list[tuple[int, bool, str]] = field(default_factory=list[tuple[int, bool, str]])
    killed: list[int] = field(default_factory=list[int])
    tried: int = 0

    def share(self, servers: set[int]) -> float:
        """How many of the calls of these servers went well."""
        some = [ok for number, ok, _ in self.calls if number in servers]
        return sum(some) / len(some)


async def call(client: Client, number: int, history: History) -> None:
    given = {"name": f"mcp_s{number}_sleep", "arguments": {"s": 0.02}}
    said = await client.call_tool("tool_call", given)
    words = text_of(said.model_dump(by_alias=True, mode="json"))
    history.calls.append((number, not said.is_error, words))


async def keep_calling(door: Door, era: str, servers: int, kills: int, history: History) -> None:
    chance = random.Random(era)
    async with python_client(door, era) as client:
        while history.tried < kills:
            await call(client, chance.randrange(servers), history)


async def keep_killing(daemon: int, kills: int, history: History) -> None:
    chance = random.Random(16)
    while history.tried < kills:
        await let_pass_async()
        history.tried += 1
        if found := await asyncio.to_thread(victims, daemon):
            history.killed.append(chance.choice(found))
            os.kill(history.killed[-1], signal.SIGKILL)


def victims(daemon: int) -> list[int]:
    """The servers, but for those that are spared."""
    every = processes()
    spared = tuple(f"number={number} " for number in range(SPARED))
    lines = {pid: every[pid][1] for pid in below(daemon, every)}
    servers = {pid: line for pid, line in lines.items() if LAUNCHER.name not in line}
    return sorted(
        pid for pid, line in servers.items() if str(FAKE) in line and not line.endswith(spared)
    )


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


@pytest.mark.plan(16)
def test_servers_that_are_killed_hold_up_no_client(tmp_path: Path):
    count, kills = amount(16, "servers behind a gateway"), amount(16, "kills behind a gateway")
    history = History()

    async def run(gateway: Gateway, daemon: int) -> None:
        doors = [
            (gateway.connect(), HANDSHAKE),
            (gateway.connect(), MODERN),
            (gateway.http(), MODERN),
        ]
        await asyncio.gather(
            keep_killing(daemon, kills, history),
            *(keep_calling(door, era, count, kills, history) for door, era in doors),
        )

    with (
        nothing_left(),
        gateway_over(tmp_path, fakes(count), SETTINGS) as gateway,
        gateway.daemon() as daemon,
    ):
        before = descriptors(daemon["pid"])
        asyncio.run(run(gateway, daemon["pid"]))
        up = len(below(daemon["pid"])) / 3  # each server and its two launchers
        assert zombies(daemon["pid"]) == []
        assert descriptors(daemon["pid"]) <= before + up * PIPES + SOME
    assert len(history.killed) >= count - SPARED
    assert not [said for _, _, said in history.calls if DEADLINE in said]
    assert history.share(set(range(SPARED))) >= 0.99, Counter(said for _, _, said in history.calls)
    assert history.share(set(range(count))) > 0.5
    assert all(said for _, ok, said in history.calls if not ok)


@pytest.mark.plan(17)
def test_a_daemon_that_is_killed_leaves_nothing_and_is_back_at_once(tmp_path: Path):
    """Its client notices no more than one call whose outcome is unknown."""

    async def run(gateway: Gateway) -> None:
        async with python_client(gateway.connect(), HANDSHAKE) as client:
            for kind in range(3):
                await call(client, kind, history)
            daemon = gateway.runtime()["pid"]
            servers = below(daemon)
            assert len(servers) >= 6
            os.kill(daemon, signal.SIGKILL)
            assert await asyncio.to_thread(left_of, {daemon, *servers}) == {}
            await call(client, 0, history)
            assert gateway.runtime()["pid"] != daemon

    history = History()
    servers = fakes(3, "stubborn", "grandchild")
    with nothing_left(), gateway_over(tmp_path, servers, SETTINGS) as gateway:
        asyncio.run(run(gateway))
    assert [said for _, ok, said in history.calls if not ok] == []
