"""What a call through Toolcrib costs beside one by the MCP SDK's own client, on the same servers.

    python -m benchmarks.call_overhead [--calls 1000] [--starts 10]

Each server is opened twice: once by a client of the SDK, once by a crib. The two take turns, call
by call and start by start, so that whatever else the machine does falls on both alike. Most of a
call is waiting, so wall time comes first: on a busy machine every wake-up waits its turn, and we
need two more of them. CPU time is that of this process, which moves less.

The fake server is of the standard library and answers at once; the real one is somebody else's,
from npm, installed by `scripts/install_test_servers.py`.
"""

import asyncio
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import NamedTuple, TypeAlias

from mcp import Client, StdioServerParameters

from benchmarks.markdown import NoMarks, put, table
from scripts.install_test_servers import install, servers
from toolcrib import Crib, Settings
from toolcrib.model import JsonObject
from toolcrib.settings import ApprovalRule, ApprovalSettings
from toolcrib.sources.mcp import McpServers, refresh_all
from toolcrib.store import FileStores, StorePlaces

NAME = "call_overhead"
CALLS, WARM_UP = 1_000, 50
STARTS = 10
FAKE = Path(__file__).parents[1] / "tests" / "sources" / "mcp" / "fake_server.py"

OneCall: TypeAlias = Callable[[], Awaitable[None]]
Way: TypeAlias = Callable[[], AbstractAsyncContextManager[OneCall]]


class Unusable(Exception):
    """A server that cannot be measured; the message says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server as an `mcpServers` file names it, and one of its tools with what it is given."""

    name: str
    command: str
    args: tuple[str, ...]
    tool: str
    arguments: JsonObject


class Time(NamedTuple):
    """Seconds on the clock, and seconds of CPU that this process took."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Times:
    """The same work by the SDK alone and through Toolcrib."""

    direct: list[Time]
    ours: list[Time]


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls to one server cost, once it is up and from its start on."""

    warm: Times
    cold: Times


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog=f"python -m benchmarks.{NAME}", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help="to a server that is up")
    parser.add_argument("--starts", type=int, default=STARTS, help="of a server for one call")
    parser.add_argument("--fake-only", action="store_true", help="leave the real server out")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        measured, left_out = _measured(said.calls, said.starts, real=not said.fake_only)
        text = _report(measured, left_out)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoMarks, Unusable) as error:
        parser.error(str(error))


def _measured(calls: int, starts: int, *, real: bool) -> tuple[dict[str, Cost], str]:
    """The cost by server, and why the real one is left out if it is."""
    found, left_out = [_fake()], ""
    try:
        found += [_real()] if real else []
    except Unusable as error:
        left_out = str(error)
    measured = {server.name: asyncio.run(_measure(server, calls, starts)) for server in found}
    return measured, left_out


def _fake() -> Server:
    return Server("fake, Python", sys.executable, ("-S", str(FAKE)), "echo", {"text": "hello"})


def _real() -> Server:
    try:
        entry = servers(install(), Path.cwd())["everything"]
    except (OSError, subprocess.CalledProcessError, SystemExit) as error:
        raise Unusable(
            f"the real server is left out, for it cannot be installed: {error}"
        ) from None
    match entry:
        case {"command": str(command), "args": [*args]}:
            words = tuple(map(str, args))
            return Server("everything, Node", command, words, "echo", {"message": "hello"})
        case _:
            raise Unusable(f"the real server is left out, for nobody knows how to run {entry}")


async def _measure(server: Server, calls: int, starts: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        config = _learned(server, Path(folder))
        direct, ours = partial(_direct, server), partial(_through_crib, server, config)
        _tell(f"{server.name}: {calls:,} calls each way")
        warm = await _warm(direct, ours, calls)
        cold = Times([], [])
        for number in range(starts):
            _tell(f"{server.name}: start {number + 1} of {starts} each way")
            cold.direct.append(await _cold(direct))
            cold.ours.append(await _cold(ours))
    return Cost(warm, cold)


def _opened(server: Server, folder: Path) -> McpServers:
    """This server, as a program adds it, with what is known of it in the folder."""
    entry: JsonObject = {"command": server.command, "args": [*server.args]}
    return McpServers.open_added({"bench": entry}, {}, FileStores(StorePlaces(folder)))


def _learned(server: Server, folder: Path) -> Path:
    """The folder, in which the server is known as after `toolcrib refresh`."""
    found = _opened(server, folder)
    try:
        errors = [done.error for done in refresh_all(found.sources) if done.error]
    finally:
        found.close()
    if errors:
        raise Unusable(f"{server.name} does not start: {errors[0]}")
    return folder


@asynccontextmanager
async def _direct(server: Server) -> AsyncGenerator[OneCall]:
    """A client of the SDK, with the tools listed: else it lists them again after every call."""
    async with Client(StdioServerParameters(command=server.command, args=[*server.args])) as client:
        await client.list_tools()

        async def call() -> None:
            result = await client.call_tool(server.tool, dict(server.arguments))
            _check(ok=not result.is_error, said=result)

        yield call


@asynccontextmanager
async def _through_crib(server: Server, folder: Path) -> AsyncGenerator[OneCall]:
    """A crib that knows the server and has not started it."""
    found = _opened(server, folder)
    allowing = ApprovalSettings(rules=(ApprovalRule(verdict="allow"),))
    with closing(found), Crib(Settings(store=":memory:", approval=allowing)) as crib:
        crib.add_source(*found.sources)
        name = crib.get(server.tool).name

        async def call() -> None:
            outcome = await crib.call(name, server.arguments)
            _check(ok=outcome.ok, said=outcome)

        yield call


def _check(*, ok: bool, said: object) -> None:
    if not ok:
        raise Unusable(f"a call failed: {said}")


async def _warm(direct: Way, ours: Way, calls: int) -> Times:
    """Both up at once, one call each in turn."""
    times = Times([], [])
    async with direct() as call_directly, ours() as call_ours:
        for number in range(WARM_UP + calls):
            one, other = await _timed(call_directly), await _timed(call_ours)
            if number >= WARM_UP:
                times.direct.append(one)
                times.ours.append(other)
    return times


async def _cold(way: Way) -> Time:
    """From nothing to the first answer; the end of the server is not counted."""
    wall, cpu = perf_counter(), process_time()
    async with way() as call:
        await call()
        return Time(perf_counter() - wall, process_time() - cpu)


async def _timed(call: OneCall) -> Time:
    wall, cpu = perf_counter(), process_time()
    await call()
    return Time(perf_counter() - wall, process_time() - cpu)


def _report(measured: Mapping[str, Cost], left_out: str) -> str:
    versions = f"Python {python_version()}, mcp {version('mcp')}. {left_out}".strip()
    parts = [
        versions,
        "**A call to a server that is up**: ms, p50 / p95",
        _table({name: cost.warm for name, cost in measured.items()}),
        "**A call that starts its server**: ms, p50 / p95",
        _table({name: cost.cold for name, cost in measured.items()}),
    ]
    return "\n\n".join(parts)


def _table(measured: Mapping[str, Times]) -> str:
    head = ["server", ">the SDK's client", ">through Toolcrib", ">added, p50", ">added CPU, p50"]
    return table(head, [[name, *_cells(times)] for name, times in measured.items()])


def _cells(times: Times) -> list[str]:
    direct, ours = ([each.wall for each in way] for way in (times.direct, times.ours))
    cpu = [median(each.cpu for each in way) for way in (times.direct, times.ours)]
    added = f"{1000 * (median(ours) - median(direct)):+.2f} ({median(ours) / median(direct):.2f}×)"
    return [_both(direct), _both(ours), added, f"{1000 * (cpu[1] - cpu[0]):+.2f}"]


def _both(times: Sequence[float]) -> str:
    """The highest stands for the p95 where there is only one."""
    high = quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
    return f"{1000 * median(times):.2f} / {1000 * high:.2f}"


def _tell(what: str) -> None:
    print(what, file=sys.stderr)


if __name__ == "__main__":
    main()
