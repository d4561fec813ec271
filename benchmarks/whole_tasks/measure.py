"""Each task, in each way, among so many tools; and the table of them."""

import asyncio
import json
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.home import Unusable, own_state
from benchmarks.markdown import table
from benchmarks.systems import servers
from benchmarks.whole_tasks.conversation import Spent
from benchmarks.whole_tasks.ground import Ground, shop
from benchmarks.whole_tasks.task import WholeTask
from benchmarks.whole_tasks.ways import WAYS, Way, do_task
from toolcrib import Crib, Settings
from toolcrib.evaluate.cases import EvalTool
from toolcrib.settings import ApprovalRule, ApprovalSettings, SessionSettings
from toolcrib.sources.mcp import McpServers, refresh_all
from toolcrib.store import FileStores, StorePlaces

SAME = frozenset(
    [
        *(f"modelcontextprotocol-server-{name}" for name in ("filesystem", "memory")),
        *(f"mcp-server-{name}" for name in ("fetch", "git", "sqlite", "time")),
    ]
)
Entries = Mapping[str, Mapping[str, Any]]
Fill = Mapping[str, EvalTool]


@dataclass(frozen=True, slots=True)
class Measured:
    """What a task took among so many tools, by way."""

    task: WholeTask
    tools: int
    spent: Mapping[Way, Spent]

    @property
    def of_search(self) -> float:
        """What programs take of what a search and calls take."""
        return self.spent["code"].tokens / self.spent["search"].tokens

    @property
    def saved(self) -> float:
        """What programs save of what every definition in each request takes."""
        return 1 - self.spent["code"].tokens / self.spent["eager"].tokens

    @property
    def of_search_cached(self) -> float:
        return self.spent["code"].cached / self.spent["search"].cached

    @property
    def saved_cached(self) -> float:
        return 1 - self.spent["code"].cached / self.spent["eager"].cached


def measured(
    tasks: Sequence[WholeTask], entries: Entries, fill: Fill, sizes: Sequence[int], ground: Ground
) -> list[Measured]:
    """Each task at each size. `entries` are the servers that tasks name, `fill` other tools.

    Raises `Unusable` where a way fails, or leaves something else behind than another.
    """
    rows: list[Measured] = []
    for task in tasks:
        with closing(_servers(task, entries, ground)) as found:
            rows += [_measured(task, found, fill, size, ground) for size in sizes]
    return rows


@contextmanager
def new_ground() -> Generator[Ground]:
    """A folder to work in, and a site."""
    with tempfile.TemporaryDirectory() as folder, shop() as site:
        yield Ground(Path(folder, "work"), site)


def _servers(task: WholeTask, entries: Entries, ground: Ground) -> McpServers:
    """The servers of a task, listed. They keep nothing but what lies in the folder."""
    named = json.loads(ground.filled(json.dumps({name: entries[name] for name in task.servers})))
    ground.make()
    found = McpServers.open_added(named, {}, FileStores(StorePlaces(ground.folder.parent)))
    if errors := [done.error for done in refresh_all(found.sources) if done.error]:
        found.close()
        raise Unusable(f"{task.name}: a server does not start: {errors[0]}")
    return found


def _measured(
    task: WholeTask, found: McpServers, fill: Fill, size: int, ground: Ground
) -> Measured:
    print(f"{task.name}, {size} tools", file=sys.stderr)
    spent, left = dict[Way, Spent](), dict[Way, object]()
    for way in WAYS:
        ground.make()
        with _crib(found, fill, size) as crib:  # a new one: what was used together is told
            spent[way], answer = asyncio.run(do_task(task, way, crib, ground))
        left[way] = answer, ground.left()
        if left[way] != left["eager"]:
            raise Unusable(f"{task.name}: {way} has another result than eager: {answer}")
    return Measured(task, size, spent)


@contextmanager
def _crib(found: McpServers, fill: Fill, size: int) -> Generator[Crib]:
    """A crib with these servers, and with others until there are so many tools."""
    session = SessionSettings(threshold=0)
    allowing = ApprovalSettings(rules=(ApprovalRule(verdict="allow"),))
    settings = Settings(store=":memory:", session=session, approval=allowing)
    with own_state(), Crib(settings) as crib:
        own = sum(len(source.capabilities()) for source in found.sources)
        others = {id: fill[id] for id in [*fill][: max(0, size - own)]}
        crib.add_source(*found.sources, *servers(others))
        yield crib


def without_same(tools: Fill) -> Fill:
    """The tools of a folder of servers, without those servers that the tasks start themselves."""
    return {id: tool for id, tool in tools.items() if id.rpartition("::")[0] not in SAME}


def report(rows: Sequence[Measured]) -> str:
    """A table for each size, with the medians at its end."""
    sizes = sorted({row.tools for row in rows})
    return "\n\n".join(
        _size_report(size, [row for row in rows if row.tools == size]) for size in sizes
    )


def _size_report(size: int, rows: Sequence[Measured]) -> str:
    head = ["task", ">requests", *(f">{way}" for way in WAYS), ">code of search", ">saved of eager"]
    head += [">code of search, cached", ">saved of eager, cached"]
    shares = [_shares(row) for row in rows]
    middle = [median(column) for column in zip(*shares, strict=True)]
    tokens = [f"{median(row.spent[way].tokens for row in rows):,.0f}" for way in WAYS]
    cells = [[row.task.name, *_counts(row), *map(_per_cent, _shares(row))] for row in rows]
    last = ["**median**", "", *tokens, *map(_per_cent, middle)]
    return f"**Whole tasks** among {size} tools, in tokens\n\n{table(head, [*cells, last])}"


def _counts(row: Measured) -> list[str]:
    requests = " / ".join(str(row.spent[way].requests) for way in WAYS)
    return [requests, *(f"{row.spent[way].tokens:,}" for way in WAYS)]


def _shares(row: Measured) -> tuple[float, ...]:
    return row.of_search, row.saved, row.of_search_cached, row.saved_cached


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"
