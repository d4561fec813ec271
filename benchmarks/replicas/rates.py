"""Searches and calls a second: of one replica and of three, through HAProxy.

    python -m benchmarks.replicas.rates [--clients 16] [--seconds 10]

Every client asks again as soon as it has its answer. All are in the modern era, and each has a key
of its own. Clients, replicas, database and HAProxy share the machine: on one with few cores three
replicas answer no more than one.
"""

import asyncio
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import made_up_queries
from benchmarks.replicas.client import McpClient, Reply, until_found
from benchmarks.replicas.cluster import add_shop, opened_stores, running_cluster
from benchmarks.replicas.shop_server import LOOK_UP, SERVER
from toolcrib.gateway.keys import Keys

NAME = "replica_rates"
QUERIES = made_up_queries(200)
CALLED = f"mcp_{SERVER}_{LOOK_UP}"


class Rate(NamedTuple):
    """How many a second, and how long the middle and the slow ones took, in seconds."""

    what: str
    a_second: float
    p50: float
    p95: float
    failed: int


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.replicas.rates", description=__doc__)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        rates: list[Rate] = []
        for count in (1, 3):
            with tempfile.TemporaryDirectory(prefix="tc") as folder:
                rates += asyncio.run(_measured(Path(folder), count, said.clients, said.seconds))
        text = f"{said.clients} clients, {said.seconds:g} s each.\n\n{report(rates)}"
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


async def _measured(folder: Path, count: int, clients: int, seconds: float) -> list[Rate]:
    async with running_cluster(folder, count) as cluster:
        await asyncio.to_thread(add_shop, cluster, folder / "spent")
        with opened_stores(cluster, cluster.pair.address, folder / "stores") as stores:
            keys = [Keys(stores.keys).add(f"client-{number}") for number in range(clients)]
        await asyncio.gather(*(until_found(each, keys[0], LOOK_UP) for each in cluster.replicas))
        who = "one replica" if count == 1 else f"{count} replicas"
        some = [McpClient(cluster.url, key, "modern") for key in keys]
        try:
            return [
                await _rate(f"{who}: searches", some, seconds, _search),
                await _rate(f"{who}: calls", some, seconds, _call),
            ]
        finally:
            await asyncio.gather(*(each.close() for each in some))


def _search(client: McpClient, number: int) -> Awaitable[Reply]:
    return client.call("tool_search", queries=[QUERIES[number % len(QUERIES)]])


def _call(client: McpClient, number: int) -> Awaitable[Reply]:
    return client.call("tool_call_read", name=CALLED, arguments={"order": str(number)})


async def _rate(
    what: str,
    clients: Sequence[McpClient],
    seconds: float,
    ask: Callable[[McpClient, int], Awaitable[Reply]],
) -> Rate:
    """All clients at once, each as fast as it is answered; once before the time counts."""
    print(what, file=sys.stderr)
    await asyncio.gather(*(ask(client, 0) for client in clients))
    times: list[float] = []
    failed, end = 0, time.monotonic() + seconds

    async def work(client: McpClient, number: int) -> None:
        nonlocal failed
        while (began := time.monotonic()) < end:
            number += len(clients)
            failed += bool((await ask(client, number)).code)
            times.append(time.monotonic() - began)

    await asyncio.gather(*(work(each, number) for number, each in enumerate(clients)))
    times.sort()
    p50, p95 = (times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
    return Rate(what, len(times) / seconds, p50, p95, failed)


def report(rates: Sequence[Rate]) -> str:
    """A row for each."""
    rows = [
        [
            each.what,
            f"{each.a_second:,.0f}",
            *(f"{1_000 * figure:.0f}" for figure in (each.p50, each.p95)),
            f"{each.failed:,}",
        ]
        for each in rates
    ]
    return table(["what", ">a second", ">p50 ms", ">p95 ms", ">failed"], rows)


if __name__ == "__main__":
    main()
