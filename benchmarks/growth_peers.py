"""fastmcp and pydantic-ai with the same tools and queries, each in a process of its own.

    python -m benchmarks.growth_peers < request.json

A peer is handed the tools as its users would write them down: no start of servers, no file. What
it takes to have them read is not counted.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.checkout import Limits, this_checkout
from benchmarks.growth_report import FASTMCP, FASTMCP_CLIENT, PYDANTIC_AI, WORDS, Growth
from benchmarks.home import Home
from benchmarks.many_tools import Listing
from benchmarks.peer_search import PydanticAiSearch
from benchmarks.processes import resident_megabytes
from benchmarks.systems import LIMIT, NEWCOMERS, Opening, System
from toolcrib.evaluate.cases import EvalTool

WARM_UP = 5
MOST_QUERIES = 50
"""A peer is slow, and its figures vary little."""
ADDED = 5
PACKAGES = {FASTMCP: "fastmcp", FASTMCP_CLIENT: "fastmcp", PYDANTIC_AI: "pydantic_ai"}

Figures = Mapping[str, float]


def measure(
    every: Iterable[Listing], queries: Sequence[str], growth: Growth, size: int, limits: Limits
) -> None:
    """Every peer that is installed, once."""
    tools = [{**tool, "server": each.name} for each in every for tool in each.tools]
    request = {"tools": tools, "queries": queries[: MOST_QUERIES + WARM_UP]}
    for name, package in PACKAGES.items():
        if find_spec(package) is None:
            continue
        growth.forget(size, name, [WORDS])
        with TemporaryDirectory() as folder:
            child = this_checkout(limits).child
            told = child(Path(__file__), Home(Path(folder)), request | {"peer": name})
        place = growth.at(size, name)
        place.add(WORDS, told.figures)
        if told.failure:
            place.fail(WORDS, "start", told.failure)
        print(f"{size:,} {name} {dict(told.figures)} {told.failure}", file=sys.stderr)


async def _figures(request: dict[str, Any]) -> AsyncIterator[Figures]:
    """The same as of Toolcrib, as far as a peer has it."""
    tools = {each.id: each for each in map(_eval_tool, request.pop("tools"))}
    queries, opening = request["queries"], _opening(request["peer"])
    began = process_time()
    async with opening(tools) as system:
        await system.search(queries[0])
        yield {"start": process_time() - began, "rss": resident_megabytes()}
        for query in queries[:WARM_UP]:
            await system.search(query)
        yield {"search": median([await _cost(system, query) for query in queries[WARM_UP:]])}
        some = list(tools.values())[:ADDED]
        yield {"function": median([await _cost(system, queries[0], tool) for tool in some])}


async def _cost(system: System, query: str, newcomer: EvalTool | None = None) -> float:
    began = process_time()
    if newcomer:
        system.add(newcomer.model_copy(update={"id": f"{NEWCOMERS}::{newcomer.name}"}))
    await system.search(query)
    return process_time() - began


def _opening(peer: str) -> Opening:
    """How to open it; what it imports is there then."""
    if peer == PYDANTIC_AI:
        PydanticAiSearch({})
        return _open_pydantic_ai
    from benchmarks import fastmcp_peer  # noqa: PLC0415 - optional

    return fastmcp_peer.open_function if peer == FASTMCP else fastmcp_peer.open_client


@asynccontextmanager
async def _open_pydantic_ai(tools: Mapping[str, EvalTool]) -> AsyncGenerator[System]:
    yield _InPydanticAi(PydanticAiSearch(tools))


class _InPydanticAi:
    """Its search, without the model that calls it."""

    def __init__(self, peer: PydanticAiSearch) -> None:
        self._peer = peer

    async def search(self, text: str) -> object:
        return self._peer.search(text, LIMIT)

    def add(self, tool: EvalTool) -> None:
        self._peer.add(tool)

    def database_bytes(self) -> int:
        return 0


def _eval_tool(raw: Mapping[str, Any]) -> EvalTool:
    return EvalTool(
        id=f"{raw['server']}::{raw['name']}",
        name=raw["name"],
        description=raw["description"],
        parameters=raw["inputSchema"],
        server=raw["server"],
    )


async def _tell() -> None:
    async for figures in _figures(json.loads(sys.stdin.read())):
        print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    asyncio.run(_tell())
