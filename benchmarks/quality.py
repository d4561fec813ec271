"""How well search finds what it should, on every benchmark set, beside what others would find.

    python -m benchmarks.quality --bench-dir DIR [--sets a,b] [--cache DIR] [--minilm FOLDER]

Prints two tables, R@5 in per cent over the answerable queries: Toolcrib beside plain FTS5, BM25,
MiniLM and the fusion of those two, all measured in the same run; and its arms alone. A row a set,
and rows for its parts where they differ in kind. Catalogs are shuffled, rankings are not cut.

With `--cache` vectors are made once, and each set is written there as soon as it is measured:
`--resume` takes what is there, so that a run that was stopped goes on, and `--resume baselines`
takes what the others scored and measures Toolcrib anew.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

from benchmarks.folder import BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put
from benchmarks.minilm import NoMiniLm, check_folder
from benchmarks.quality_rows import SIDES, Side, Way, measure
from benchmarks.quality_table import ROWS, Mixed, Row, joined, report
from benchmarks.rankings import MINILM
from toolcrib.errors import EmbedError, EvalError
from toolcrib.settings import EmbedSettings, Settings

NAME = "quality"
MOST = 2_000
"""So many queries of a set are drawn, by a seed."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """A set that could not be measured."""

    name: str
    reason: str


Measured = list[Row] | Unusable
Resume = Literal["all", "baselines"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        if said.minilm:
            check_folder(said.minilm)
        found = find_sets(bench_dir(said.bench_dir, os.environ), said.sets)
        for name in found.skipped:
            print(f"{name}: skipped, it has no catalog with queries", file=sys.stderr)
        measured = _measured(found.sets, said)
        text = _report(measured)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks, NoMiniLm, EmbedError) as error:
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
    parser.add_argument(
        "--resume",
        nargs="?",
        const="all",
        choices=["all", "baselines"],
        help="take results from the cache: all, or those of the baselines",
    )
    parser.add_argument("--workers", type=int, default=2, help="sets measured at a time")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    return parser


def _names(said: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in said.split(",") if name.strip())


def _measured(sets: Iterable[BenchSet], said: Namespace) -> list[Measured]:
    """What came of each set in the order of their names, the largest measured first."""
    embed = EmbedSettings(embedder=said.embedder)
    settings = Settings(store=":memory:", index=said.engine, embed=embed)
    way = Way(settings, said.most, said.cache, said.minilm)
    work = partial(_tried, way=way, resume=said.resume)
    by_size = sorted(sets, key=_size, reverse=True)
    if said.workers == 1:
        return _in_order(map(work, by_size))
    with ProcessPoolExecutor(said.workers, mp_context=get_context("spawn")) as pool:
        return _in_order(pool.map(work, by_size))


def _size(bench_set: BenchSet) -> int:
    return bench_set.catalog.stat().st_size + bench_set.queries.stat().st_size


def _in_order(results: Iterable[Measured]) -> list[Measured]:
    done: dict[str, Measured] = {}
    for each in results:
        name = each.name if isinstance(each, Unusable) else each[0].name
        said = each.reason if isinstance(each, Unusable) else f"{each[0].queries:,} queries"
        print(f"{name}: {said}", file=sys.stderr)
        done[name] = each
    return [each for _, each in sorted(done.items())]


def _tried(bench_set: BenchSet, way: Way, resume: Resume | None) -> Measured:
    try:
        ours, baselines = (_rows(bench_set, way, side, resume) for side in SIDES)
        return joined(ours, baselines)
    except (EvalError, Mixed) as error:
        return Unusable(bench_set.name, str(error))


def _rows(bench_set: BenchSet, way: Way, side: Side, resume: Resume | None) -> list[Row]:
    """What the cache has, if it is to be taken and MiniLM is in it where that is wanted."""
    place = way.cache / f"{bench_set.name}.{side}.json" if way.cache else None
    if place and resume in ("all", side) and place.exists():
        rows = ROWS.validate_json(place.read_bytes())
        if side == "ours" or not way.minilm or MINILM in rows[0].scores:
            return rows
    rows = measure(bench_set, way, side)
    if place:
        place.write_bytes(ROWS.dump_json(rows))
    return rows


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
