"""The rows of one set: what each system scores on all of it, and on its parts.

Toolcrib's own and the baselines are measured apart: what the baselines score stays as it is while
Toolcrib changes, and plain FTS5 alone takes as long as all of ours.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Literal, get_args

from benchmarks.ahead import asked_of_embedder, embed_ahead, kept_vectors
from benchmarks.folder import SEED, BenchSet
from benchmarks.minilm import MiniLm
from benchmarks.peer_search import Baseline
from benchmarks.plain_bm25 import PlainBm25
from benchmarks.plain_fts5 import PlainFts5
from benchmarks.quality_table import Row
from benchmarks.rankings import (
    BM25,
    MINILM,
    PLAIN,
    Ranker,
    Rankings,
    by_baselines,
    by_systems,
    rank,
)
from toolcrib.evaluate import EvalSuite, open_search
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.measures import counted, score
from toolcrib.settings import Settings
from toolcrib.store import VectorCache
from toolcrib.wiring import embedder_of

Side = Literal["ours", "baselines"]
SIDES: tuple[Side, ...] = get_args(Side)


@dataclass(frozen=True, slots=True)
class Way:
    """How sets are measured."""

    settings: Settings
    most: int = 0
    cache: Path | None = None
    minilm: Path | None = None


def measure(bench_set: BenchSet, way: Way, side: Side) -> list[Row]:
    """The row of a set, then those of its parts."""
    suite = _drawn(bench_set.load(), way.most)
    every = list(suite.cases.values())
    instructed = [case for case in every if case.instruction]
    asked = [*(case.query for case in every), *(case.instruction for case in instructed)]
    with kept_vectors(way.cache) as cache, RANKERS[side](suite, way, cache, asked) as ranker:
        rankings = rank(every, ranker)
        by_instruction = rank(instructed, ranker, "instruction")
    row = partial(_row, bench_set.name, len(suite.tools))
    rows = [row("", every, rankings)]
    rows += [row(part, cases, rankings) for part, cases in _parts(bench_set.name, suite)]
    if instructed:
        rows.append(row("by instruction", instructed, by_instruction))
    return rows


@contextmanager
def _ours(
    suite: EvalSuite, way: Way, cache: VectorCache, asked: Sequence[str]
) -> Generator[Ranker]:
    """Toolcrib, with the vectors of all that its search will ask the embedder."""
    with open_search(suite, way.settings, cache) as search:
        if embedder := embedder_of(way.settings):
            embed_ahead(embedder, cache, asked_of_embedder(search, asked))
        yield by_systems(search)


@contextmanager
def _baselines(
    suite: EvalSuite, way: Way, cache: VectorCache, asked: Sequence[str]
) -> Generator[Ranker]:
    tools = suite.tools
    baselines: dict[str, Baseline] = {PLAIN: PlainFts5(tools), BM25: PlainBm25(tools)}
    if way.minilm:
        baselines[MINILM] = MiniLm(way.minilm, cache, tools, asked)
    yield by_baselines(baselines)


Opened = Callable[[EvalSuite, Way, VectorCache, Sequence[str]], AbstractContextManager[Ranker]]
RANKERS: Mapping[Side, Opened] = {"ours": _ours, "baselines": _baselines}


def _drawn(suite: EvalSuite, most: int) -> EvalSuite:
    """The suite with so many of its queries at most, drawn by a seed."""
    every = list(suite.cases.values())
    if not most or len(every) <= most:
        return suite
    drawn = Random(SEED).sample(every, most)
    return replace(suite, cases={case.id: case for case in drawn})


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


def _parts(name: str, suite: EvalSuite) -> Iterator[tuple[str, list[EvalCase]]]:
    if part_of := PARTS.get(name):
        parts = dict.fromkeys(part_of(case.split) for case in suite.cases.values())
        for part in parts:
            yield part, [case for case in suite.cases.values() if part_of(case.split) == part]


def _row(name: str, tools: int, part: str, cases: Iterable[EvalCase], rankings: Rankings) -> Row:
    every = list(cases)
    scores = {
        system: score((case, ranked[case.id]) for case in every)
        for system, ranked in rankings.items()
    }
    hits = {system: _hit_1(every, ranked) for system, ranked in rankings.items()}
    return Row(name, part, tools, len(every), scores, hits)


def _hit_1(cases: Iterable[EvalCase], ranked: Mapping[str, Sequence[str]]) -> float | None:
    firsts = [
        any(id in case.relevant for id in counted(case, ranked[case.id])[:1])
        for case in cases
        if case.relevant
    ]
    return fmean(firsts) if firsts else None
