"""What a replica computes from its start until it is ready, and until it has answered a search.

    python -m benchmarks.replicas.start [--tools 100000]

Another replica has listed everything before, and has stored its packs. The new one has an empty
home at first: all that it knows comes from the database. Then it is started again, with the files
that it has by now; and once more with an empty home, where nobody has stored a pack.
"""

import asyncio
import json
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import LiteralString, NamedTuple

import psutil

from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import made_up_tools
from benchmarks.processes import megabytes
from benchmarks.replicas.client import until_found
from benchmarks.replicas.cluster import ROOT, Cluster, Replica, opened_stores, running_cluster
from toolcrib.gateway.keys import Keys
from toolcrib.settings import DEFAULT_TENANT
from toolcrib.store.postgres import Database, DatabaseAddress

NAME = "replica_start"
OF_ONE_SERVER = 5_000
AIM_S = 2.0
LIST_S = 900.0
ARE_PACKED = """
    SELECT coalesce(max(pack.generation) >= max(tenant.decisions), false) AND
        coalesce(max(pack.generation) >= (SELECT max(generation) FROM listing), false)
    FROM pack, tenant
"""
FORGET_PACKS = "WITH gone AS (DELETE FROM pack RETURNING name) SELECT count(*) > 0 FROM gone"


class Start(NamedTuple):
    """Seconds of CPU and of the clock until it is ready; the same until a search; its memory."""

    ready_cpu: float
    ready: float
    found_cpu: float
    found: float
    megabytes: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.replicas.start", description=__doc__)
    parser.add_argument("--tools", type=int, default=100_000)
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="tc") as folder:
            starts = asyncio.run(_measured(Path(folder), said.tools))
        text = f"{said.tools:,} tools.\n\n{report(starts)}"
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


async def _measured(folder: Path, tools: int) -> dict[str, Start]:
    async with running_cluster(folder, 2) as cluster:
        first, second = cluster.replicas
        await asyncio.to_thread(second.stop)
        with opened_stores(cluster, cluster.pair.address, folder / "stores") as stores:
            key = await asyncio.to_thread(Keys(stores.keys).add, "start")
        every = made_up_tools(tools)
        await asyncio.to_thread(_add_servers, cluster, every)
        last = str(every[-1]["name"])
        print("listing, once", file=sys.stderr)
        await until_found(first, key, last, within_s=LIST_S)
        print("waiting for its packs", file=sys.stderr)
        await asyncio.to_thread(_wait_packs, cluster)
        await asyncio.to_thread(first.stop)
        second.forget()
        starts = {"an empty home": await _started(second, key, last)}
        starts["its own files"] = await _started(second, key, last)
        await asyncio.to_thread(_ask, cluster, FORGET_PACKS)
        second.forget()
        return starts | {"an empty home, without packs": await _started(second, key, last)}


def _add_servers(cluster: Cluster, tools: Sequence[object]) -> None:
    entries: dict[str, object] = {}
    for start in range(0, len(tools), OF_ONE_SERVER):
        file = cluster.folder / f"s{start}.json"
        file.write_text(json.dumps({"tools": tools[start : start + OF_ONE_SERVER]}))
        args = ["-S", str(ROOT / "benchmarks" / "dump_server.py"), str(file)]
        entries[f"s{start}"] = {"command": sys.executable, "args": args}
    cluster.put_servers(entries)


def _wait_packs(cluster: Cluster) -> None:
    """Until the packs in the database have all that is listed. Raises `Unusable`."""
    end = time.monotonic() + LIST_S
    while not _ask(cluster, ARE_PACKED):
        if time.monotonic() > end:
            raise Unusable("nobody has stored a pack")
        time.sleep(1.0)


def _ask(cluster: Cluster, sql: LiteralString) -> bool:
    """A question to the tables of the cluster that is answered by yes or no."""
    with (
        closing(Database(DatabaseAddress(cluster.pair.address))) as database,
        database.transaction(DEFAULT_TENANT, "durable") as db,
    ):
        [(answer,)] = db.execute(sql).fetchall()
        return bool(answer)


async def _started(replica: Replica, key: str, tool: str) -> Start:
    """What a start takes. It is stopped again."""
    began = time.monotonic()
    replica.start()
    await replica.wait_ready(600)
    ready, ready_cpu = time.monotonic() - began, _cpu(replica.pid)
    await until_found(replica, key, tool, within_s=600)
    found, found_cpu = time.monotonic() - began, _cpu(replica.pid)
    start = Start(ready_cpu, ready, found_cpu, found, megabytes(replica.pid))
    await asyncio.to_thread(replica.stop)
    return start


def _cpu(pid: int) -> float:
    """Of the process itself: the servers that it starts are not its own work."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def report(starts: dict[str, Start]) -> str:
    """A row for each start."""
    head = ["started with", ">ready, CPU s", ">ready, s", ">found, CPU s", ">found, s", ">MB"]
    rows = [
        [name, *(f"{figure:.1f}" for figure in each[:4]), f"{each.megabytes:.0f}"]
        for name, each in starts.items()
    ]
    return f"{table(head, rows)}\n\nThe aim is {AIM_S:.0f} s of CPU until it is ready."


if __name__ == "__main__":
    main()
