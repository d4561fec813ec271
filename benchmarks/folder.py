"""The folder of benchmark sets: where it is said to be, and what lies in it.

A set is a folder with `catalog.jsonl` and `queries.jsonl` in the format of `toolcrib eval`. The
sets are other people's work and no part of this repository: a benchmark reads them where they are.
"""

from argparse import ArgumentParser
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.held_out import held_out
from toolcrib.evaluate import EvalSuite, load_suite
from toolcrib.evaluate.cases import EvalCase

VARIABLE = "TOOLCRIB_BENCH_DIR"
SEED = 11
CATALOG_OF = {"mcp_big_names": "mcp_big"}
"""The sets whose queries are for the catalog of another."""
LEARNED = {("metatool", "train"), ("sealtools", "dev")}
"""Sets and splits that the bundled model has learned from, but for what was held out."""


class NoBench(Exception):
    """The sets are not there; the message says what to do."""


@dataclass(frozen=True, slots=True)
class BenchSet:
    """A set by its name, and its two files."""

    name: str
    catalog: Path
    queries: Path

    def load(self) -> EvalSuite:
        """The set, its catalog in a seeded random order: what comes first there tells nothing.

        Without the queries that the last stage of the bundled model has learned from.
        """
        suite = load_suite(self.catalog, self.queries)
        tools = list(suite.tools.items())
        Random(SEED).shuffle(tools)
        cases = {id: case for id, case in suite.cases.items() if self._is_new(case)}
        return replace(suite, tools=dict(tools), cases=cases)

    def _is_new(self, case: EvalCase) -> bool:
        return (self.name, case.split) not in LEARNED or held_out(case.query)


class Found(NamedTuple):
    """The sets of a folder in order of name, and the folders in it that are none."""

    sets: tuple[BenchSet, ...]
    skipped: tuple[str, ...]


def add_bench_dir(parser: ArgumentParser) -> None:
    """Let a benchmark be told where the sets are."""
    parser.add_argument(
        "--bench-dir", type=Path, help=f"the folder of benchmark sets; else {VARIABLE}"
    )


def bench_dir(said: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that was said, or that the environment names. Raises `NoBench`."""
    named = said or (Path(environ[VARIABLE]) if environ.get(VARIABLE) else None)
    if named is None:
        raise NoBench(f"no benchmark sets: name their folder by --bench-dir or {VARIABLE}")
    if not named.is_dir():
        raise NoBench(f"no benchmark sets: there is no folder {named}")
    return named


def find_sets(folder: Path, wanted: Collection[str] = ()) -> Found:
    """The sets in a folder, all or those wanted. Raises `NoBench` where there is none."""
    folders = sorted(path for path in folder.iterdir() if path.is_dir())
    sets = [found for path in folders if (found := _set(path))]
    chosen = tuple(each for each in sets if not wanted or each.name in wanted)
    if missing := sorted({*wanted} - {each.name for each in chosen}):
        there = ", ".join(each.name for each in sets) or "none"
        raise NoBench(f"no set {missing[0]!r} in {folder}; there are: {there}")
    if not chosen:
        raise NoBench(f"no set in {folder}: a set has a catalog.jsonl and a queries.jsonl")
    names = {each.name for each in sets}
    return Found(chosen, tuple(path.name for path in folders if path.name not in names))


def _set(path: Path) -> BenchSet | None:
    catalog = path.parent / CATALOG_OF.get(path.name, path.name) / "catalog.jsonl"
    queries = path / "queries.jsonl"
    return BenchSet(path.name, catalog, queries) if catalog.exists() and queries.exists() else None
