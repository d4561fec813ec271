"""One system, measured in a process of its own, which has nothing else in it.

    python -m benchmarks.compare.child SYSTEM (cost | find) < request.json

The request has the tools and the queries. Prints one JSON object.
"""

# ruff: noqa: PLC0415 - what is imported takes memory: each process has what it needs alone

import asyncio
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

from benchmarks.compare.catalog import CompareTool, Peer, Tools
from benchmarks.compare.systems import opened
from benchmarks.processes import megabytes, resident_megabytes

EMBEDDER = "MiniLM"
WARM_UP, CALLS, ROUNDS = 3, 20, 5
EMBEDDED = 100
"""How many texts of tools say what embedding one takes."""


class Memory(NamedTuple):
    """Megabytes: the proportional size now, and the most that was resident since the last reset."""

    now: float
    peak: float

    @classmethod
    def reset(cls) -> "Memory":
        """From here on a new peak is looked for."""
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return cls(megabytes("self"), resident_megabytes())

    @classmethod
    def since(cls, before: "Memory") -> "Memory":
        """What came on top."""
        return cls(megabytes("self") - before.now, resident_megabytes("VmHWM") - before.peak)


def cost(name: str, tools: Tools, queries: Sequence[str]) -> Mapping[str, Any]:
    """CPU of a search and a call in seconds, memory in megabytes, and what a model is sent."""
    before, began = Memory.reset(), process_time()
    peer = opened(name, tools, _embed)
    for text in queries[:WARM_UP]:
        peer.search(text)
    start = process_time() - began
    searches = [_cpu(partial(peer.search, text)) for text in queries[WARM_UP:]]
    call = asyncio.run(_cpu_of_call(peer))
    memory = Memory.since(before)
    surface = peer.surface()
    return {
        "start": start,
        "search": median(searches),
        "call": call,
        "memory": memory.now,
        "peak": memory.peak,
        "surface": surface,
    }


def find(name: str, tools: Tools, queries: Sequence[str]) -> Mapping[str, Any]:
    """What is found for each query, in order of the queries."""
    peer = opened(name, tools, _embed)
    return {"found": [[*peer.search(text)] for text in queries]}


def embedder(tools: Tools, queries: Sequence[str]) -> Mapping[str, Any]:
    """What MiniLM takes of it: CPU seconds of a query and of a tool, memory in megabytes."""
    before = Memory.reset()
    _embed(queries[:WARM_UP])
    spent = [_cpu(partial(_embed, [text])) for text in queries[WARM_UP:]]
    texts = [f"{each.name}: {each.description}" for each in tools.values()][:EMBEDDED]
    tool = _cpu(partial(_embed, texts)) / len(texts)
    memory = Memory.since(before)
    return {"query": median(spent), "tool": tool, "memory": memory.now, "peak": memory.peak}


def _embed(texts: Sequence[str]) -> Any:  # noqa: ANN401 - rows of numpy
    return _mini_lm().embed(texts)


@cache
def _mini_lm() -> Any:  # noqa: ANN401 - a class of what is imported late
    from benchmarks.compare.mini_lm import MiniLmModel

    return MiniLmModel()


async def _cpu_of_call(peer: Peer) -> float:
    """The least of some rounds: others on the machine only ever add to it."""
    await peer.call()
    rounds: list[float] = []
    for _ in range(ROUNDS):
        began = process_time()
        for _ in range(CALLS):
            await peer.call()
        rounds.append((process_time() - began) / CALLS)
    return min(rounds)


def _cpu(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def main(name: str, task: str) -> None:
    request = json.load(sys.stdin)
    tools = {each["id"]: CompareTool(**each) for each in request["tools"]}
    if name == EMBEDDER:
        told = embedder(tools, request["queries"])
    else:
        told = (cost if task == "cost" else find)(name, tools, request["queries"])
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
