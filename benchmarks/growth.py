"""How Toolcrib grows with its tools: start, memory, search, a change; beside an earlier checkout.

    python -m benchmarks.growth --before FOLDER [--sizes 1000,10000,100000,1000000] [--turns 3]

`--before` names a checkout with a `.venv` of its own. Every figure is of a fresh process with a
home of its own, in which the checkout itself has put down what the MCP servers list; the checkouts
take turns. Tools are those of `mcp_big`; beyond its 17,742 they are varied: other names, and three
of ten words of the descriptions are others. Vectors are made up, because those of the model would
take hours; with `--model` a size is measured with the model too.

CPU time, medians of the turns. A process that takes more than `--most-s` of CPU or `--most-gb` of
memory is ended, and the table says so. `--results` keeps the figures in a file: a later run adds
other sizes to them.
"""

import os
import shutil
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import growth_peers
from benchmarks.checkout import BEFORE, NOW, Checkout, Limits, this_checkout
from benchmarks.folder import SEED, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.growth_chart import drawn
from benchmarks.growth_report import MADE_UP, MODEL, WORDS, Growth, report
from benchmarks.home import Home, Unusable
from benchmarks.many_tools import Listing, Tool, listings, read_tools
from benchmarks.markdown import NoMarks, put

NAME = "growth"
CATALOG, NAMES = "mcp_big", "mcp_big_names"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
CHILD = Path(__file__).with_name("growth_child.py")

SETTINGS = {WORDS: '[embed]\nembedder = "none"\n', MADE_UP: "", MODEL: ""}
CHANGED = 5
"""So many servers list one tool more, one after the other."""
SCOPE = 1_000
WARM_UP = 20
BATCH = 20_000
"""So many tools a process puts down: what it holds of them goes when it ends."""
STAGE = 250_000
"""So many tools a first start takes in at most: beyond that there are several."""
PEER_MOST = 10_000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = _parser()
    said = parser.parse_args(arguments)
    try:
        growth = _measured(said)
        text = report(growth)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks, Unusable) as error:
        parser.error(str(error))
    if said.svg:
        said.svg.write_text(drawn(growth), encoding="utf-8")


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--before", type=Path, help="an earlier checkout, with its own .venv")
    parser.add_argument("--only", choices=["", BEFORE, NOW], default="", help="one of the two")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, help="with commas between")
    parser.add_argument("--model", type=_sizes, default=(), help="sizes to measure with the model")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--most-s", type=int, default=600, help="CPU seconds of a process")
    parser.add_argument("--most-gb", type=float, default=8, help="memory of a process")
    parser.add_argument("--work", type=Path, help="make the homes in this folder")
    parser.add_argument("--results", type=Path, help="keep the figures in this file")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    parser.add_argument("--svg", type=Path, help="draw the curves into this file")
    return parser


def _sizes(said: str) -> tuple[int, ...]:
    return tuple(map(int, filter(None, said.split(","))))


def _measured(said: Namespace) -> Growth:
    """The figures of every size; those of this run stand in place of earlier ones."""
    folder = bench_dir(said.bench_dir, os.environ)
    tools = read_tools(find_sets(folder, [CATALOG]).sets[0].catalog)
    queries = read_queries(folder, said.queries)
    growth = Growth.read(said.results)
    limits = Limits(said.most_s, said.most_gb)
    checkouts = [this_checkout(limits)]
    if said.before:
        checkouts.insert(0, Checkout.at(BEFORE, said.before, limits))
    checkouts = [each for each in checkouts if said.only in ("", each.name)]
    for size in said.sizes:
        with work_folder(said.work) as work:
            run = Run(work, size, tools, queries, growth, said.turns, checkouts)
            run.measure([WORDS, MADE_UP])
            if size in said.model:
                run.measure([MODEL])
            if size <= PEER_MOST and said.only != BEFORE:
                growth_peers.measure(run.listings, queries, growth, size, limits)
        growth.write(said.results)
    return growth


@contextmanager
def work_folder(said: Path | None) -> Generator[Path]:
    """A folder for homes, in the one that was said; it is gone afterwards."""
    if said:
        said.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=said, prefix="growth") as folder:
        yield Path(folder)


def read_queries(folder: Path, most: int) -> list[str]:
    """So many queries of both sets, in random order."""
    suites = [each.load() for each in find_sets(folder, [CATALOG, NAMES]).sets]
    every = [case.query for suite in suites for case in suite.cases.values()]
    Random(SEED).shuffle(every)
    return every[:most]


class Run:
    """The measurement of all checkouts at one size."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a run is
        self,
        work: Path,
        size: int,
        tools: Sequence[Tool],
        queries: Sequence[str],
        growth: Growth,
        turns: int,
        checkouts: Sequence[Checkout],
    ) -> None:
        self.work, self.size, self.growth, self.turns = work, size, growth, turns
        self.checkouts = checkouts
        self._tools = tools
        sizes = {each.name: len(each.tools) for each in self.listings}
        self._firsts = list(accumulate(sizes.values(), initial=0))[:-1]
        self._servers = {
            name: {"command": "no-such-server", "args": [name], **_trust(place)}
            for place, name in enumerate(sizes)
        }
        first = [each.json() for _, each in zip(range(CHANGED), self.listings, strict=False)]
        warm_up = min(WARM_UP, len(queries) // 2)
        self.request = {
            "warm_up": queries[:warm_up],
            "queries": queries[warm_up:],
            "changed": first,
            "scope": self._scope(),
        }

    @property
    def listings(self) -> Iterator[Listing]:
        """What every server lists: the same each time, and never all of it in memory."""
        return listings(self._tools, self.size)

    def measure(self, modes: Sequence[str]) -> None:
        """Every checkout in turns: its starts first, what changes something last."""
        for checkout in self.checkouts:
            self.growth.forget(self.size, checkout.name, modes)
            self.prepare(checkout, modes)
        for task in ("start", "change"):
            for _ in range(self.turns):
                for checkout in self.checkouts:
                    for mode in modes:
                        self._run(checkout, mode, task)
        for checkout in self.checkouts:
            for mode in modes:
                shutil.rmtree(self.home(checkout, mode).folder, ignore_errors=True)

    def prepare(self, checkout: Checkout, modes: Sequence[str]) -> None:
        """Homes that know what their servers list, each as a first start leaves it."""
        listed = Home(self.work / f"{checkout.name}-listed")
        failure = self._list(checkout, listed)
        for mode in modes:
            if failure:  # what comes after words takes more
                self.growth.at(self.size, checkout.name).fail(mode, "settle", failure)
                continue
            shutil.copytree(listed.folder, self.home(checkout, mode).folder, symlinks=True)
            failure = self._settle(checkout, mode)
        shutil.rmtree(listed.folder)

    def _settle(self, checkout: Checkout, mode: str) -> str:
        """Start for the first time; with very many tools, with more of them each time."""
        names = list(self._servers)
        for most in range(STAGE, self.size + STAGE, STAGE):
            seen = sum(1 for first in self._firsts if first < most)
            some = {name: self._servers[name] for name in names[:seen]}
            self.home(checkout, mode).configure(SETTINGS[mode], some)
            if failure := self._run(checkout, mode, "settle"):
                return failure
        return ""

    def _list(self, checkout: Checkout, home: Home) -> str:
        """Put down what the servers list; the limit that this went beyond, if it did."""
        home.configure("", self._servers)
        for batch in _batches(self.listings):
            request = {"task": "list", "servers": self._servers, "listings": batch}
            if failure := checkout.child(CHILD, home, request).failure:
                return failure
        return ""

    def _run(self, checkout: Checkout, mode: str, task: str) -> str:
        """One process; the limit that it went beyond, if it did. It is not tried again then."""
        place = self.growth.at(self.size, checkout.name)
        if place.has_failed(mode, task):
            return ""
        request = {**self.request, "task": task, "made_up": mode == MADE_UP}
        figures, failure = checkout.child(CHILD, self.home(checkout, mode), request)
        place.add(mode, figures)
        if failure:
            place.fail(mode, task, failure)
        said = {name: round(value, 4) for name, value in figures.items()}
        print(f"{self.size:,} {checkout.name} {mode} {task} {said} {failure}", file=sys.stderr)
        return failure

    def home(self, checkout: Checkout, mode: str) -> Home:
        """Where a checkout is at home in a mode."""
        return Home(self.work / f"{checkout.name}-{mode}")

    def _scope(self) -> list[str]:
        """Servers that have a thousand tools together."""
        chosen: list[str] = []
        seen = 0
        for each in self.listings:
            if seen >= SCOPE:
                break
            chosen.append(each.name)
            seen += len(each.tools)
        return chosen


def _trust(place: int) -> Mapping[str, Any]:
    """New tools of the servers that change need no review."""
    return {"trust": "open"} if place < CHANGED else {}


def _batches(every: Iterator[Listing]) -> Iterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    for each in every:
        batch.append(each.json())
        if sum(len(one["tools"]) for one in batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


if __name__ == "__main__":
    main()
