"""What one search costs, at several sizes, beside plain FTS5 and fastmcp's BM25 transform.

    python -m benchmarks.search_latency --bench-dir DIR [--sizes 50,1000] [--queries 300]

The tools are a random choice of `mcp_big`; the queries are real ones, of that set and of
`mcp_big_names`, each asked once, after some others for warmth. All systems are open at once and
take turns every few queries, so that whatever else the machine does falls on all alike. Figures
are CPU time: compare the ratios.
"""

import asyncio
import gc
import os
import sys
import tracemalloc
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from platform import python_version
from random import Random
from statistics import median, quantiles
from time import process_time

import apsw

from benchmarks.folder import SEED, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from benchmarks.systems import NEWCOMERS, Opening, System, open_fts5, opening_crib
from toolcrib.errors import EvalError
from toolcrib.evaluate.cases import EvalTool

try:
    from benchmarks import fastmcp_peer as peer
except ImportError:
    peer = None

NAME = "search_latency"
CATALOG, NAMES = "mcp_big", "mcp_big_names"
SIZES = (50, 1_000, 10_000, 17_742)
QUERIES = 300
WARM_UP = 20
ADDED = 5
OURS = "Toolcrib, memory"
BLOCK = 8
"""The systems take turns after this many queries: what one leaves in the caches of the processor
falls on the next, and that should be the exception.
"""
PEER_STRIDE = 4
"""A peer gets every fourth query: it is slow, and its figures vary little."""
PEER_MOST = 10_000
"""A peer is left out above this many tools: a search takes it most of a second there."""

Tools = Mapping[str, EvalTool]


@dataclass(frozen=True, slots=True)
class Contender:
    """A system by name, how to open it, and whether it is a slow one of others."""

    name: str
    opening: Opening
    is_peer: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """What a system costs at one size, in CPU seconds and bytes.

    `build` is until the first answer; `added` is one tool more and the search after it.
    """

    searches: Sequence[float]
    build: float
    added: float
    heap: int
    database: int

    @property
    def p50(self) -> float:
        return median(self.searches)

    @property
    def p99(self) -> float:
        """The highest of the searches if there is only one."""
        if len(self.searches) == 1:
            return self.searches[0]
        return quantiles(self.searches, n=100, method="inclusive")[-1]


Costs = Mapping[str, Cost]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        text = _report(_measured(said))
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks, EvalError) as error:
        parser.error(str(error))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks.search_latency", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="with commas between")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    return parser


def _sizes(said: str) -> tuple[int, ...]:
    return tuple(map(int, said.split(",")))


def _measured(said: Namespace) -> dict[int, Costs]:
    """The costs of every system at each size that the catalog is large enough for."""
    tools, queries = _read(bench_dir(said.bench_dir, os.environ))
    chosen = Random(SEED).sample(queries, min(said.queries + WARM_UP, len(queries)))
    costs: dict[int, Costs] = {}
    for size in sorted({min(size, len(tools)) for size in said.sizes}):
        print(f"{size:,} tools", file=sys.stderr)
        some = dict(islice(tools.items(), size))
        costs[size] = asyncio.run(_measure(some, chosen[:WARM_UP], chosen[WARM_UP:]))
    return costs


def _read(folder: Path) -> tuple[Tools, list[str]]:
    """The tools in random order, and the queries of both sets."""
    suites = [each.load() for each in find_sets(folder, [CATALOG, NAMES]).sets]
    queries = [case.query for suite in suites for case in suite.cases.values()]
    return suites[0].tools, queries


def contenders(size: int) -> list[Contender]:
    """The systems that are compared at this size."""
    ours = [
        Contender(OURS, opening_crib("memory")),
        Contender("Toolcrib, sqlite", opening_crib("sqlite")),
        Contender("plain FTS5, one lookup", open_fts5),
    ]
    if peer is None or size > PEER_MOST:
        return ours
    return [
        *ours,
        Contender("fastmcp BM25, the function", peer.open_function, is_peer=True),
        Contender("fastmcp BM25, through a client", peer.open_client, is_peer=True),
    ]


async def _measure(tools: Tools, warm_up: Sequence[str], queries: Sequence[str]) -> Costs:
    """The costs of every system on these tools, all of them open at once but for the heap."""
    some = contenders(len(tools))
    async with AsyncExitStack() as stack:
        systems: dict[str, System] = {}
        builds: dict[str, float] = {}
        for each in some:
            start = process_time()
            systems[each.name] = await stack.enter_async_context(each.opening(tools))
            await systems[each.name].search(warm_up[0])
            builds[each.name] = process_time() - start
        searches = await _searches(some, systems, warm_up, queries)
        added = {name: await _added(system, tools, queries) for name, system in systems.items()}
        databases = {name: system.database_bytes() for name, system in systems.items()}
    heaps = {each.name: await _heap(each, tools, warm_up[0]) for each in some}
    return {
        name: Cost(searches[name], builds[name], added[name], heaps[name], databases[name])
        for name in systems
    }


async def _heap(contender: Contender, tools: Tools, query: str) -> int:
    """What Python keeps for a system beyond the tools that it was given.

    It is built once more for this, for being counted makes it slow; and last, so that what all
    share (modules, remembered stems) is there already and counted for none.
    """
    gc.collect()
    tracemalloc.start()
    async with contender.opening(tools) as system:
        await system.search(query)
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


async def _searches(
    some: Iterable[Contender],
    systems: Mapping[str, System],
    warm_up: Sequence[str],
    queries: Sequence[str],
) -> Mapping[str, list[float]]:
    """The cost of each query to each system. One system's garbage is not to burden another."""
    times: dict[str, list[float]] = {each.name: [] for each in some}
    gc.collect()
    gc.freeze()
    for query in warm_up:
        for system in systems.values():
            await system.search(query)
    for start in range(0, len(queries), BLOCK):
        block = queries[start : start + BLOCK]
        for each in some:
            asked = block[::PEER_STRIDE] if each.is_peer else block
            times[each.name] += [await _timed(systems[each.name], query) for query in asked]
    gc.unfreeze()
    return times


async def _timed(system: System, query: str) -> float:
    start = process_time()
    await system.search(query)
    return process_time() - start


async def _added(system: System, tools: Tools, queries: Sequence[str]) -> float:
    """The median cost of one tool more and the search after it."""
    times: list[float] = []
    for tool, query in zip(islice(tools.values(), ADDED), queries, strict=False):
        newcomer = tool.model_copy(update={"id": f"{NEWCOMERS}::{tool.name}"})
        start = process_time()
        system.add(newcomer)
        await system.search(query)
        times.append(process_time() - start)
    return median(times)


def _report(costs: Mapping[int, Costs]) -> str:
    parts = [
        _setting(),
        "**One search**: CPU ms, p50 / p99 (p50 in times that of the memory engine)",
        _table(costs, _search_cell),
        "**Build**: CPU s until the first answer · MB of Python heap · MB of database",
        _table(costs, _build_cell),
        "**One tool more**: CPU ms for it and the search after it, p50",
        _table(costs, _added_cell),
    ]
    return "\n\n".join(parts)


def _setting() -> str:
    """What was measured with, and what was left out and why."""
    sqlite = apsw.Connection(":memory:").execute("SELECT sqlite_version()").get
    versions = f"Python {python_version()}, numpy {version('numpy')}, SQLite {sqlite}"
    if peer is None:
        return f"{versions}. fastmcp is not installed, so it is left out: `pip install fastmcp`."
    return f"{versions}, fastmcp {version('fastmcp')}."


def _table(costs: Mapping[int, Costs], cell: Callable[[Cost, Cost], str]) -> str:
    """A row a system, a column a size; a dash where a system was left out."""
    names = dict.fromkeys(name for each in costs.values() for name in each)
    rows = [
        [name, *(cell(each[name], each[OURS]) if name in each else "–" for each in costs.values())]
        for name in names
    ]
    return table(["system", *(f">{size:,} tools" for size in costs)], rows)


def _search_cell(cost: Cost, ours: Cost) -> str:
    return f"{_ms(cost.p50)} / {_ms(cost.p99)} ({_times(cost.p50 / ours.p50)})"


def _build_cell(cost: Cost, _ours: Cost) -> str:
    database = f"{cost.database / 1e6:.1f}" if cost.database else "–"
    return f"{cost.build:.2f} · {cost.heap / 1e6:.1f} · {database}"


def _added_cell(cost: Cost, ours: Cost) -> str:
    return f"{_ms(cost.added)} ({_times(cost.added / ours.added)})"


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f}" if seconds < 0.1 else f"{1000 * seconds:.0f}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:.0f}×"


if __name__ == "__main__":
    main()
