"""Searches and calls a second: of one replica and of three, through HAProxy; and of a peer.

    python -m benchmarks.replicas.rates [--clients 16] [--seconds 10] [--tools 300]
        [--contextforge PYTHON]

Every client asks again as soon as it has its answer. All of ours are in the modern era, and each
has a key of its own. One server, over HTTP, is behind all gateways; it is called without one too.
Clients, server, gateways, database and HAProxy share the machine: on one with few cores three
replicas answer no more than one. What a gateway computes for a request depends less on what else
runs there.

PYTHON is that of an environment with `mcp-contextforge-gateway`. ContextForge has no search; what
its clients do instead is to list all tools.
"""

import asyncio
import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import made_up_queries
from benchmarks.processes import cpu_seconds
from benchmarks.replicas.client import McpClient, Reply, until_found
from benchmarks.replicas.cluster import SHOP_TOOLS, opened_stores, running_cluster
from benchmarks.replicas.contextforge import contextforge_version, running_contextforge
from benchmarks.replicas.shop_http import running_shop
from benchmarks.replicas.shop_server import LOOK_UP, OWN, SERVER
from toolcrib.gateway.keys import Keys

NAME = "replica_rates"
QUERIES = made_up_queries(200)
CALLED = f"mcp_{SERVER}_{LOOK_UP}"
CALLED_BY_PEER = f"{SERVER}-{LOOK_UP.replace('_', '-')}"
LEFT_OUT = "ContextForge is left out: `--contextforge PYTHON` names the Python that has it."


class Rate(NamedTuple):
    """How many a second. In seconds: the middle ones, the slow ones, and their CPU, each.

    The CPU is that of the gateways, without what they ask.
    """

    what: str
    a_second: float
    p50: float
    p95: float
    cpu: float
    failed: int


class Load(NamedTuple):
    """So many clients for so many seconds."""

    clients: int
    seconds: float

    async def rates(
        self, clients: Sequence[McpClient], pids: Sequence[int], asked: "dict[str, Ask]"
    ) -> list[Rate]:
        """One thing after the other. The clients hang up in the end."""
        async with AsyncExitStack() as stack:
            for each in clients:
                stack.push_async_callback(each.close)
            return [
                await _rate(what, clients, self.seconds, ask, pids) for what, ask in asked.items()
            ]


Ask = Callable[[McpClient, int], Awaitable[Reply]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.replicas.rates", description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument(
        "--tools", type=int, default=SHOP_TOOLS, help="a call costs the same with 100 and 20,000"
    )
    parser.add_argument(
        "--contextforge", type=Path, metavar="PYTHON", help="measure ContextForge too"
    )
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        facts = setting(said)
        print(facts, file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="tc") as folder:
            rates = asyncio.run(_measured(Path(folder), said))
        text = f"{facts}\n\n{report(rates)}"
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


def setting(said: Namespace) -> str:
    """What is measured, when, and how busy the machine is before. Raises `Unusable`."""
    peer = LEFT_OUT
    if said.contextforge:
        peer = f"ContextForge {contextforge_version(said.contextforge)}."
    tools, load = said.tools + len(OWN), os.getloadavg()[0]
    return (
        f"{said.clients} clients, {said.seconds:g} s each, one server with {tools} tools. "
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"a load of {load:.1f} before the first row. Toolcrib {version('toolcrib')}; {peer}"
    )


async def _measured(folder: Path, said: Namespace) -> list[Rate]:
    load = Load(said.clients, said.seconds)
    async with running_shop(folder / "shop", said.tools) as shop:
        direct = [McpClient(shop.url, "none", "modern") for _ in range(load.clients)]
        rates = await load.rates(direct, [shop.pid], {"the server itself: calls": _call_directly})
        for count in (1, 3):
            rates += await _replicas(folder / str(count), shop.url, count, load)
        if said.contextforge:
            rates += await _contextforge(said.contextforge, folder / "peer", shop.url, load)
        return rates


async def _replicas(folder: Path, server_url: str, count: int, load: Load) -> list[Rate]:
    async with running_cluster(folder, count) as cluster:
        await asyncio.to_thread(cluster.operator.run, "add", SERVER, "--url", server_url)
        with opened_stores(cluster, cluster.pair.address, folder / "stores") as stores:
            keys = [Keys(stores.keys).add(f"client-{number}") for number in range(load.clients)]
        await asyncio.gather(*(until_found(each, keys[0], LOOK_UP) for each in cluster.replicas))
        who = "one replica" if count == 1 else f"{count} replicas"
        some = [McpClient(cluster.url, key, "modern") for key in keys]
        pids = [each.pid for each in cluster.replicas]
        return await load.rates(some, pids, {f"{who}: searches": _search, f"{who}: calls": _call})


async def _contextforge(python: Path, folder: Path, server_url: str, load: Load) -> list[Rate]:
    async with running_contextforge(python, folder, SERVER, server_url) as peer:
        host = f"127.0.0.1:{peer.port}"
        some = [McpClient(peer.url, peer.token, "legacy", host) for _ in range(load.clients)]
        asked: dict[str, Ask] = {
            "ContextForge: lists of all tools": _list,
            "ContextForge: calls": _call_by_peer,
        }
        return await load.rates(some, [peer.pid], asked)


def _search(client: McpClient, number: int) -> Awaitable[Reply]:
    return client.call("tool_search", queries=[QUERIES[number % len(QUERIES)]])


def _call(client: McpClient, number: int) -> Awaitable[Reply]:
    return client.call("tool_call_read", name=CALLED, arguments={"order": str(number)})


def _call_directly(client: McpClient, number: int) -> Awaitable[Reply]:
    return client.call(LOOK_UP, order=str(number))


def _call_by_peer(client: McpClient, number: int) -> Awaitable[Reply]:
    return client.call(CALLED_BY_PEER, order=str(number))


def _list(client: McpClient, _number: int) -> Awaitable[Reply]:
    return client.list_tools()


async def _rate(
    what: str, clients: Sequence[McpClient], seconds: float, ask: Ask, pids: Sequence[int]
) -> Rate:
    """All clients at once, each as fast as it is answered; once before the time counts.

    Raises `Unusable` if that first time fails.
    """
    print(what, file=sys.stderr)
    first = await asyncio.gather(*(ask(client, 0) for client in clients))
    if codes := {each.code for each in first if each.code}:
        raise Unusable(f"{what}: {', '.join(sorted(codes))}")
    times: list[float] = []
    computed = sum(map(cpu_seconds, pids))
    failed, began_all = 0, time.monotonic()

    async def work(client: McpClient, number: int) -> None:
        nonlocal failed
        while (began := time.monotonic()) < began_all + seconds:
            number += len(clients)
            failed += bool((await ask(client, number)).code)
            times.append(time.monotonic() - began)

    await asyncio.gather(*(work(each, number) for number, each in enumerate(clients)))
    # Slow answers come after the end: they count, and so does the time until the last.
    a_second = len(times) / (time.monotonic() - began_all)
    computed = sum(map(cpu_seconds, pids)) - computed
    times.sort()
    p50, p95 = (times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
    return Rate(what, a_second, p50, p95, computed / len(times), failed)


def report(rates: Sequence[Rate]) -> str:
    """A row for each."""
    rows = [
        [
            each.what,
            f"{each.a_second:,.0f}",
            *(f"{1_000 * figure:,.0f}" for figure in (each.p50, each.p95)),
            f"{1_000 * each.cpu:.1f}",
            f"{each.failed:,}",
        ]
        for each in rates
    ]
    return table(["what", ">a second", ">p50 ms", ">p95 ms", ">CPU ms each", ">failed"], rows)


if __name__ == "__main__":
    main()
