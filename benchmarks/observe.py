"""What events cost: a search, each screen of the dashboard, and the daemon while somebody looks on.

    python -m benchmarks.observe [--pairs 1000] [--events 200000] [--searches 300]

Three tables, each of one run. A search with its event beside the same search without, in turns in
one crib, and what the thread that writes events computes. The CPU of each screen with so many
events in the log. And searches through three daemons in turns: without events, with events, and
with a dashboard that is open on Live. Ends with code 1 if an event takes more than 3 % of a search,
or a screen more than 200 ms.
"""

import asyncio
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from mcp import Client, StdioServerParameters

from benchmarks.home import Home, Unusable, own_state
from benchmarks.markdown import NoMarks, put, table
from benchmarks.observe_world import (
    SERVERS,
    Visitor,
    dashboard_of,
    made_up_queries,
    made_up_tools,
    new_home,
    write_events,
)
from benchmarks.processes import cpu_seconds
from toolcrib import Crib, Settings
from toolcrib.crib import events_of
from toolcrib.dashboard.screens import SCREENS

NAME = "observe"
TOOLS = 500
MOST_SHARE = 0.03
MOST_PAGE_S = 0.2
WARM_UP = 30
ROUNDS = 5
STILL_S, STILL_CPU_S = 0.5, 0.02
WRITTEN_S = 1.5
TURNS = 5
FIELDS = {
    "/event": "?id={event}",
    "/why": "?query=send+the+invoice",
    "/server": "?name={server}",
    "/tool": "?name={tool}",
    "/profile": "?name=default",
    "/conversation": "?mark={conversation}",
}
"""What stands behind the path of a page about one thing."""
WITHOUT, WITH, LIVE = "without events", "with events", "with events, a dashboard open on Live"


class EventCost(NamedTuple):
    """Seconds: of a search, of what its event adds to it, and of writing the event later."""

    search: float
    added: float
    written: float

    @property
    def share(self) -> float:
        """Which part of a search all of it is."""
        return (max(0.0, self.added) + self.written) / self.search


class DaemonCost(NamedTuple):
    """Seconds of searches through a daemon on the clock, and what it computed for each."""

    walls: Sequence[float]
    cpu: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog=f"python -m benchmarks.{NAME}", description=__doc__)
    parser.add_argument(
        "--pairs", type=int, default=1_000, help="queries searched with and without"
    )
    parser.add_argument("--events", type=int, default=200_000, help="in the log of the screens")
    parser.add_argument("--searches", type=int, default=300, help="through each daemon")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    try:
        text, failures = _measured(said)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


def _measured(said: Namespace) -> tuple[str, list[str]]:
    """The tables, and what is above its bound."""
    with tempfile.TemporaryDirectory(prefix="toolcrib-") as folder:
        cost = event_cost(Path(folder, "crib"), said.pairs)
        homes = {
            WITHOUT: new_home(Path(folder, "without"), TOOLS, enabled=False),
            WITH: new_home(Path(folder, "with"), TOOLS, enabled=True),
            LIVE: new_home(Path(folder, "live"), TOOLS, enabled=True),
        }
        write_events(_log(homes[LIVE]), said.events, time.time())
        daemons, screens = asyncio.run(_daemons(homes, said))
    slow = {path: cpu for path, cpu in screens.items() if cpu > MOST_PAGE_S}
    failures = [f"{path} takes {cpu * 1000:.0f} ms" for path, cpu in slow.items()]
    if cost.share > MOST_SHARE:
        failures.append(f"an event takes {cost.share:.1%} of a search")
    return _report(cost, screens, daemons, said), failures


def _log(home: Home) -> Path:
    return home.folder / ".local" / "share" / "toolcrib" / "events.db"


def event_cost(folder: Path, pairs: int) -> EventCost:
    """A search is what it costs the first time. Then each query goes with an event and without.

    They take turns, and the least of each counts: what else the machine does only ever adds to it.
    """
    settings = Settings.model_validate(
        {"store": str(folder / "catalog.db"), "embed": {"embedder": "none"}, "plugins": False}
    )
    queries = made_up_queries(WARM_UP + pairs)
    with own_state(), Crib(settings) as crib:
        for each in made_up_tools(TOOLS):
            _add(crib, each["name"], each["description"])
        for query in queries[:WARM_UP]:
            _search(crib, query, is_on=True)
        fresh = [_search(crib, query, is_on=False) for query in queries[WARM_UP:]]
        rounds = [_round(crib, queries[WARM_UP + place :: ROUNDS]) for place in range(ROUNDS)]
        assert not events_of(crib).dropped  # noqa: S101 - else it was cheaper than it is
    added = [difference for differences, _ in rounds for difference in differences]
    return EventCost(median(fresh), median(added), min(written for _, written in rounds))


def _round(crib: Crib, queries: Sequence[str]) -> tuple[list[float], float]:
    """What an event adds to each of these searches, and what writing one takes."""
    before = _writer_s()
    took = [_both(crib, query) for query in queries]
    written = (_writer_s() - before) / (len(queries) * TURNS)
    return [with_event - without for with_event, without in took], written


def _both(crib: Crib, query: str) -> tuple[float, float]:
    """Seconds of a search with an event, and without."""
    turns = [
        (_search(crib, query, is_on=True), _search(crib, query, is_on=False)) for _ in range(TURNS)
    ]
    with_event, without = zip(*turns, strict=True)
    return min(with_event), min(without)


def _add(crib: Crib, name: str, about: str) -> None:
    def tool(what: str, of: str = "") -> str:
        return what + of

    tool.__doc__ = about
    crib.add(tool, name=name, permission_kind="read")


def _search(crib: Crib, query: str, *, is_on: bool) -> float:
    """Seconds that this thread computes for a search."""
    log = events_of(crib)
    log._is_heard = is_on  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - nothing else differs
    began = time.thread_time()
    crib.search(query)
    return time.thread_time() - began


def _writer_s() -> float:
    """What the thread that writes events has computed, once it has written all."""
    time.sleep(WRITTEN_S)
    (writer,) = (each for each in threading.enumerate() if each.name == "toolcrib-events")
    assert writer.ident  # noqa: S101 - it runs
    return time.clock_gettime(time.pthread_getcpuclockid(writer.ident))


async def _daemons(
    homes: Mapping[str, Home], said: Namespace
) -> tuple[Mapping[str, DaemonCost], Mapping[str, float]]:
    """Searches through three daemons in turns; then the screens of one, all others at rest."""
    walls: dict[str, list[float]] = {name: [] for name in homes}
    async with AsyncExitStack() as stack:
        pids = {
            name: (await stack.enter_async_context(home.daemon()))["pid"]
            for name, home in homes.items()
        }
        clients = {
            name: await stack.enter_async_context(_client(home)) for name, home in homes.items()
        }
        visitor = stack.enter_context(dashboard_of(homes[LIVE]))
        visitor.open_stream()
        for place, query in enumerate(made_up_queries(WARM_UP + said.searches)):
            for name, client in clients.items():
                seconds = await _searched(client, query)
                if place >= WARM_UP:
                    walls[name].append(seconds)
        costs = {
            name: DaemonCost(walls[name], await _cpu(pids[name], client, said.searches))
            for name, client in clients.items()
        }
        return costs, await asyncio.to_thread(screen_costs, visitor, said.events)


def _client(home: Home) -> Client:
    command, *words = home.toolcrib("connect")
    return Client(StdioServerParameters(command=command, args=words, env=home.env))


async def _searched(client: Client, query: str) -> float:
    began = time.perf_counter()
    result = await client.call_tool("tool_search", {"query": query})
    if result.is_error:
        raise Unusable(f"a search fails: {result.content}")
    return time.perf_counter() - began


async def _cpu(pid: int, client: Client, searches: int) -> float:
    """Seconds that a daemon computes for a search, and for what comes of it half a second later."""
    await asyncio.sleep(1.0)
    before = cpu_seconds(pid)
    for query in made_up_queries(searches):
        await _searched(client, f"{query} again")
    await asyncio.sleep(1.0)
    return (cpu_seconds(pid) - before) / searches


def screen_costs(visitor: Visitor, events: int) -> Mapping[str, float]:
    """Seconds that the dashboard computes for each screen, which was open before: the median."""
    values = {
        "event": events // 2,
        "conversation": f"{events // 2 // 25:012x}",
        "server": SERVERS[0],
        "tool": f"mcp_{SERVERS[0]}_{made_up_tools(1)[0]['name']}",
    }
    addresses = {path: path + FIELDS.get(path, "").format(**values) for path in SCREENS}
    for address in addresses.values():
        visitor.get(address)
    _rest(visitor.pid)
    return {
        path: median(visitor.cpu_of(address) for _ in range(ROUNDS))
        for path, address in addresses.items()
    }


def _rest(pid: int) -> None:
    """Wait until a process has done what it does in the background."""
    before = cpu_seconds(pid)
    while True:
        time.sleep(STILL_S)
        now = cpu_seconds(pid)
        if now - before < STILL_CPU_S:
            return
        before = now


def _report(
    cost: EventCost,
    screens: Mapping[str, float],
    daemons: Mapping[str, DaemonCost],
    said: Namespace,
) -> str:
    parts = {
        f"a search of {TOOLS} tools": cost.search,
        "its event, in the search": cost.added,
        "its event, written later": cost.written,
    }
    event = [
        (name, f"{each * 1e6:,.1f}", f"{each / cost.search:.1%}") for name, each in parts.items()
    ]
    pages = [(f"`{path}`", f"{cpu * 1000:.0f}") for path, cpu in screens.items()]
    searches = [(name, *_cells(each)) for name, each in daemons.items()]
    return "\n\n".join(
        [
            table(("what", ">CPU µs", ">of a search"), event),
            f"With {said.events:,} events in the log:",
            table(("screen", ">CPU ms"), pages),
            f"{said.searches:,} searches through each daemon, in turns; then its CPU by itself:",
            table(("daemon", ">p50 ms", ">p95 ms", ">CPU ms a search"), searches),
        ]
    )


def _cells(cost: DaemonCost) -> tuple[str, str, str]:
    seconds = median(cost.walls), quantiles(cost.walls, n=20)[-1], cost.cpu
    p50, p95, cpu = (f"{each * 1000:.2f}" for each in seconds)
    return p50, p95, cpu


if __name__ == "__main__":
    main()
