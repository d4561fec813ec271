"""What the bundled model costs: a whole search with it, memory, and the vectors of many tools.

    python -m benchmarks.model_cost --bench-dir DIR --cache DIR [--wheel FILE] [--embed 1000]
    python -m benchmarks.model_cost --bench-dir DIR --before CHECKOUT

The tools and queries are some of `mcp_big`; each query is asked when it is new, and once again. The
same queries go to Toolcrib by words alone and to plain FTS5, in turns. Readings of tools come from
the cache of `benchmarks.quality` where it has them; those of queries are made. Times are of CPU,
memory is what Linux says of this process. `--numpy` leaves onnxruntime alone if it is there.
`--before` measures the model alone, here and in another checkout with a `.venv` of its own, in
turns: its first query in a new process, queries after it, and the tools in chunks of 16.
"""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median, quantiles
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.ahead import kept_vectors
from benchmarks.folder import SEED, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.home import own_state
from benchmarks.markdown import NoMarks, put, table
from benchmarks.plain_fts5 import PlainFts5
from benchmarks.systems import LIMIT, WORDS, servers
from toolcrib.crib import Crib
from toolcrib.embed import CachedEmbedder, TextReading, text_hash
from toolcrib.embed.bundled import onnx
from toolcrib.embed.bundled.embedder import BundledEmbedder
from toolcrib.evaluate.cases import EvalCase, EvalTool
from toolcrib.index import document_of
from toolcrib.settings import EmbedSettings, Settings
from toolcrib.store import VectorCache

NAME = "model_cost"
SIZES = (1_000, 10_000, 17_742)
QUERIES, WARM_UP, BLOCK = 200, 20, 8
TURNS = 4
ALONE = """
import json, sys
from time import process_time
from toolcrib.embed.bundled import onnx
from toolcrib.embed.bundled.embedder import BundledEmbedder
asked, tools, package = json.load(sys.stdin)
onnx.PACKAGE = package
embedder = BundledEmbedder()
def timed(read, texts):
    start = process_time()
    read(texts)
    return 1000 * (process_time() - start)
read_queries = getattr(embedder, "read_queries", embedder.read)
first, *queries = [timed(read_queries, [text]) for text in asked]
made = sum(timed(embedder.read, tools[n : n + 16]) for n in range(0, len(tools), 16)) / len(tools)
with open("/proc/self/statm") as file:
    resident = int(file.read().split()[1]) * 4096 / 1e6
print(json.dumps([first, sorted(queries)[len(queries) // 2], 10 * made, resident]))
"""

Times = Mapping[str, Sequence[float]]


class ToolsKept:
    """The bundled model, but that readings of these texts are taken from a cache."""

    def __init__(self, cache: VectorCache, texts: Iterable[str]) -> None:
        self._bundled = BundledEmbedder()
        self.model = self._bundled.model
        cached = CachedEmbedder(self._bundled, cache)
        every = list(dict.fromkeys(texts))
        self._known: dict[str, TextReading] = {}
        for start in range(0, len(every), 500):
            some = every[start : start + 500]
            vectors = cached.cached(some)
            by_hash = cached.tokens_by_hash([text_hash(text) for text in some])
            tokens = {text: by_hash[text_hash(text)] for text in vectors}
            self._known |= {
                text: TextReading(
                    vectors[text], tokens[text], np.ones(len(tokens[text]), np.float32)
                )
                for text in vectors
            }

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = [reading.vector for reading in self.read(texts)]
        return np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32)

    def read(self, texts: Sequence[str]) -> list[TextReading]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        new = dict(zip(missing, self._bundled.read(missing), strict=True))
        return [new[text] if text in new else self._known[text] for text in texts]

    def read_queries(self, texts: Sequence[str], *, closely: bool = False) -> list[TextReading]:
        return self._bundled.read_queries(texts, closely=closely)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.model_cost", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--cache", type=Path, help="where benchmarks.quality keeps vectors")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="with commas between")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--embed", type=int, default=1000, help="tools to embed for the time of it")
    parser.add_argument("--wheel", type=Path, help="a wheel, for its size")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    parser.add_argument("--numpy", action="store_true", help="run the model on numpy")
    parser.add_argument("--before", type=Path, help="a checkout to measure the model of, in turns")
    said = parser.parse_args(arguments)
    if said.numpy:
        onnx.PACKAGE = "no package"
    try:
        [suite] = [each.load() for each in find_sets(_folder(said.bench_dir), ["mcp_big"]).sets]
        if said.before:
            print(_beside(suite.tools, [*suite.cases.values()], said.before, said.embed))
            return
        memory = _memory()
        with kept_vectors(said.cache) as cache:
            queries = [case.query for case in suite.cases.values()]
            asked = Random(SEED).sample(queries, min(len(queries), said.queries + WARM_UP))
            times = {size: _timed(suite.tools, size, asked, cache) for size in said.sizes}
        lines = [*memory, _embedding(suite.tools, said.embed), *_wheel(said.wheel)]
        text = "\n\n".join((_search_table(times), "\n".join(f"- {line}" for line in lines)))
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))


def _beside(
    tools: Mapping[str, EvalTool], cases: Sequence[EvalCase], before: Path, count: int
) -> str:
    """The model of another checkout and ours, in turns; the median of each figure."""
    asked = [case.query for case in cases[:QUERIES]]
    texts = [document_of(t.info(), bare=t.name).text for t in islice(tools.values(), count)]
    given = json.dumps([asked, texts, onnx.PACKAGE])
    places = {"before": before, "now": Path(__file__).parents[1]}
    turns: dict[str, list[list[float]]] = {name: [] for name in places}
    for _ in range(TURNS):
        for name, place in places.items():
            turns[name].append(_alone(place, given))
    rows = [
        [name, *(f"{median(each):.1f}" for each in zip(*runs, strict=True))]
        for name, runs in turns.items()
    ]
    head = ["the model alone, CPU", ">first query, ms", ">a query, ms", ">10,000 tools, s", ">MB"]
    return table(head, rows)


def _alone(checkout: Path, given: str) -> list[float]:
    command = [str(checkout / ".venv/bin/python"), "-c", ALONE]
    done = subprocess.run(  # noqa: S603 - our own lines, in a checkout that we are given
        command, cwd=checkout, input=given, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _folder(said: Path | None) -> Path:
    return bench_dir(said, os.environ)


def _sizes(said: str) -> tuple[int, ...]:
    return tuple(map(int, said.split(",")))


def _timed(
    tools: Mapping[str, EvalTool], size: int, asked: Sequence[str], cache: VectorCache
) -> Times:
    """The CPU seconds of every query, by system."""
    print(f"{size:,} tools", file=sys.stderr)
    some = dict(islice(tools.items(), size))
    kept = ToolsKept(cache, [document_of(t.info(), bare=t.name).text for t in some.values()])
    bundled = Settings(store=":memory:", embed=EmbedSettings(embedder="bundled"))
    with (
        own_state(),
        Crib(bundled, embedder=kept) as model,
        Crib(Settings(store=":memory:", embed=WORDS)) as words,
    ):
        for crib in (model, words):
            crib.add_source(*servers(some))
        plain = PlainFts5(some)
        systems: dict[str, Callable[[str], object]] = {
            "with the model, a new query": lambda text: model.search(text, limit=LIMIT),
            "with the model, asked again": lambda text: model.search(text, limit=LIMIT),
            "by words alone": lambda text: words.search(text, limit=LIMIT),
            "plain FTS5, one lookup": lambda text: plain.search(text, LIMIT),
        }
        return _in_turns(systems, asked)


def _in_turns(systems: Mapping[str, Callable[[str], object]], asked: Sequence[str]) -> Times:
    first = min(WARM_UP, len(asked) // 2)
    for query in asked[:first]:
        for search in systems.values():
            search(query)
    times: dict[str, list[float]] = {name: [] for name in systems}
    for start in range(first, len(asked), BLOCK):
        for name, search in systems.items():
            for query in asked[start : start + BLOCK]:
                before = process_time()
                search(query)
                times[name].append(process_time() - before)
    return times


def _search_table(times: Mapping[int, Times]) -> str:
    names = list(next(iter(times.values())))
    rows = [[name, *(_cell(each[name]) for each in times.values())] for name in names]
    head = ["one search, CPU ms, p50 / p95", *(f">{size:,} tools" for size in times)]
    return table(head, rows)


def _cell(seconds: Sequence[float]) -> str:
    p95 = quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]
    return f"{1000 * median(seconds):.2f} / {1000 * p95:.2f}"


def _memory() -> list[str]:
    """What the model takes in a process that has done nothing else."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_memory_here, (onnx.PACKAGE,))


def _memory_here(package: str) -> list[str]:
    """As it is loaded and has read its first query."""
    onnx.PACKAGE = package
    before = _megabytes()
    BundledEmbedder().read_queries(["how much memory does this take"])
    after = _megabytes()
    runner = "onnxruntime" if find_spec(onnx.PACKAGE) else "numpy"
    return [
        f"Memory on {runner}: {key} {before[key]:.0f} MB before the model is loaded, "
        f"{after[key]:.0f} MB with it and one query read."
        for key in before
    ]


def _megabytes() -> dict[str, float]:
    """Resident and proportional size of this process; nothing where there is no such file."""
    file = Path("/proc/self/smaps_rollup")
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    sizes = {line.split(":")[0]: line.split()[1] for line in lines if line.endswith("kB")}
    return {key.upper(): int(sizes[key]) / 1024 for key in ("Rss", "Pss") if key in sizes}


def _embedding(tools: Mapping[str, EvalTool], count: int) -> str:
    """The time that vectors take, from some tools drawn at random."""
    texts = [document_of(t.info(), bare=t.name).text for t in islice(tools.values(), count)]
    embedder = BundledEmbedder()
    embedder.embed(texts[:1])
    start = process_time()
    embedder.embed(texts)
    seconds = process_time() - start
    whole = seconds * 10_000 / max(len(texts), 1)
    return f"Vectors of {len(texts):,} tools: {seconds:.1f} s of CPU; 10,000 take {whole:.0f} s."


def _wheel(file: Path | None) -> list[str]:
    return [f"The wheel: {file.stat().st_size / 1e6:.1f} MB."] if file else []


if __name__ == "__main__":
    main()
