"""What a gateway costs: ours by every way in, beside a direct client and a gateway of fastmcp's.

    python -m benchmarks.gateway --catalogs DIR [--tools 3000] [--calls 500] [--before FOLDER]

All are up at once and take turns, call by call, so that whatever else the machine does falls on
all alike; the client is the MCP SDK's own for each, in the same era. The direct client speaks to a
server of its own of the same kind. fastmcp, if it is installed, answers more slowly, and has a
turn only `--slow` times. `--before` names an earlier checkout with a `.venv` of its own: its
gateway takes turns with ours, in a home of its own. DIR is a folder with one JSON file a server,
its `tools/list` under `tools`; `benchmarks/gateway_pool.py` says which of them are taken.
"""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from benchmarks.folder import NoBench
from benchmarks.gateway_pool import ARGUMENTS, CALLED, ROOT, TOOL, Pool, read_pool
from benchmarks.gateway_report import CONNECT, DIRECT, HTTP, PEER, STDIO, Figures, report
from benchmarks.home import Home, Unusable
from benchmarks.markdown import NoMarks, put
from benchmarks.processes import below, children, cpu_seconds, megabytes

NAME = "gateway"
BEFORE = "before, "
TOOLS, CALLS, SLOW, STARTS, WARM_UP = 3_000, 500, 20, 10, 20
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}
SETTINGS = """\
[approval]
rules = [{{ verdict = "allow" }}]

[embed]
embedder = "{embedder}"
"""


@dataclass(frozen=True, slots=True)
class Program:
    """What a client starts; `behind` are other processes that serve it."""

    command: Sequence[str]
    env: Mapping[str, str]
    behind: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Way:
    """A client that is connected, what it calls to call and to search, and whose work that is.

    `pids` are the gateway's processes, the one that serves first. A direct client cannot search,
    and there is no gateway.
    """

    name: str
    client: Client
    call: tuple[str, Mapping[str, Any]]
    search: str = ""
    pids: tuple[int, ...] = ()

    def searching(self, query: str) -> tuple[str, Mapping[str, Any]]:
        return self.search, {"query": query} if self.name == PEER else {"queries": [query]}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog=f"python -m benchmarks.{NAME}", description=__doc__)
    parser.add_argument("--catalogs", type=Path, required=True, help="one JSON file a server")
    parser.add_argument("--tools", type=int, default=TOOLS, help="at least so many in the pool")
    parser.add_argument("--calls", type=int, default=CALLS, help="and as many searches, each way")
    parser.add_argument("--slow", type=int, default=SLOW, help="the same for fastmcp")
    parser.add_argument("--starts", type=int, default=STARTS, help="of each, for the first reply")
    parser.add_argument("--embedder", default="bundled", help="as in the settings; `none`: words")
    parser.add_argument("--before", type=Path, help="an earlier checkout, measured in turns")
    parser.add_argument("--home", type=Path, help="keep what was learned here, for the next run")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    try:
        text = _measured(said)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks, Unusable) as error:
        parser.error(str(error))


def _measured(said: Namespace) -> str:
    with ExitStack() as stack:
        folder = said.home or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        pool = read_pool(said.catalogs, folder, said.tools)
        homes = {"": Home(folder)}
        if said.before:
            python = said.before.resolve() / ".venv" / "bin" / "python"
            homes[BEFORE] = Home(folder / "before", python)
        for home in homes.values():
            home.configure(SETTINGS.format(embedder=said.embedder), pool.servers)
            _tell(f"{pool.tools:,} tools of {len(pool.servers) - 1} servers: learning them")
            home.run("refresh")
            home.run("index")
        figures = Figures()
        asyncio.run(_measure(homes, pool, said, figures))
        return report(pool, figures)


async def _measure(
    homes: Mapping[str, Home], pool: Pool, said: Namespace, figures: Figures
) -> None:
    async with AsyncExitStack() as stack:
        daemons = {
            label: await stack.enter_async_context(home.daemon()) for label, home in homes.items()
        }
        programs: dict[str, Program] = {}
        for label, home in homes.items():
            programs |= _programs(home, daemons[label], label)
        _start_all(programs, said.starts, figures)
        ways = [
            await stack.enter_async_context(way)
            for label, home in homes.items()
            for way in _ways(home, pool, daemons[label], label)
        ]
        await _take_turns(ways, said, figures, pool)
        for way in (way for way in ways if way.pids):
            figures.memory[way.name] = _memory(way.pids[0])
            figures.cpu[way.name] = await _cpu(way, said, pool)


def _ways(home: Home, pool: Pool, daemon: Mapping[str, Any], label: str) -> list[Any]:
    """Ours by each way in; once, beside an earlier checkout too, those that are not ours."""
    entry = pool.servers[CALLED]
    ours = ("tool_call", {"name": f"mcp_{CALLED}_{TOOL}", "arguments": ARGUMENTS})
    theirs = ("call_tool", {"name": f"{CALLED}_{TOOL}", "arguments": ARGUMENTS})
    programs = _programs(home, daemon, label)
    key = json.loads(home.run("keys", "add", "bench", "--json"))["key"]
    ways = [
        *(
            _stdio(name, programs[name], ours, "tool_search")
            for name in (label + CONNECT, label + STDIO)
        ),
        _http(label + HTTP, daemon, key, ours),
    ]
    if not label:
        direct = Program([entry["command"], *entry["args"]], home.env)
        ways.insert(0, _stdio(DIRECT, direct, (TOOL, ARGUMENTS)))
    if PEER in programs:
        ways.append(_stdio(PEER, programs[PEER], theirs, "search_tools"))
    return ways


def _programs(home: Home, daemon: Mapping[str, Any], label: str) -> dict[str, Program]:
    """What a client launches."""
    programs = {
        label + CONNECT: Program(home.toolcrib("connect"), home.env, (daemon["pid"],)),
        label + STDIO: Program(home.toolcrib("serve", "--stdio"), home.env),
    }
    if not label and importlib.util.find_spec("fastmcp"):
        command = [sys.executable, "-m", "benchmarks.fastmcp_gateway", str(home.servers)]
        programs[PEER] = Program(command, home.env | {"PYTHONPATH": str(ROOT)})
    return programs


@asynccontextmanager
async def _stdio(
    name: str, program: Program, call: tuple[str, Mapping[str, Any]], search: str = ""
) -> AsyncGenerator[Way]:
    """A client of a program that it starts; its tools are listed, as a host would."""
    before = children(os.getpid())
    command, *arguments = program.command
    parameters = StdioServerParameters(command=command, args=arguments, env={**program.env})
    _tell(f"starting {name}")
    async with Client(parameters, mode="legacy", read_timeout_seconds=300) as client:
        await client.list_tools()
        pids = (*(children(os.getpid()) - before), *program.behind)
        yield Way(name, client, call, search, pids if search else ())


@asynccontextmanager
async def _http(
    name: str, daemon: Mapping[str, Any], key: str, call: tuple[str, Mapping[str, Any]]
) -> AsyncGenerator[Way]:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60)
    transport = streamable_http_client(f"http://127.0.0.1:{daemon['port']}/mcp", http_client=http)
    async with http, Client(transport, mode="legacy", read_timeout_seconds=60) as client:
        await client.list_tools()
        yield Way(name, client, call, "tool_search", (daemon["pid"],))


async def _take_turns(ways: Sequence[Way], said: Namespace, figures: Figures, pool: Pool) -> None:
    queries = cycle(pool.queries)
    every = max(1, said.calls // said.slow)
    for number in range(-WARM_UP, said.calls):
        if number % 50 == 0:
            _tell(f"round {number:,} of {said.calls:,}")
        query = next(queries)
        turns = [way for way in ways if way.name != PEER or number % every == 0]
        for way in turns:
            seconds = await _timed(way, *way.call)
            _note(figures.calls, way, seconds, number)
        for way in turns:
            if way.search:
                seconds = await _timed(way, *way.searching(query))
                _note(figures.searches, way, seconds, number)


async def _cpu(way: Way, said: Namespace, pool: Pool) -> tuple[float, float]:
    """Seconds that the gateway computes for a call and for a search, all others at rest."""
    count = said.slow if way.name == PEER else said.calls
    asked = [way.call], [way.searching(query) for query in pool.queries]
    figures: list[float] = []
    for requests in asked:
        before = sum(map(cpu_seconds, way.pids))
        for _, request in zip(range(count), cycle(requests), strict=False):
            await _timed(way, *request)
        figures.append((sum(map(cpu_seconds, way.pids)) - before) / count)
    return figures[0], figures[1]


def _note(times: dict[str, list[float]], way: Way, seconds: float, number: int) -> None:
    if number >= 0:
        times.setdefault(way.name, []).append(seconds)


async def _timed(way: Way, name: str, arguments: Mapping[str, Any]) -> float:
    started = perf_counter()
    result = await way.client.call_tool(name, {**arguments})
    seconds = perf_counter() - started
    if result.is_error:
        raise Unusable(f"{way.name}: {name} failed: {result.content}")
    return seconds


def _start_all(programs: Mapping[str, Program], starts: int, figures: Figures) -> None:
    """From nothing to the first reply, which is to `initialize`. The daemon is up."""
    for _ in range(starts):
        for name, program in programs.items():
            _tell(f"first reply of {name}")
            figures.starts.setdefault(name, []).append(_first_reply(program))


def _first_reply(program: Program) -> float:
    pipe = subprocess.PIPE
    started = perf_counter()
    with subprocess.Popen(  # noqa: S603 - what is measured
        program.command, env={**program.env}, stdin=pipe, stdout=pipe, cwd=ROOT
    ) as process:
        assert process.stdin  # noqa: S101 - pipes both
        assert process.stdout  # noqa: S101
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        if not process.stdout.readline():
            raise Unusable(f"{' '.join(program.command)} says nothing")
        return perf_counter() - started


def _memory(pid: int) -> tuple[float, float, int]:
    """Of the process alone, of all that it started as well, and how many those are."""
    started = below(pid)
    alone = megabytes(pid)
    return alone, alone + sum(map(megabytes, started)), len(started)


def _tell(what: str) -> None:
    print(what, file=sys.stderr)


if __name__ == "__main__":
    main()
