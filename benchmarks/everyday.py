"""What people type, over real servers: needs covered by split, beside other ways to search.

    python -m benchmarks.everyday --bench-dir DIR [--cache DIR] [--minilm FOLDER] [--set everyday]

A request may have several needs, and each is covered by any tool that serves it. Prints three
tables: every system over all requests, needs covered within 5 by split, and Toolcrib by split with
and without abstention. All are measured in one run over one catalog in a seeded random order.

The server's name belongs to a tool. Toolcrib has it as the source of the tool, as it has it of any
MCP server; the others have it in front of the tool's name, as their users do. `--cache` is that of
`benchmarks.quality`.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.ahead import asked_of_embedder, embed_ahead, kept_vectors
from benchmarks.folder import NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from benchmarks.minilm import MiniLm, NoMiniLm, check_folder
from benchmarks.peer_search import Baseline, peers, prefixed_names
from benchmarks.plain_bm25 import PlainBm25
from benchmarks.plain_fts5 import PlainFts5
from benchmarks.rankings import BM25, BOTH, DEPTH, MINILM, PLAIN, by_baselines
from toolcrib.evaluate import EvalScores, EvalSuite, open_search
from toolcrib.evaluate.cases import EvalCase, EvalTool
from toolcrib.evaluate.evaluation import ranked_ids
from toolcrib.evaluate.measures import score
from toolcrib.search import Search
from toolcrib.settings import EmbedSettings, Settings
from toolcrib.store import VectorCache
from toolcrib.wiring import embedder_of

NAME = "everyday"
OURS, ALWAYS = "Toolcrib", "Toolcrib, never abstaining"
SETTINGS = Settings(store=":memory:", embed=EmbedSettings(embedder="bundled"))
NOTHING = "–"
ALL, ENGLISH, CHINESE = "all", "English", "Chinese"

Ranked = Mapping[str, Sequence[str]]
"""The ranked ids of every request."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The requests of a set, and what every system ranked; None for one that is not there."""

    cases: Sequence[EvalCase]
    rankings: Mapping[str, Ranked | None]

    def scores(self, system: str, group: str) -> EvalScores | None:
        """What a system scores on a split or a group of them."""
        ranked = self.rankings[system]
        if ranked is None:
            return None
        return score((each, ranked[each.id]) for each in self.cases if _is_in(each, group))

    def splits(self, *, answerable: bool = False) -> Sequence[str]:
        """The splits in order, English first; those with answers alone if wanted."""
        some = [each for each in self.cases if each.relevant or not answerable]
        every = dict.fromkeys(each.split for each in some)
        return sorted(every, key=lambda split: split.startswith("zh"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.everyday", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--set", default=NAME, help="another set of the kind")
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--minilm", type=Path, help="measure all-MiniLM-L6-v2 from this folder too")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    try:
        if said.minilm:
            check_folder(said.minilm)
        [one] = find_sets(bench_dir(said.bench_dir, os.environ), [said.set]).sets
        suite = one.load()
        with kept_vectors(said.cache) as vectors:
            text = report(measure(suite, vectors, said.minilm))
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks, NoMiniLm) as error:
        parser.error(str(error))


def measure(suite: EvalSuite, vectors: VectorCache, minilm: Path | None) -> Measured:
    """What every system ranks for every request."""
    cases = list(suite.cases.values())
    asked = [case.query for case in cases]
    others = _others(suite, vectors, minilm, asked)
    with open_search(suite, SETTINGS, vectors) as search:
        if embedder := embedder_of(SETTINGS):
            embed_ahead(embedder, vectors, asked_of_embedder(search, asked))
        never = replace(search, rules=replace(search.rules, abstain=False))
        ours = {name: _by_search(each, cases) for name, each in ((OURS, search), (ALWAYS, never))}
    return Measured(cases, {**ours, **others})


def _others(
    suite: EvalSuite, vectors: VectorCache, minilm: Path | None, asked: Sequence[str]
) -> Mapping[str, Ranked | None]:
    """What the baselines and the peers rank."""
    named = _with_prefix(suite.tools)
    baselines: dict[str, Baseline] = {PLAIN: PlainFts5(named), BM25: PlainBm25(named)}
    if minilm:
        baselines[MINILM] = MiniLm(minilm, vectors, named, asked)
    ranker, cases = by_baselines(baselines), list(suite.cases.values())
    found = [ranker(case, case.query) for case in _told(cases, "baselines")]
    ranked: dict[str, Ranked | None] = {
        name: _by_id(cases, [each[name] for each in found]) if name in found[0] else None
        for name in (PLAIN, BM25, MINILM, BOTH)
    }
    for name, peer in peers(suite.tools).items():
        asked_of = peer.search if peer else None
        ranked[name] = _by_search_of(asked_of, cases, name) if asked_of else None
    return ranked


def _with_prefix(tools: Mapping[str, EvalTool]) -> Mapping[str, EvalTool]:
    """The tools under the names that the peers have."""
    return {id: tools[id].model_copy(update={"name": n}) for n, id in prefixed_names(tools).items()}


def _by_search(search: Search, cases: Sequence[EvalCase]) -> Ranked:
    return {case.id: ranked_ids(search, case, case.query)[:DEPTH] for case in cases}


def _by_search_of(
    search: Callable[[str, int], Sequence[str]], cases: Sequence[EvalCase], name: str
) -> Ranked:
    return _by_id(cases, [search(case.query, DEPTH) for case in _told(cases, name)])


def _by_id(cases: Iterable[EvalCase], rankings: Iterable[Sequence[str]]) -> Ranked:
    pairs = zip(cases, rankings, strict=True)
    return {case.id: ranking[:DEPTH] for case, ranking in pairs}


def _told(cases: Sequence[EvalCase], name: str) -> Iterable[EvalCase]:
    for number, case in enumerate(cases, 1):
        yield case
        if number == len(cases):
            print(f"{name}: {number} requests", file=sys.stderr)


def report(measured: Measured) -> str:
    """All three tables."""
    return "\n\n".join([_overall(measured), _by_split(measured), _ours(measured)])


def _overall(measured: Measured) -> str:
    head = ["over all requests", ">within 1", ">within 5", ">within 10", ">first hit right"]
    head += [">wrongly empty", ">none left empty"]
    lines = [
        [system, *_figures(measured.scores(system, ALL))]
        for system in measured.rankings  # the order in which they were measured
    ]
    return table(head, lines)


def _by_split(measured: Measured) -> str:
    groups = [*measured.splits(answerable=True), ENGLISH, CHINESE, ALL]
    lines: list[list[str]] = []
    for system in measured.rankings:
        every = (measured.scores(system, group) for group in groups)
        lines.append([system, *(_per_cent(each.recall_5 if each else None) for each in every)])
    counts = [
        sum(_is_in(each, group) for each in measured.cases if each.relevant) for group in groups
    ]
    head = ["needs covered within 5", *(f">{group}" for group in groups)]
    return table(head, [["requests", *map(str, counts)], *lines])


def _ours(measured: Measured) -> str:
    head = ["Toolcrib", ">requests", ">within 1", ">within 5", ">within 10", ">first hit right"]
    head += [">never abstaining 1", ">5", ">10", ">wrongly empty", ">none left empty"]
    lines: list[list[str]] = []
    for group in (*measured.splits(), ENGLISH, CHINESE, ALL):
        own, never = (measured.scores(system, group) for system in (OURS, ALWAYS))
        count = str(sum(_is_in(each, group) for each in measured.cases))
        *covered, wrongly, empty = _figures(own)
        lines.append([group, count, *covered, *_figures(never)[:3], wrongly, empty])
    return table(head, lines)


def _figures(scores: EvalScores | None) -> list[str]:
    if scores is None:
        return [NOTHING] * 6
    covered = (scores.recall_1, scores.recall_5, scores.recall_10, scores.hit_1)
    return [*map(_per_cent, covered), _per_cent(scores.wrongly_empty), _per_cent(scores.left_empty)]


def _is_in(case: EvalCase, group: str) -> bool:
    chinese = case.split.startswith("zh")
    return group in (ALL, case.split, CHINESE if chinese else ENGLISH)


def _per_cent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
