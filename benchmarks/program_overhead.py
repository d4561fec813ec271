"""What a program costs beside plain calls, and a signature beside JSON Schema.

    python -m benchmarks.program_overhead [--runs 100] [--catalogs DIR]

A program with one call takes turns with the same call by itself, in one process: so whatever else
the machine does falls on both alike. The same for ten calls, one after the other and gathered. The
tool is a function that does nothing, so all that is measured is ours. Wall time; CPU time would
leave out the worker.

With `--catalogs`, a folder with one JSON file a server (its `tools/list` under `tools`), the tokens
of signatures are counted beside those of JSON definitions, with o200k_base.
"""

import asyncio
import json
from argparse import ArgumentParser
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from benchmarks.markdown import table
from toolcrib import Crib, Settings
from toolcrib.model import ToolInfo
from toolcrib.program.identifiers import group_name, identifiers
from toolcrib.program.signatures import ToolSignature
from toolcrib.text import tool_definition
from toolcrib.text.tokens import Tokenizer

ONE = "await tools.nothing(n=1)"
TEN = "[await tools.nothing(n=n) for n in range(10)]"
GATHERED = "import asyncio\nawait asyncio.gather(*[tools.nothing(n=n) for n in range(10)])"
WARM_UP = 5


async def nothing(n: int) -> int:
    """Give a number back."""
    return n


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--catalogs", type=Path)
    given = parser.parse_args(arguments)
    with Crib(Settings(store=":memory:", embed={"embedder": "none"}, plugins=False)) as crib:  # pyright: ignore[reportArgumentType] - as a file has it
        crib.add(nothing, permission_kind="read")
        print(asyncio.run(measured(crib, given.runs)))
    if given.catalogs:
        print(tokens_of(given.catalogs))


async def measured(crib: Crib, runs: int) -> str:
    """A table of all ways, whose turns are taken one after the other."""

    async def call(times: int) -> None:
        for n in range(times):
            await crib.call("nothing", {"n": n})

    async def check() -> None:
        await asyncio.to_thread(crib.check_program, ONE)

    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "1 plain call": lambda: call(1),
        "10 plain calls": lambda: call(10),
        "a program with no call": lambda: crib.run("1"),
        "a program with 1 call": lambda: crib.run(ONE),
        "a program with 10 calls": lambda: crib.run(TEN),
        "the same, gathered": lambda: crib.run(GATHERED),
        "a check alone": check,
    }
    began = perf_counter()
    await crib.run(ONE)
    first = perf_counter() - began
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(WARM_UP + runs):
        for name, way in ways.items():
            began = perf_counter()
            await way()
            if turn >= WARM_UP:
                taken[name].append(perf_counter() - began)
    rows = [["the first program, which starts the sandbox", f"{first * 1e3:.1f}", ""]]
    rows += [
        [name, f"{median(each) * 1e3:.2f}", f"{quantiles(each, n=20)[-1] * 1e3:.2f}"]
        for name, each in taken.items()
    ]
    return table(["ms of wall time", "median", "95th per cent"], rows)


def tokens_of(folder: Path) -> str:
    """A table of what all tools of a folder cost in either form."""
    counter = Tokenizer()
    sums = dict.fromkeys(["JSON", "JSON with output", "signature", "no result type"], 0)
    count = 0
    for server, tool, function in tools_in(folder):
        count += 1
        output = json.dumps(tool.output_schema, ensure_ascii=False, separators=(",", ":"))
        definition = counter.count(tool_definition(tool))
        sums["JSON"] += definition
        has_output = tool.output_schema is not None
        sums["JSON with output"] += definition + (counter.count(output) if has_output else 0)
        sums["signature"] += counter.count(ToolSignature(server, function, tool).text)
        plain = ToolInfo(name=tool.name, description=tool.description, parameters=tool.parameters)
        sums["no result type"] += counter.count(ToolSignature(server, function, plain).text)
    rows = [[name, f"{each:,}", f"{each / count:.0f}"] for name, each in sums.items()]
    return table([f"{count:,} tools", "tokens", "a tool"], rows)


def tools_in(folder: Path) -> Iterator[tuple[str, ToolInfo, str]]:
    """The tools of each server, with the names of their group and function."""
    for file in sorted(folder.glob("[!_]*.json")):
        listed = json.loads(file.read_text(encoding="utf-8"))["tools"]
        functions = identifiers(each["name"] for each in listed)
        for each in listed:
            tool = ToolInfo(
                name=each["name"],
                description=each.get("description") or "",
                parameters=each["inputSchema"],
                output_schema=each.get("outputSchema"),
            )
            yield group_name(file.stem), tool, functions[each["name"]]


if __name__ == "__main__":
    main()
