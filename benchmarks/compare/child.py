"""One system, measured in a process of its own.

    python -m benchmarks.compare.child SYSTEM cost SIZE
    python -m benchmarks.compare.child SYSTEM quality SET

The folder of sets is that of `TOOLCRIB_BENCH_DIR`. Prints one JSON object.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any

from benchmarks.compare.mini_lm import MiniLmModel
from benchmarks.compare.systems import LIMIT, SYSTEMS, Peer, made_up
from benchmarks.folder import SEED, bench_dir, find_sets
from benchmarks.many_tools import listings, read_tools
from benchmarks.processes import resident_megabytes
from benchmarks.rankings import DEPTH
from toolcrib.evaluate import EvalSuite, open_search
from toolcrib.evaluate.cases import EvalTool
from toolcrib.evaluate.evaluation import ranked_ids
from toolcrib.evaluate.measures import score
from toolcrib.settings import EmbedSettings, Settings
from toolcrib.text.tokens import Tokenizer

MOST_TOOLS, MOST_CASES = 600, 100
WARM_UP, SEARCHES, CALLS = 3, 30, 200
OURS = {"Toolcrib": "bundled", "Toolcrib, words alone": "none"}


def cost(name: str, size: int) -> Mapping[str, Any]:
    """CPU of a search and a call in seconds, memory in megabytes, tokens of the surface."""
    tools, asked = _many(size), _asked()
    model = MiniLmModel()
    before = resident_megabytes()
    began = process_time()
    # A lone text is a query, and embedded; many are tools.
    peer: Peer = SYSTEMS[name][1](tools, lambda texts: _vectors(model, texts))
    for text in asked[:WARM_UP]:
        peer.search(text, LIMIT)
    start = process_time() - began
    searches = [_cpu(lambda text=text: peer.search(text, LIMIT)) for text in asked[WARM_UP:]]
    counter = Tokenizer()
    return {
        "start": start,
        "search": median(searches),
        "call": asyncio.run(_calls(peer)),
        "memory": resident_megabytes() - before,
        "surface": sum(map(counter.count, peer.surface())),
    }


def quality(name: str, wanted: str) -> Mapping[str, Any]:
    """Needs covered within 5 and 1, of the requests that have an answer; seconds it took."""
    [found] = find_sets(bench_dir(None, os.environ), [wanted]).sets
    suite, began = _smaller(found.load()), perf_counter()
    cases = list(suite.cases.values())
    if name in OURS:
        embed = EmbedSettings.model_validate({"embedder": OURS[name]})
        with open_search(suite, Settings(store=":memory:", embed=embed)) as search:
            ranked = [ranked_ids(search, case, case.query)[:DEPTH] for case in cases]
    else:
        peer: Peer = SYSTEMS[name][1](suite.tools, MiniLmModel().embed)
        ranked = [peer.search(case.query, DEPTH) for case in cases]
    scores = score(zip(cases, ranked, strict=True))
    figures = {"within_5": scores.recall_5, "first": scores.hit_1, "left_empty": scores.left_empty}
    sizes = {"tools": len(suite.tools), "requests": len(cases)}
    return {**figures, **sizes, "seconds": perf_counter() - began}


def _smaller(suite: EvalSuite) -> EvalSuite:
    """Some requests by a seed, every tool that one is for, and others up to a number."""
    cases = list(suite.cases.items())
    Random(SEED).shuffle(cases)
    chosen = dict(cases[:MOST_CASES])
    needed = {
        id for case in chosen.values() for id in [*case.relevant, *case.equiv, *case.candidates]
    }
    rest = [id for id in suite.tools if id not in needed][: max(0, MOST_TOOLS - len(needed))]
    some = needed | {*rest}
    tools = {id: tool for id, tool in suite.tools.items() if id in some}
    return replace(suite, tools=tools, cases=chosen)


def _many(size: int) -> Mapping[str, EvalTool]:
    [big] = find_sets(bench_dir(None, os.environ), ["mcp_big"]).sets
    every = [
        EvalTool(
            id=f"{listing.name}::{tool['name']}",
            name=tool["name"],
            description=tool["description"],
            parameters=tool["inputSchema"],
            server=listing.name,
        )
        for listing in listings(read_tools(big.catalog), size)
        for tool in listing.tools
    ]
    return {tool.id: tool for tool in every}


def _asked() -> Sequence[str]:
    [found] = find_sets(bench_dir(None, os.environ), ["everyday"]).sets
    return [case.query for case in found.load().cases.values()][: WARM_UP + SEARCHES]


def _vectors(model: MiniLmModel, texts: Sequence[str]) -> Any:  # noqa: ANN401 - rows of numpy
    return model.embed(texts) if len(texts) == 1 else made_up(texts)


async def _calls(peer: Peer) -> float:
    await peer.call()
    began = process_time()
    for _ in range(CALLS):
        await peer.call()
    return (process_time() - began) / CALLS


def _cpu(work: Any) -> float:  # noqa: ANN401 - whatever it gives back
    began = process_time()
    work()
    return process_time() - began


if __name__ == "__main__":
    system, task, what = sys.argv[1:]
    told = cost(system, int(what)) if task == "cost" else quality(system, what)
    print(json.dumps(told))
