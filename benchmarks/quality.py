"""How well search finds what it should, on every benchmark set, beside what others would find.

    python -m benchmarks.quality --bench-dir DIR [--sets a,b] [--cache DIR] [--minilm FOLDER]

Prints two tables, R@5 in per cent over the answerable queries: Toolcrib beside plain FTS5, BM25,
MiniLM and the fusion of those two, all measured in the same run; and its arms alone. A row a set,
and rows for its parts where they differ in kind. Catalogs are shuffled, rankings are not cut.

With `--cache` vectors are made once, and each set is written there as soon as it is measured:
`--resume` takes what is there, so that a run that was stopped goes on.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean

from benchmarks.ahead import asked_of_embedder, embed_ahead, kept_vectors
from benchmarks.folder import SEED, BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put
from benchmarks.minilm import MiniLm
from benchmarks.plain_bm25 import PlainBm25
from benchmarks.plain_fts5 import PlainFts5
from benchmarks.quality_table import ROWS, Row, report
from benchmarks.rankings import BM25, MINILM, PLAIN, Baseline, Rankings, rank
from toolcrib.by_settings import embedder_of
from toolcrib.config import Settings
from toolcrib.errors import EvalError
from toolcrib.evaluate.cases import Case, Suite
from toolcrib.evaluate.measures import counted, score
from toolcrib.evaluate.run import searching
from toolcrib.sections import EmbedSettings
from toolcrib.store.protocol import VectorCache

NAME = "quality"
MOST = 2_000
"""So many queries of a set are drawn, by a seed."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A set that could not be measured."""

    name: str
    reason: str


Measured = list[Row] | Unusable


@dataclass(frozen=True, slots=True)
class Way:
    """How sets are measured."""

    settings: Settings
    most: int = 0
    cache: Path | None = None
    minilm: Path | None = None
    resume: bool = False


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        found = find_sets(bench_dir(said.bench_dir, os.environ), said.sets)
        for name in found.skipped:
            print(f"{name}: skipped, it has no catalog with queries", file=sys.stderr)
        measured = _measured(found.sets, said)
        text = _report(measured)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))
    if any(isinstance(each, Unusable) for each in measured):
        sys.exit(1)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--sets", type=_names, default=(), help="only these, with commas between")
    parser.add_argument("--engine", choices=["memory", "sqlite"], default="memory")
    parser.add_argument("--embedder", choices=["bundled", "none"], default="bundled")
    parser.add_argument("--most", type=int, default=MOST, help="queries of a set; 0 for all")
    parser.add_argument("--minilm", type=Path, help="the folder of all-MiniLM-L6-v2, to compare")
    parser.add_argument("--cache", type=Path, help="keep vectors and results in this folder")
    parser.add_argument("--resume", action="store_true", help="take results from the cache")
    parser.add_argument("--workers", type=int, default=2, help="sets measured at a time")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    return parser


def _names(said: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in said.split(",") if name.strip())


def _measured(sets: Iterable[BenchSet], said: Namespace) -> list[Measured]:
    """What came of each set in the order of their names, the largest measured first."""
    embed = EmbedSettings(embedder=said.embedder)
    settings = Settings(store=":memory:", index=said.engine, embed=embed)
    work = partial(_tried, way=Way(settings, said.most, said.cache, said.minilm, said.resume))
    by_size = sorted(sets, key=lambda each: each.queries.stat().st_size, reverse=True)
    if said.workers == 1:
        return _in_order(map(work, by_size))
    with ProcessPoolExecutor(said.workers, mp_context=get_context("spawn")) as pool:
        return _in_order(pool.map(work, by_size))


def _in_order(results: Iterable[Measured]) -> list[Measured]:
    done: dict[str, Measured] = {}
    for each in results:
        name = each.name if isinstance(each, Unusable) else each[0].name
        said = each.reason if isinstance(each, Unusable) else f"{each[0].queries:,} queries"
        print(f"{name}: {said}", file=sys.stderr)
        done[name] = each
    return [each for _, each in sorted(done.items())]


def _tried(bench_set: BenchSet, way: Way) -> Measured:
    result = way.cache / f"{bench_set.name}.json" if way.cache else None
    if result and way.resume and result.exists():
        return ROWS.validate_json(result.read_bytes())
    try:
        rows = measure(bench_set, way)
    except EvalError as error:
        return Unusable(bench_set.name, str(error))
    if result:
        result.write_bytes(ROWS.dump_json(rows))
    return rows


def measure(bench_set: BenchSet, way: Way) -> list[Row]:
    """The row of a set, then those of its parts."""
    suite = _drawn(bench_set.load(), way.most)
    instructed = [case for case in suite.cases.values() if case.instruction]
    asked = [*(case.query for case in suite.cases.values()), *(c.instruction for c in instructed)]
    with kept_vectors(way.cache) as cache:
        _embed_queries(suite, way.settings, cache, asked)
        baselines = _baselines(suite, way.minilm, cache, asked)
        with searching(suite, way.settings, cache) as search:
            rankings = rank(suite, search, baselines)
            by_instruction = rank(_only(suite, instructed), search, baselines, "instruction")
    row = partial(_row, bench_set.name, len(suite.tools))
    rows = [row("", suite.cases.values(), rankings)]
    rows += [row(part, cases, rankings) for part, cases in _parts(bench_set.name, suite)]
    if instructed:
        rows.append(row("by instruction", instructed, by_instruction))
    return rows


def _embed_queries(
    suite: Suite, settings: Settings, cache: VectorCache, asked: Iterable[str]
) -> None:
    """Have the vectors of all that a search will ask the embedder."""
    if embedder := embedder_of(settings):
        wordless = Settings(store=":memory:", embed=EmbedSettings(embedder="none"))
        with searching(suite, wordless) as search:
            embed_ahead(embedder, cache, asked_of_embedder(search, asked))


def _baselines(
    suite: Suite, minilm: Path | None, cache: VectorCache, asked: Iterable[str]
) -> Mapping[str, Baseline]:
    by_words: dict[str, Baseline] = {PLAIN: PlainFts5(suite.tools), BM25: PlainBm25(suite.tools)}
    if minilm is None:
        return by_words
    return by_words | {MINILM: MiniLm(minilm, cache, suite.tools, asked)}


def _drawn(suite: Suite, most: int) -> Suite:
    """The suite with so many of its queries at most, drawn by a seed."""
    every = list(suite.cases.values())
    if not most or len(every) <= most:
        return suite
    return _only(suite, Random(SEED).sample(every, most))


def _only(suite: Suite, cases: Iterable[Case]) -> Suite:
    return replace(suite, cases={case.id: case for case in cases})


def _bfcl_part(split: str) -> str:
    if split.startswith("multi_turn"):
        return "multi-turn"
    return "live" if split.startswith("live") else "non-live"


PARTS: Mapping[str, Callable[[str], str]] = {
    "bfcl": _bfcl_part,
    "mcp_big": str,
    "mcp_big_names": str,
    "metatool": lambda split: "no_tool" if split == "no_tool" else "single",
    "sealtools": str,
    "stabletoolbench": lambda split: split[:2],
    "ultratool_en": str,
    "ultratool_en2zh": str,
    "ultratool_zh": str,
    "ultratool_zh2en": str,
}
"""The sets whose splits differ in kind, and the part that a split belongs to."""


def _parts(name: str, suite: Suite) -> Iterator[tuple[str, list[Case]]]:
    if part_of := PARTS.get(name):
        parts = dict.fromkeys(part_of(case.split) for case in suite.cases.values())
        for part in parts:
            yield part, [case for case in suite.cases.values() if part_of(case.split) == part]


def _row(name: str, tools: int, part: str, cases: Iterable[Case], rankings: Rankings) -> Row:
    every = list(cases)
    scores = {
        system: score((case, ranked[case.id]) for case in every)
        for system, ranked in rankings.items()
    }
    hits = {system: _hit_1(every, ranked) for system, ranked in rankings.items()}
    return Row(name, part, tools, len(every), scores, hits)


def _hit_1(cases: Iterable[Case], ranked: Mapping[str, Sequence[str]]) -> float | None:
    firsts = [
        any(id in case.relevant for id in counted(case, ranked[case.id])[:1])
        for case in cases
        if case.relevant
    ]
    return fmean(firsts) if firsts else None


def _report(measured: Iterable[Measured]) -> str:
    """The tables, and the names of the sets that are missing from them."""
    rows = [row for each in measured if not isinstance(each, Unusable) for row in each]
    missing = [each.name for each in measured if isinstance(each, Unusable)]
    parts = [report(rows)] if rows else []
    if missing:
        parts.append(f"Not measured, for their files cannot be used: {', '.join(missing)}.")
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
