"""Many tenants on one replica, in a budget of memory: how many fit, and what a switch costs.

    python -m benchmarks.replicas.tenants [--tenants 1000] [--smallest 200] [--largest 20000]

There are 24 sizes, spread evenly by their logarithm. A size that is ten times as large is ten times
as rare: most tenants are small, and all sizes together have about as many tools each. Tenants of
one size have the same tools, but share nothing of them here. Each is searched once, which opens it
from the database; those that nobody uses make room. After a restart each is searched once more, and
comes back from its packs. At last tenants that are open are searched again and again. CPU is that
of the replica, from the request to its answer.
"""

import asyncio
import json
import math
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, NamedTuple

import psutil

from benchmarks.folder import SEED
from benchmarks.home import Home, Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import made_up_queries
from benchmarks.processes import cpu_seconds, megabytes
from benchmarks.replicas.client import McpClient
from benchmarks.replicas.cluster import KEY_VARIABLE, ROOT, Replica, free_port
from tests.postgres import PostgresServer
from toolcrib.gateway import ask_daemon

NAME = "replica_tenants"
CLASSES = 4
SIZES = 24
WARM = 20
"""So often one of each class of sizes is searched again."""
INDEXED_S = 300.0
"""So long a first search may take, which indexes all."""
TRIES = 10
WITHIN = "begin no search of another tenant after so long; the report says how many there were"
FITS = ["each tenant searched once", ">from the database", ">from its packs"]
SETTINGS = """\
store = "{store}"
install_key_env = "INSTALL_KEY"
plugins = false

[apps]
enabled = false

[embed]
embedder = "none"

[observe]
enabled = false

[gateway]
port = {port}
mode = "search"
tenants = ["*"]
tenant_memory_mb = {memory}
"""


class SeededTenant(NamedTuple):
    """A tenant in the database: how many tools it has, and a key to it."""

    name: str
    tools: int
    key: str


class Look(NamedTuple):
    """One search: of how many tools, and what it took, in seconds."""

    tools: int
    cpu: float
    clock: float


class Standing(NamedTuple):
    """How a replica stands when each tenant was searched once: how many are open, in how much."""

    open: int
    estimated_mb: float
    grown_mb: float
    threads: int


class Result(NamedTuple):
    """What was measured: searches by kind, and how the replica stood after the first two."""

    first: Sequence[Look]
    cold: Sequence[Look]
    warm: Sequence[Look]
    after_first: Standing
    after_cold: Standing


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.replicas.tenants", description=__doc__)
    parser.add_argument("--tenants", type=int, default=1_000)
    parser.add_argument("--smallest", type=int, default=200)
    parser.add_argument("--largest", type=int, default=20_000)
    parser.add_argument("--within-s", type=float, default=math.inf, help=WITHIN)
    parser.add_argument("--memory-mb", type=int, default=512)
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="tc") as folder:
            result = asyncio.run(_measured(Path(folder), said))
        sizes = f"{said.smallest:,} to {said.largest:,} tools, most of them small"
        head = f"{said.tenants:,} tenants of {sizes}; a budget of {said.memory_mb:,} MB."
        text = f"{head}\n\n{report(result, said)}"
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


async def _measured(folder: Path, said: Namespace) -> Result:
    variables = {KEY_VARIABLE: secrets.token_hex(32)}
    home, port = Home(folder / "home", variables=variables), free_port()
    home.folder.mkdir(parents=True)
    with _database() as server:
        store = server.new_database().text
        home.configure(SETTINGS.format(store=store, port=port, memory=said.memory_mb), {})
        tenants = await asyncio.to_thread(_seeded, home, store, spread(said))
        replica = Replica("one", home, port)
        try:
            first, after_first = await _opened(replica, tenants, said.within_s)
            tenants = tenants[: len(first) + 1]
            cold, after_cold = await _opened(replica, tenants, said.within_s)
            tenants = tenants[: len(cold) + 1]
            warm = [each for tenant in sample(tenants) for each in await _warm(replica, tenant)]
        finally:
            replica.stop()
    return Result(first, cold, warm, after_first, after_cold)


async def _opened(
    replica: Replica, tenants: Sequence[SeededTenant], within_s: float
) -> tuple[Sequence[Look], Standing]:
    """Start the replica anew, with the files that it has, and search each tenant once."""
    end = time.monotonic() + within_s
    replica.stop()
    replica.start()
    await replica.wait_ready()
    await _look(replica, tenants[0], 0)  # what the first search of all takes is the process's
    before = megabytes(replica.pid)
    looks: list[Look] = []
    for place, each in enumerate(tenants[1:]):
        if time.monotonic() > end:
            break
        looks.append(await _look(replica, each, place))
    status: Any = await asyncio.to_thread(ask_daemon, replica.files, "status")
    estimated = sum(each["megabytes"] for each in status["tenants"])
    threads = psutil.Process(replica.pid).num_threads()
    grown = megabytes(replica.pid) - before
    return looks, Standing(len(status["tenants"]), estimated, grown, threads)


async def _warm(replica: Replica, tenant: SeededTenant) -> list[Look]:
    await _look(replica, tenant, 0)
    return [await _look(replica, tenant, place) for place in range(WARM)]


async def _look(replica: Replica, tenant: SeededTenant, place: int) -> Look:
    """One search of a tenant's key. Raises `Unusable` if it does not find anything."""
    host = f"127.0.0.1:{replica.port}"
    client = McpClient(replica.url, tenant.key, "modern", host, INDEXED_S)
    query = QUERIES[place % len(QUERIES)]
    tries = 0
    while True:
        cpu, began = cpu_seconds(replica.pid), time.perf_counter()
        reply = await client.call("tool_search", queries=[query])
        tries += 1
        if reply.code != "store_away" or tries == TRIES:
            break  # a busy machine may keep the database from answering
        print(f"{tenant.name}: the store was away", file=sys.stderr, flush=True)
    taken = Look(tenant.tools, cpu_seconds(replica.pid) - cpu, time.perf_counter() - began)
    await client.close()
    if reply.code or not reply.meta.get("toolcrib/tools"):
        raise Unusable(f"a search of {tenant.name} fails: {reply}")
    return taken


QUERIES = made_up_queries(200)


def spread(said: Namespace) -> list[tuple[str, int]]:
    """Names and sizes, in an order that mixes small and large; of each size at least one."""
    step = math.log(said.largest / said.smallest) / (SIZES - 1)
    every = [round(said.smallest * math.exp(step * n)) for n in range(SIZES)]
    share = said.tenants / sum(1 / size for size in every)
    sizes = [size for size in every for _ in range(max(1, round(share / size)))]
    while len(sizes) < said.tenants:
        sizes.append(said.smallest)
    sizes = sorted(sizes, reverse=True)[: said.tenants]
    Random(SEED).shuffle(sizes)
    return [(f"t{number}", size) for number, size in enumerate(sizes)]


def _seeded(home: Home, store: str, sizes: Sequence[tuple[str, int]]) -> list[SeededTenant]:
    """Written by a process in the replica's home, as one of its commands would be."""
    args = ["-S", str(ROOT / "benchmarks" / "dump_server.py"), str(home.folder / "none.json")]
    entry = {"command": sys.executable, "args": args}
    home.servers.write_text(json.dumps({"mcpServers": {"office": entry}}), encoding="utf-8")
    asked = {
        "store": store,
        "install_key": home.variables[KEY_VARIABLE],
        "servers": str(home.servers),
        "tenants": sizes,
    }
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.replicas.tenant_seed"],
        input=json.dumps(asked).encode(),
        env={**home.env, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
    )
    home.servers.unlink()
    print(f"seeded in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return [SeededTenant(**json.loads(line)) for line in done.stdout.splitlines()]


@contextmanager
def _database() -> Generator[PostgresServer]:
    folder = Path(tempfile.mkdtemp(prefix="toolcrib-tenants-"))
    folder.chmod(0o755)
    server = PostgresServer(folder)
    try:
        server.make()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


def _class(tools: int, said: Namespace) -> int:
    """Which quarter of the sizes, by their logarithm."""
    low, high = math.log(said.smallest), math.log(said.largest)
    return min(CLASSES - 1, int(CLASSES * (math.log(tools) - low) / max(high - low, 1e-9)))


def sample(tenants: Sequence[SeededTenant]) -> list[SeededTenant]:
    """One of each class of sizes, from its middle."""
    ordered = sorted(tenants, key=lambda each: each.tools)
    return [ordered[(2 * n + 1) * len(ordered) // (2 * CLASSES)] for n in range(CLASSES)]


def report(result: Result, said: Namespace) -> str:
    """What fits, and a row for each class of sizes."""
    standings = result.after_first, result.after_cold
    searched = [f"{len(looks) + 1:,}" for looks in (result.first, result.cold)]
    fits = [
        ["tenants searched", *searched],
        ["tenants open in the end", *(f"{each.open:,}" for each in standings)],
        ["what they take, as estimated, MB", *(f"{each.estimated_mb:.0f}" for each in standings)],
        ["what the process grew by, MB", *(f"{each.grown_mb:.0f}" for each in standings)],
        ["its threads", *(f"{each.threads}" for each in standings)],
    ]
    head = ["tools", ">first, CPU ms", ">cold, CPU ms", ">cold, ms", ">warm, CPU ms", ">warm, ms"]
    return f"{table(FITS, fits)}\n\n{table(head, _rows(result, said))}"


def _rows(result: Result, said: Namespace) -> Generator[list[str]]:
    for number in range(CLASSES):
        first, cold, warm = (
            [each for each in some if _class(each.tools, said) == number]
            for some in (result.first, result.cold, result.warm)
        )
        sizes = [each.tools for each in first]
        yield [
            f"{min(sizes):,}–{max(sizes):,}" if sizes else "-",
            _ms([each.cpu for each in first]),
            _ms([each.cpu for each in cold]),
            _ms([each.clock for each in cold]),
            _ms([each.cpu for each in warm]),
            _ms([each.clock for each in warm]),
        ]


def _ms(seconds: Sequence[float]) -> str:
    return f"{median(seconds) * 1_000:.1f}" if seconds else "-"


if __name__ == "__main__":
    main()
