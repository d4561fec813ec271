"""How long it takes from a commit on one replica to a search that finds it on three.

    python -m benchmarks.replicas.spread [--tools 5000] [--changes 100]

Each change is one tool more in the list of one server. A replica lists that server again and writes
the list to the database; the time is taken when the database tells that it was committed. Each of
three replicas is asked by a search over HTTP, 20 ms after its last answer, until it finds the tool.
"""

import asyncio
import json
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import psycopg

from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import made_up_tools
from benchmarks.replicas.client import until_found
from benchmarks.replicas.cluster import ROOT, Cluster, opened_stores, running_cluster
from toolcrib.gateway import ask_daemon
from toolcrib.gateway.keys import Keys

NAME = "replica_spread"
OF_ONE_SERVER = 250
SERVER = "changing"
AIM_MS = 250.0


class Times(NamedTuple):
    """Of one change, in seconds: on the replica that made it, and on the last of three."""

    own: float
    all_three: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.replicas.spread", description=__doc__)
    parser.add_argument("--tools", type=int, default=5_000)
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="tc") as folder:
            times = asyncio.run(_measured(Path(folder), said.tools, said.changes))
        text = f"{said.tools:,} tools, {len(times)} changes.\n\n{report(times)}"
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


async def _measured(folder: Path, tools: int, changes: int) -> list[Times]:
    async with running_cluster(folder) as cluster:
        with opened_stores(cluster, cluster.pair.address, folder / "stores") as stores:
            key = await asyncio.to_thread(Keys(stores.keys).add, "spread")
        file = await asyncio.to_thread(_add_servers, cluster, tools)
        last = made_up_tools(tools)[-1]["name"]
        await asyncio.gather(*(until_found(each, key, last) for each in cluster.replicas))
        return [await _change(cluster, key, file, number) for number in range(changes)]


def _add_servers(cluster: Cluster, tools: int) -> Path:
    """As many as it takes, and one that changes; the file of that one."""
    every = made_up_tools(tools)
    entries: dict[str, object] = {}
    for start in range(0, tools, OF_ONE_SERVER):
        name = SERVER if start == 0 else f"s{start // OF_ONE_SERVER}"
        file = cluster.folder / f"{name}.json"
        file.write_text(json.dumps({"tools": every[start : start + OF_ONE_SERVER]}))
        args = ["-S", str(ROOT / "benchmarks" / "dump_server.py"), str(file)]
        entries[name] = {"command": sys.executable, "args": args, "trust": "open"}
    cluster.put_servers(entries)
    return cluster.folder / f"{SERVER}.json"


async def _change(cluster: Cluster, key: str, file: Path, number: int) -> Times:
    """One tool more, and how long each replica takes to find it."""
    name = f"weave_basket_{number}"
    await asyncio.to_thread(_put_tool, file, name)
    first = cluster.replicas[number % len(cluster.replicas)]
    with psycopg.connect(cluster.pair.address, autocommit=True) as feed:
        feed.execute("LISTEN toolcrib")
        committed = asyncio.create_task(asyncio.to_thread(_told, feed))
        finding = [asyncio.create_task(until_found(each, key, name)) for each in cluster.replicas]
        await asyncio.to_thread(ask_daemon, first.files, "refresh", servers=[SERVER])
        began = await committed
        found = dict(zip(cluster.replicas, await asyncio.gather(*finding), strict=True))
    return Times(found[first] - began, max(found.values()) - began)


def _put_tool(file: Path, name: str) -> None:
    """Behind those that there are always."""
    listed = json.loads(file.read_text(encoding="utf-8"))["tools"][:OF_ONE_SERVER]
    new = {"name": name, "description": "Weave a basket.", "inputSchema": {"type": "object"}}
    file.write_text(json.dumps({"tools": [*listed, new]}), encoding="utf-8")


def _told(feed: "psycopg.Connection[tuple[object, ...]]") -> float:
    """When the database tells of a change. Raises `Unusable` if it never does."""
    for _ in feed.notifies(timeout=60.0, stop_after=1):
        return time.monotonic()
    raise Unusable("no change was committed")


def report(times: Sequence[Times]) -> str:
    """How many milliseconds, for the replica itself and for all three."""
    rows = [
        ["the replica that has committed it", *_figures([each.own for each in times])],
        ["all three", *_figures([each.all_three for each in times])],
    ]
    head = ["searchable on", ">p50 ms", ">p95 ms", ">p99 ms", ">longest ms"]
    return f"{table(head, rows)}\n\nThe aim is {AIM_MS:.0f} ms at p99, on all three."


def _figures(seconds: Sequence[float]) -> list[str]:
    ordered = sorted(max(0.0, each) for each in seconds)
    places = [int(share * (len(ordered) - 1)) for share in (0.5, 0.95, 0.99, 1.0)]
    return [f"{1_000 * ordered[place]:.0f}" for place in places]


if __name__ == "__main__":
    main()
