"""Toolcrib beside what people would pick instead.

    make compare BENCH_DIR=DIR
    python -m benchmarks.compare --bench-dir DIR [--sizes 100,1000] [--sets everyday,metatool]
                                 [--systems Haystack] [--again]

Every figure is measured by a process of its own, one after the other, and kept in
docs/compare.json at once: a run that was stopped goes on where it was. What was measured of the
same version is not measured again, but with `--again`. Writes the tables of docs/compare.md, of
README.md, and docs/compare.svg.
"""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path

from benchmarks.compare.cells import MOST_SECONDS, Cell, Kept, measure
from benchmarks.compare.chart import drawn
from benchmarks.compare.child import EMBEDDER
from benchmarks.compare.report import (
    cost_table,
    embedder_line,
    empty_table,
    quality_table,
    summary,
    versions_line,
)
from benchmarks.compare.systems import SYSTEMS, versions
from benchmarks.folder import VARIABLE, NoBench, add_bench_dir, bench_dir
from benchmarks.markdown import put

DOCS = Path(__file__).parents[2] / "docs"
SIZES = (100, 1_000, 10_000)
SETS = ("everyday", "azure_mcp_2025", "mcpproxy_golden", "metatool", "toolret_sub")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers of tools")
    parser.add_argument("--sets", default=",".join(SETS), help="the sets whose requests are asked")
    parser.add_argument("--systems", default="", help="those whose name has one of these words")
    parser.add_argument("--again", action="store_true", help="measure what is there already, too")
    parser.add_argument("--draw", action="store_true", help="only make the page anew")
    parser.add_argument("--most-seconds", type=int, default=MOST_SECONDS, help="for one figure")
    said = parser.parse_args(arguments)
    kept = Kept.read(DOCS / "compare.json")
    try:
        if not said.draw:
            os.environ[VARIABLE] = str(bench_dir(said.bench_dir, os.environ))
            _measure_all(said, kept)
    except NoBench as error:
        parser.error(str(error))
    write(kept)


def _measure_all(said: Namespace, kept: Kept) -> None:
    installed = {**versions(), EMBEDDER: "0.1.0"}
    for cell in _cells(said):
        version = installed[cell.package]
        if said.again or not kept.has(cell, version):
            figures = measure(cell, said.most_seconds)
            kept.keep(cell, version, figures)
            print(cell, figures, file=sys.stderr, flush=True)


def _cells(said: Namespace) -> Sequence[Cell]:
    """Those of one set or size together, so that they are measured in the same hour."""
    words = [word for word in said.systems.lower().split(",") if word]
    names = [name for name in SYSTEMS if not words or any(word in name.lower() for word in words)]
    sets, sizes = said.sets.split(","), said.sizes.split(",")
    return [
        *([] if words else [Cell(EMBEDDER, "cost", sizes[0])]),
        *(Cell(name, "cost", size) for size in sizes if size for name in names),
        *(Cell(name, "find", each) for each in sets if each for name in names),
    ]


def write(kept: Kept) -> None:
    """The tables and the picture of the page."""
    page = DOCS / "compare.md"
    put(page, "versions", versions_line(kept))
    put(page, "quality", quality_table(kept))
    put(page, "empty", empty_table(kept))
    put(page, "cost", cost_table(kept))
    put(page, "embedder", embedder_line(kept))
    put(DOCS.parent / "README.md", "compare", summary(kept))
    (DOCS / "compare.svg").write_text(drawn(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
