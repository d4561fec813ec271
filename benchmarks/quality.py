"""How well search finds what it should, on every benchmark set, beside plain FTS5.

    python -m benchmarks.quality --bench-dir DIR [--sets a,b] [--engine sqlite] [--arms]

Prints one row a set, and rows for its parts where they differ in kind. All figures are per cent
over the answerable queries; the last column is over the others. Toolcrib runs without an embedder
and without the cut, the catalogs are shuffled, and both baselines are measured in the same run.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Literal

from benchmarks.folder import BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from benchmarks.one_arm import OneArm
from benchmarks.plain_fts5 import PlainFts5
from toolcrib.config import EmbedSettings, Settings
from toolcrib.errors import EvalError
from toolcrib.evaluate.cases import Case, Suite
from toolcrib.evaluate.measures import Scores, score
from toolcrib.evaluate.run import run, searching
from toolcrib.search.pipeline import Search

DEPTH = 50
"""How much of a ranking is scored: equivalents fall together, and ten have to be left of them."""

NAME = "quality"
Engine = Literal["memory", "sqlite"]
Embedder = Literal["bundled", "none"]
Ranked = Mapping[str, Sequence[str]]
Rankings = Mapping[str, Ranked]
"""By system, the ranked ids of each query."""


@dataclass(frozen=True, slots=True)
class Row:
    """What each system scores on a set, or on a part of it."""

    name: str
    part: str
    tools: int
    queries: int
    scores: Mapping[str, Scores]

    def recall_5(self, system: str) -> float | None:
        """In per cent."""
        recall = self.scores[system].recall_5
        return None if recall is None else 100 * recall

    def gain(self, system: str, over: str) -> float | None:
        """By how many points of R@5 one system is better than another."""
        ours, theirs = self.recall_5(system), self.recall_5(over)
        return None if ours is None or theirs is None else ours - theirs


@dataclass(frozen=True, slots=True)
class Unusable:
    """A set that could not be measured."""

    name: str
    reason: str


Measured = list[Row] | Unusable


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        found = find_sets(bench_dir(said.bench_dir, os.environ), said.sets)
        for name in found.skipped:
            print(f"{name}: skipped, it has no catalog with queries", file=sys.stderr)
        measured = _measured(found.sets, said)
        text = _report(measured, arms=said.arms)
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
    parser.add_argument("--arms", action="store_true", help="R@5 of each arm alone instead")
    parser.add_argument("--workers", type=int, default=2, help="sets measured at a time")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    return parser


def _names(said: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in said.split(",") if name.strip())


def _measured(sets: Iterable[BenchSet], said: Namespace) -> list[Measured]:
    """What came of each set in the order of their names, the largest measured first."""
    work = partial(_tried, engine=said.engine, embedder=said.embedder, arms=said.arms)
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


def _tried(bench_set: BenchSet, *, engine: Engine, embedder: Embedder, arms: bool) -> Measured:
    try:
        return measure(bench_set, engine=engine, embedder=embedder, arms=arms)
    except EvalError as error:
        return Unusable(bench_set.name, str(error))


def measure(bench_set: BenchSet, *, engine: Engine, embedder: Embedder, arms: bool) -> list[Row]:
    """The row of a set, then those of its parts."""
    suite = bench_set.load()
    rank = _rank_arms if arms else _rank
    embed = EmbedSettings(embedder=embedder)
    with searching(suite, Settings(store=":memory:", index=engine, embed=embed)) as search:
        rankings = rank(suite, search, "query")
        instructed = [case for case in suite.cases.values() if case.instruction]
        by_instruction = rank(_only(suite, instructed), search, "instruction")
    row = partial(_row, bench_set.name, len(suite.tools))
    rows = [row("", suite.cases.values(), rankings)]
    rows += [row(part, cases, rankings) for part, cases in _parts(bench_set.name, suite)]
    if instructed:
        rows.append(row("by instruction", instructed, by_instruction))
    return rows


def _only(suite: Suite, cases: Iterable[Case]) -> Suite:
    return replace(suite, cases={case.id: case for case in cases})


def _rank(suite: Suite, search: Search, text: str) -> Rankings:
    """The rankings of Toolcrib and of both baselines, by this text of each case."""
    return {
        "plain": _baseline(PlainFts5(suite.tools), suite, text),
        "porter": _baseline(PlainFts5(suite.tools, "porter unicode61"), suite, text),
        "toolcrib": _searched(search, suite, text),
    }


def _rank_arms(suite: Suite, search: Search, text: str) -> Rankings:
    """The rankings of each arm alone, of all arms without names and verbs, and of the whole."""
    bare = replace(search, rules=replace(search.rules, exact_name_bonus=0.0, intent_boost=0.0))
    systems = {arm: replace(bare, view=OneArm(search.view, arm)) for arm in search.view.arms}
    systems |= {"fused": bare, "toolcrib": search}
    return {name: _searched(each, suite, text) for name, each in systems.items()}


def _baseline(fts5: PlainFts5, suite: Suite, text: str) -> Ranked:
    asked = attrgetter(text)
    return {case.id: fts5.search(asked(case), DEPTH) for case in suite.cases.values()}


def _searched(search: Search, suite: Suite, text: str) -> Ranked:
    return run(search, suite.cases.values(), limit=DEPTH, text=attrgetter(text)).ranked


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
    return Row(name, part, tools, len(every), scores)


def _report(measured: Iterable[Measured], *, arms: bool) -> str:
    """The table, and the names of the sets that are missing from it."""
    rows = [row for each in measured if not isinstance(each, Unusable) for row in each]
    missing = [each.name for each in measured if isinstance(each, Unusable)]
    parts = [_arms_table(rows) if arms else _table(rows)] if rows else []
    if missing:
        parts.append(f"Not measured, for their files cannot be used: {', '.join(missing)}.")
    return "\n\n".join(parts)


def _table(rows: Sequence[Row]) -> str:
    head = [
        *("set", "part", ">tools", ">queries", ">plain FTS5 R@5", ">FTS5 porter R@5"),
        *(">Toolcrib R@1", ">R@5", ">R@10", ">nDCG@10", ">MRR"),
        *(">R@5 over plain", ">unanswerable left empty"),
    ]
    sets = [row for row in rows if not row.part]
    lines = [_cells(row) for row in rows]
    return "\n\n".join((table(head, [*lines, _mean_cells(sets)]), _verdict(sets)))


def _cells(row: Row) -> list[str]:
    ours = row.scores["toolcrib"]
    quality = (ours.recall_1, ours.recall_5, ours.recall_10, ours.ndcg_10, ours.mrr)
    empty = f"{_per_cent(ours.left_empty)} of {ours.unanswerable}" if ours.unanswerable else ""
    return [
        *_label(row),
        _number(row.recall_5("plain")),
        _number(row.recall_5("porter")),
        *map(_per_cent, quality),
        _signed(row.gain("toolcrib", "plain")),
        empty,
    ]


def _label(row: Row) -> list[str]:
    first = ["", row.part] if row.part else [row.name, "all"]
    return [*first, f"{row.tools:,}", f"{row.queries:,}"]


def _mean_cells(sets: Sequence[Row]) -> list[str]:
    plain, porter, ours = (_mean(sets, name) for name in ("plain", "porter", "toolcrib"))
    gain = f"**{ours - plain:+.1f}**"
    means = [f"**{plain:.1f}**", f"**{porter:.1f}**", "", f"**{ours:.1f}**"]
    return [f"**mean of {len(sets)} sets**", "", "", "", *means, "", "", "", gain, ""]


def _verdict(sets: Sequence[Row]) -> str:
    """The worst set against each baseline, in a sentence each."""
    baselines = {"plain": "plain FTS5", "porter": "FTS5 porter"}
    return "\n".join(f"- {_worst(sets, key, name)}" for key, name in baselines.items())


def _worst(sets: Sequence[Row], baseline: str, name: str) -> str:
    gains = {row.name: row.gain("toolcrib", baseline) for row in sets}
    known = {each: gain for each, gain in gains.items() if gain is not None}
    worst = min(known, key=known.__getitem__)
    lost = sum(gain < 0 for gain in known.values())
    return (
        f"R@5 against {name}: {_mean(sets, 'toolcrib') - _mean(sets, baseline):+.1f} in the mean, "
        f"worst {known[worst]:+.1f} ({worst}), below it on {lost} of {len(known)} sets."
    )


def _arms_table(rows: Sequence[Row]) -> str:
    systems = list(rows[0].scores)
    head = ["set", "part", ">tools", ">queries", *(f">{name} R@5" for name in systems)]
    sets = [row for row in rows if not row.part]
    means = [f"**{_mean(sets, name):.1f}**" for name in systems]
    lines = [[*_label(row), *(_number(row.recall_5(name)) for name in systems)] for row in rows]
    return table(head, [*lines, [f"**mean of {len(sets)} sets**", "", "", "", *means]])


def _mean(sets: Iterable[Row], system: str) -> float:
    recalls = [recall for row in sets if (recall := row.recall_5(system)) is not None]
    return fmean(recalls) if recalls else 0.0


def _per_cent(share: float | None) -> str:
    return _number(None if share is None else 100 * share)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.1f}"


if __name__ == "__main__":
    main()
