"""What tools cost a model in tokens: all of them sent with each request, or found when needed.

    python -m benchmarks.tokens --bench-dir DIR [--catalogs DIR] [--sizes 19,50]
    python -m benchmarks.tokens --tasks --catalogs DIR [--sizes 50,500]

Prints three tables: what a request costs before anything is found, by number of tools, also with
what prefetch shows (by words) for a message that asks for one tool; what stubs save where every
tool stays listed; and what a whole task costs. Tools are those of whole servers, drawn at random
until there are enough. Of several draws the middle one is shown, and the worst.
`--catalogs` is a folder with one JSON file a server, its `tools/list` under `tools`. Tokens are
counted with o200k_base.

With `--tasks` it does whole tasks on real servers instead, each in three ways: with every
definition in each request, by search, and by programs. See `benchmarks/whole_tasks`.
"""

import asyncio
import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import fmean, median

from benchmarks.folder import SEED, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.home import Unusable
from benchmarks.markdown import NoMarks, put, table
from benchmarks.systems import WORDS, servers
from benchmarks.whole_tasks.file_tasks import FILE_TASKS
from benchmarks.whole_tasks.measure import measured, new_ground, report, without_same
from benchmarks.whole_tasks.other_tasks import OTHER_TASKS
from benchmarks.whole_tasks.servers import installed_servers
from toolcrib.crib import Crib
from toolcrib.errors import EvalError
from toolcrib.evaluate.cases import EvalTool
from toolcrib.model import ToolInfo
from toolcrib.session import SEARCH_TOOL, Session, TokenEstimate
from toolcrib.session.deferred_summary import DeferStyle
from toolcrib.settings import AppSettings, EmbedSettings, SessionSettings, Settings
from toolcrib.text import tool_definition
from toolcrib.text.tokens import Tokenizer

NAME, TASKS_NAME = "tokens", "whole_tasks"
SIZES = (19, 50, 150, 500, 5_000, 17_000)
TASK_SIZES = (50, 500)
DRAWS = 7
STUB_SIZE = 18  # and the search tool, which is in both lists
TASK_SIZE = 500
GOALS = 3
QUERY_WORDS = 8

Tools = Mapping[str, EvalTool]


@dataclass(frozen=True, slots=True)
class Stubs:
    """What the list of tools and their schemas alone cost, whole and as stubs, in bytes."""

    whole: int
    stubbed: int
    schemas: int
    stubbed_schemas: int

    @property
    def saved(self) -> float:
        return 1 - self.stubbed / self.whole

    @property
    def schemas_saved(self) -> float:
        return 1 - self.stubbed_schemas / self.schemas


@dataclass(frozen=True, slots=True)
class Task:
    """What the tools of a task cost over all its requests, and how many searches it took."""

    eager: int
    deferred: int
    searches: int

    @property
    def saved(self) -> float:
        return 1 - self.deferred / self.eager


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        text = _whole_tasks(said) if said.tasks else _report(_catalogs(said), said)
        print(text)
        if said.markdown:
            put(said.markdown, TASKS_NAME if said.tasks else NAME, text)
    except (NoBench, NoMarks, EvalError, Unusable) as error:
        parser.error(str(error))


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks.tokens", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--catalogs", type=Path, help="a folder with one JSON file a server")
    parser.add_argument("--sizes", type=_sizes, help="with commas between")
    parser.add_argument("--tasks", action="store_true", help="whole tasks on real servers")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    return parser


def _sizes(said: str) -> tuple[int, ...]:
    return tuple(map(int, said.split(",")))


def _catalogs(said: Namespace) -> Mapping[str, Tools]:
    """The tools of `mcp_big`, and those of the servers in the other folder if it is named."""
    [big] = find_sets(bench_dir(said.bench_dir, os.environ), ["mcp_big"]).sets
    found = {"mcp_big": big.load().tools}
    return found | ({"servers": _read_servers(said.catalogs)} if said.catalogs else {})


def _read_servers(folder: Path) -> Tools:
    """The tools of every server in the folder. Raises `NoBench` where there is none."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    tools = [
        EvalTool(
            id=f"{server['server']}::{tool['name']}",
            name=tool["name"],
            description=tool.get("description"),
            parameters=tool["inputSchema"],
        )
        for server in read
        if isinstance(server, dict)
        for tool in server["tools"]
    ]
    if not tools:
        raise NoBench(f"no servers: there is no JSON file with tools in {folder}")
    return {tool.id: tool for tool in tools}


def _whole_tasks(said: Namespace) -> str:
    """Whole tasks, among tools of the folder of servers. Raises `NoBench` without one."""
    if not said.catalogs:
        raise NoBench("--tasks needs --catalogs: a folder with one JSON file a server")
    sizes = said.sizes or TASK_SIZES
    [fill, *_] = _draws(without_same(_read_servers(said.catalogs)), max(sizes))
    with new_ground() as ground:
        return report(
            measured((*FILE_TASKS, *OTHER_TASKS), installed_servers(), fill, sizes, ground)
        )


def _report(catalogs: Mapping[str, Tools], said: Namespace) -> str:
    return "\n\n".join(
        [
            "**One request** before anything is found, in tokens",
            _request_table(catalogs, said.sizes or SIZES),
            f"**Stubs**: {STUB_SIZE + 1} tools with the search tool, all listed, in bytes",
            _stub_table(catalogs),
            f"**A whole task** with {TASK_SIZE} tools: {GOALS} tools are found and called",
            _task_table(catalogs),
        ]
    )


def _request_table(catalogs: Mapping[str, Tools], sizes: Iterable[int]) -> str:
    head = ["catalog", ">tools", ">eager", ">deferred", ">with prefetch", ">saved", ">worst draw"]
    head += [">break-even"]
    rows = [
        _request_row(name, tools, size)
        for name, tools in catalogs.items()
        for size in sorted({min(size, len(tools)) for size in sizes})
    ]
    return table(head, rows)


def _request_row(name: str, tools: Tools, size: int) -> list[str]:
    print(f"{name}: {size:,} tools", file=sys.stderr)
    found = [_estimated(some) for some in _draws(tools, size)]
    middle = sorted(found, key=lambda each: each.share)[len(found) // 2]
    worst = min(each.share for each in found)
    return [
        name,
        f"{size:,}",
        f"{middle.eager:,}",
        f"{middle.deferred:,}",
        f"{middle.deferred + fmean(each.prefetched for each in found):,.0f}",
        _per_cent(middle.share),
        _per_cent(worst),
        f"{middle.break_even:,}",
    ]


def _estimated(tools: Tools) -> TokenEstimate:
    """The estimate before anything is found, with what a message that asks for one tool shows."""
    with _crib(tools, embed=WORDS) as crib:
        session = crib.session(tool_search="on", prefetch="on")
        goal = Random(SEED).choice(session.deferred_tools())
        estimate = session.token_estimate()
        session.prefetch(_query(goal))
        return replace(estimate, prefetched=session.token_estimate().prefetched)


def _draws(tools: Tools, size: int) -> Iterable[Tools]:
    """Whole servers at random until there are enough tools; the last one is cut."""
    by_server: dict[str, list[str]] = {}
    for id in tools:
        by_server.setdefault(id.rpartition("::")[0], []).append(id)
    for draw in range(DRAWS if 2 * size < len(tools) else 1):
        order = sorted(by_server)
        Random(SEED + draw).shuffle(order)
        ids = [id for server in order for id in by_server[server]]
        yield {id: tools[id] for id in ids[:size]}


def _crib(tools: Tools, style: DeferStyle = "hidden", embed: EmbedSettings | None = None) -> Crib:
    """A crib that defers whatever its size is."""
    session = SessionSettings(threshold=0, style=style)
    settings = Settings(store=":memory:", session=session, embed=embed or EmbedSettings())
    crib = Crib(settings)
    crib.add_source(*servers(tools))
    return crib


def _stub_table(catalogs: Mapping[str, Tools]) -> str:
    head = ["tools from", ">whole", ">stubs", ">saved", ">schemas alone saved", ">worst draw"]
    rows = [
        _stub_row(
            name, [_stubs(_crib(some, style="stub").session(tool_search="on")) for some in draws]
        )
        for name, draws in ((name, _draws(tools, STUB_SIZE)) for name, tools in catalogs.items())
    ]
    return table(head, [*rows, _stub_row("Toolcrib itself", [_own_stubs()])])


def _own_stubs() -> Stubs:
    """The tools that come with Toolcrib, in the order of their names."""
    settings = Settings(store=":memory:", plugins=False, apps=AppSettings(enabled=False))
    with Crib.from_settings(settings) as crib:
        own = sorted(crib.session(tool_search="off").core_tools(), key=lambda tool: tool.name)
    tools = {
        tool.name: EvalTool.model_validate(
            {"id": tool.name, "name": tool.name}
            | {"description": tool.description, "parameters": tool.parameters}
        )
        for tool in own[:STUB_SIZE]
    }
    return _stubs(_crib(tools, style="stub").session(tool_search="on"))


def _stubs(session: Session) -> Stubs:
    listed = session.active_tools()
    whole = [SEARCH_TOOL, *session.core_tools(), *session.deferred_tools()]
    return Stubs(
        whole=_bytes(tool_definition(tool) for tool in whole),
        stubbed=_bytes(tool_definition(tool) for tool in listed),
        schemas=_schema_bytes(whole),
        stubbed_schemas=_schema_bytes(listed),
    )


def _schema_bytes(tools: Iterable[ToolInfo]) -> int:
    return _bytes(json.dumps(tool.parameters, ensure_ascii=False) for tool in tools)


def _bytes(texts: Iterable[str]) -> int:
    return sum(len(text.encode()) for text in texts)


def _stub_row(name: str, found: Sequence[Stubs]) -> list[str]:
    middle = sorted(found, key=lambda each: each.saved)[len(found) // 2]
    return [
        name,
        f"{middle.whole:,}",
        f"{middle.stubbed:,}",
        _per_cent(middle.saved),
        _per_cent(middle.schemas_saved),
        _per_cent(min(each.saved for each in found)),
    ]


def _task_table(catalogs: Mapping[str, Tools]) -> str:
    head = ["catalog", ">eager", ">deferred", ">searches", ">saved", ">worst draw"]
    return table(head, [_task_row(name, tools) for name, tools in catalogs.items()])


def _task_row(name: str, tools: Tools) -> list[str]:
    found = [
        _task(some, Random(SEED + draw))
        for draw, some in enumerate(_draws(tools, min(TASK_SIZE, len(tools))))
    ]
    middle = sorted(found, key=lambda each: each.saved)[len(found) // 2]
    return [
        name,
        f"{middle.eager:,}",
        f"{middle.deferred:,}",
        f"{median(each.searches for each in found):.0f}",
        _per_cent(middle.saved),
        _per_cent(min(each.saved for each in found)),
    ]


def _task(tools: Tools, chance: Random) -> Task:
    """Find and call some tools, one after the other, in requests that only ever grow.

    What both ways pay alike (the system prompt, the calls, their results) is left out. A search
    that misses its goal is followed by one that selects it by name.
    """
    with _crib(tools) as crib:
        session = crib.session(tool_search="on")
        goals = chance.sample(session.deferred_tools(), min(GOALS, len(tools)))
        eager = session.token_estimate().eager * (len(goals) + 1)
        told = searches = spent = 0
        for goal in goals:
            for query in (_query(goal), f"select:{goal.name}"):
                spent += _request(session) + told
                told += asyncio.run(_search(session, query))
                searches += 1
                if goal in session.revealed_tools():
                    break
            spent += _request(session) + told
        return Task(eager, spent + _request(session) + told, searches)


def _query(goal: ToolInfo) -> str:
    """As a model would ask: what the tool does, in the first words of its description."""
    return " ".join(goal.description.split()[:QUERY_WORDS]) or goal.name


async def _search(session: Session, query: str) -> int:
    """Search; the tokens of the question and of the answer, which stay in the conversation."""
    arguments = json.dumps({"query": query}, ensure_ascii=False)
    outcome = await session.call("tool_search", arguments)
    return sum(map(Tokenizer().count, (arguments, str(outcome.content))))


def _request(session: Session) -> int:
    """The tokens of tools, note and summary in the next request."""
    estimate = session.token_estimate()
    return estimate.deferred + estimate.revealed


def _per_cent(share: float) -> str:
    return f"{100 * share:.2f} %" if share >= 0.999 else f"{100 * share:.1f} %"


if __name__ == "__main__":
    main()
