"""What the bundled model costs beside other work: on one thread, and on those that BLAS takes.

    python -m benchmarks.blas_threads [--rounds 4]

A process for each core keeps it busy. The same texts go through the numpy network as Toolcrib runs
it and as BLAS would run it by itself, in turns. Leave OPENBLAS_NUM_THREADS unset.
"""

import os
from argparse import ArgumentParser
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

from benchmarks.markdown import NoMarks, put, table
from toolcrib.embed.bundled.embedder import load_weights
from toolcrib.embed.bundled.network import Network

NAME = "blas_threads"
TEXTS, PIECES = 16, 60
"""As many tools as are embedded at a time in the background, each of a usual length."""


class Cost(NamedTuple):
    """Seconds of CPU, and of the clock on the wall."""

    cpu: float
    wall: float


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.blas_threads", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4, help="turns of each")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    network = Network(load_weights(files("toolcrib.embed.bundled") / "model"))
    pieces: list[list[int]] = np.random.default_rng(5).integers(5, 5_000, (TEXTS, PIECES)).tolist()
    with _busy_cores():
        ours, theirs = _in_turns(network, pieces, said.rounds)
    text = _report(ours, theirs)
    print(text)
    if said.markdown:
        try:
            put(said.markdown, NAME, text)
        except NoMarks as error:
            parser.error(str(error))


@contextmanager
def _busy_cores() -> Generator[None]:
    context = get_context("spawn")
    loops = [context.Process(target=_loop, daemon=True) for _ in range(os.cpu_count() or 1)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.terminate()
            loop.join()


def _loop() -> None:
    while True:
        pass


def _in_turns(network: Network, pieces: Sequence[Sequence[int]], rounds: int) -> tuple[Cost, Cost]:
    """The sums of both, each after a first one that is not counted."""
    sides = network, network.by_threads_of_blas
    for side in sides:
        side(pieces[:1])
    costs = [[_cost(side, pieces) for side in sides] for _ in range(rounds)]
    ours, theirs = (Cost(*map(sum, zip(*some, strict=True))) for some in zip(*costs, strict=True))
    return ours, theirs


def _cost(
    run: Callable[[Sequence[Sequence[int]]], object], pieces: Sequence[Sequence[int]]
) -> Cost:
    wall, cpu = perf_counter(), process_time()
    run(pieces)
    return Cost(process_time() - cpu, perf_counter() - wall)


def _report(ours: Cost, theirs: Cost) -> str:
    head = ["", ">CPU, s", ">wall, s"]
    lines = [
        ["one thread, as Toolcrib runs it", f"{ours.cpu:.2f}", f"{ours.wall:.2f}"],
        ["the threads that BLAS takes", f"{theirs.cpu:.2f}", f"{theirs.wall:.2f}"],
        ["ratio", f"{theirs.cpu / ours.cpu:.1f}", f"{theirs.wall / ours.wall:.1f}"],
    ]
    return table(head, lines)


if __name__ == "__main__":
    main()
