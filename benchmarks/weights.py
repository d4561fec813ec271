"""How much each arm should count: the weights of the fusion by lifts, learned from the sets.

    python -m benchmarks.weights --bench-dir DIR [--cache DIR]

Searches some queries of every set with many weights, bm25 counting 1, and prints R@5 in the mean of
the sets, each counted alike. Weights have to hold for what they were not learned from: the last
line says what the sets get from the weights that are best for all others. `--cache` is that of
`benchmarks.quality`.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TypeAlias

from benchmarks.ahead import kept_vectors
from benchmarks.folder import SEED, BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import table
from benchmarks.once import Once
from toolcrib.evaluate import open_search
from toolcrib.evaluate.evaluation import ranked_ids
from toolcrib.evaluate.measures import counted, recall
from toolcrib.search import ArmWeights, Search
from toolcrib.settings import EmbedSettings, Settings

LIKE = (0.0, 0.2, 0.4, 0.8)
VECTOR = (0.8, 1.0, 1.2, 1.5, 2.0, 3.0)
MOST = 250
"""Queries that are taken from a set."""
FIRST = 5

Tried: TypeAlias = Mapping[ArmWeights, float]
"""R@5 by weights."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.weights", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--most", type=int, default=MOST, help="queries of a set")
    parser.add_argument("--workers", type=int, default=2, help="sets measured at a time")
    said = parser.parse_args(arguments)
    try:
        sets = find_sets(bench_dir(said.bench_dir, os.environ)).sets
    except NoBench as error:
        parser.error(str(error))
    work = partial(tried, cache=said.cache, most=said.most)
    with ProcessPoolExecutor(said.workers, mp_context=get_context("spawn")) as pool:
        print(report(list(pool.map(work, sets))))


def tried(bench_set: BenchSet, cache: Path | None, most: int) -> Tried:
    """What every choice of weights finds in a set."""
    suite = bench_set.load()
    answerable = [case for case in suite.cases.values() if case.relevant]
    cases = Random(SEED).sample(answerable, min(most, len(answerable)))
    settings = Settings(store=":memory:", embed=EmbedSettings(embedder="bundled"))
    recalls: dict[ArmWeights, list[float]] = {weights: [] for weights in choices()}
    with kept_vectors(cache) as vectors, open_search(suite, settings, vectors) as search:
        for case in cases:
            once = replace(search, view=Once(search.view))
            for weights, rows in recalls.items():
                ids = counted(case, ranked_ids(_weighed(once, weights), case, case.query))
                rows.append(recall(case, ids, FIRST))
    print(f"{bench_set.name}: {len(cases)} queries", file=sys.stderr)
    return {weights: 100 * fmean(rows) for weights, rows in recalls.items()}


def choices() -> list[ArmWeights]:
    return [ArmWeights(vector, like) for like, vector in product(LIKE, VECTOR)]


def _weighed(search: Search, weights: ArmWeights) -> Search:
    return replace(search, rules=replace(search.rules, arms=weights, abstain=False))


def report(every: Sequence[Tried]) -> str:
    """The mean of the sets by weights, the best, and how that holds for sets it has not seen."""
    means = {weights: fmean(each[weights] for each in every) for weights in choices()}
    rows = [
        [f"{like}", *(f"{means[ArmWeights(vector, like)]:.2f}" for vector in VECTOR)]
        for like in LIKE
    ]
    best = max(means, key=means.__getitem__)
    unseen = fmean(each[_best([o for o in every if o is not each])] for each in every)
    lines = table(["like", *(f">vector {vector}" for vector in VECTOR)], rows)
    return (
        f"{lines}\n\nBest: `{best}` with {means[best]:.2f}; on sets not learned from {unseen:.2f}."
    )


def _best(every: Sequence[Tried]) -> ArmWeights:
    return max(choices(), key=lambda weights: fmean(each[weights] for each in every))


if __name__ == "__main__":
    main()
