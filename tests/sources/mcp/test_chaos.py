"""Many servers at once, and the worst that can happen to them."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.plan import amount
from tests.sources.mcp.conftest import acall
from tests.sources.mcp.faking import FAKE, below, fake, left_of, own_file, processes
from tests.waiting import HANG_S, let_pass_async

TYPED = {"connection_lost", "unavailable", "start_failed", "start_timeout"}


def descriptors():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def victims():
    """Servers and their launchers, but for those that are spared."""
    every = processes()
    lines = ((pid, every[pid][1]) for pid in below(os.getpid(), every))
    return sorted(pid for pid, line in lines if str(FAKE) in line and "spared" not in line)


@pytest.mark.plan(16)
def test_servers_that_are_killed_cost_their_own_calls_and_no_others(shop):
    count, kills = amount(16, "servers"), amount(16, "kills")
    sources = [
        shop.source(fake(*(["spared"] if number < 3 else []), id=f"s{number}"))
        for number in range(count)
    ]
    for refresh in [source.refresh() for source in sources]:
        assert not refresh.result(HANG_S).error
    baseline = descriptors()
    rng, history, killed, tried = random.Random(16), [], [], []

    async def ask(number):
        while len(tried) < kills:
            said = await acall(sources[number], "sleep", s=0.05)
            history.append((number, said.error and said.error.code))

    async def kill():
        while len(tried) < kills:
            await let_pass_async()
            tried.append(found := await asyncio.to_thread(victims))
            if found:  # else those that may be killed rest until they may start again
                killed.append(rng.choice(found))
                os.kill(killed[-1], signal.SIGKILL)

    async def run():
        await asyncio.gather(kill(), *(ask(number) for number in range(count)))

    asyncio.run(run())
    assert len(killed) >= count
    codes = Counter(code for _, code in history)
    spared = Counter(code for number, code in history if number < 3)
    assert set(codes) - {None} <= TYPED, codes  # and none of them the deadline
    assert spared[None] >= 0.99 * spared.total(), spared
    shop.loop.stop_all()
    assert descriptors() <= baseline


GATEWAY = """
import json, sys, time
from pathlib import Path
from toolcrib.sources.mcp import McpServers
from toolcrib.store import FileStores, StorePlaces
found = McpServers.open([Path(sys.argv[1])], FileStores(StorePlaces(Path(sys.argv[2]))))
assert not found.problems, found.problems
done = [each.result(100) for each in [source.refresh() for source in found.sources]]
print(json.dumps([each.error for each in done]), flush=True)
if sys.stdin.readline():
    found.close()
    print("closed", flush=True)
"""


def gateway(folder, count):
    """A process with so many servers; a third are stubborn, a third have grandchildren."""
    kinds = ((), ("stubborn",), ("grandchild",))
    servers = {
        f"s{number}": {"command": sys.executable, "args": ["-S", str(FAKE), *kinds[number % 3]]}
        for number in range(count)
    }
    own_file().write_text(json.dumps({"mcpServers": servers}))
    process = subprocess.Popen(
        [sys.executable, "-c", GATEWAY, str(own_file()), str(folder / "state")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert json.loads(process.stdout.readline()) == [""] * count
    return process, below(process.pid)


@pytest.mark.plan(17)
def test_nothing_survives_a_gateway_that_is_killed(tmp_path):
    count = amount(17, "servers")
    for number in range(amount(17, "kills")):
        folder = tmp_path / str(number)
        folder.mkdir()
        process, pids = gateway(folder, count)
        with_grandchildren = len(range(2, count, 3))
        assert len(pids) == count * 3 + with_grandchildren * 2
        process.kill()
        process.communicate()
        assert left_of(pids) == {}


@pytest.mark.plan(18)
def test_a_clean_stop_leaves_nothing_however_stubborn_they_are(tmp_path):
    process, pids = gateway(tmp_path, amount(18, "servers"))
    said, _ = process.communicate("\n", timeout=HANG_S)
    assert (said, process.returncode) == ("closed\n", 0)
    assert left_of(pids) == {}
