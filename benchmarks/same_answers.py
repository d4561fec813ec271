"""Whether search finds the same as an earlier checkout did, query by query.

    python -m benchmarks.same_answers --before FOLDER [--size 10000] [--queries 500] [--model]

Both checkouts have the same home as in `benchmarks.growth`, with words alone or with the model.
Each query is asked twice: by a caller who sees everything, and by one who sees a thousand tools.
Prints how many answers are the same, and the first that are not.
"""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.checkout import BEFORE, Checkout, Limits, this_checkout
from benchmarks.folder import NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.growth import CATALOG, CHILD, Run, read_queries, work_folder
from benchmarks.growth_report import MODEL, WORDS, Growth
from benchmarks.home import Unusable
from benchmarks.many_tools import read_tools

LIMITS = Limits(3_600, 16)
SHOWN = 20

Answers = Mapping[str, Sequence[str]]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.same_answers", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--before", type=Path, required=True, help="an earlier checkout")
    parser.add_argument("--size", type=int, default=10_000, help="so many tools")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--model", action="store_true", help="with the vectors of the model")
    parser.add_argument("--work", type=Path, help="make the homes in this folder")
    said = parser.parse_args(arguments)
    try:
        before, now = _asked(said)
    except (NoBench, Unusable) as error:
        parser.error(str(error))
    print("\n".join(compared(before, now)))


def compared(before: Answers, now: Answers) -> Iterator[str]:
    """How many are the same, then those that are not: what was found before, and now."""
    other = [query for query, found in before.items() if now.get(query) != found]
    reordered = sum(sorted(before[query]) == sorted(now.get(query, ())) for query in other)
    share = 100 * (len(before) - len(other)) / max(len(before), 1)
    yield (
        f"{len(before):,} answers, {share:.2f} % the same; "
        f"{reordered} in another order, {len(other) - reordered} with other tools"
    )
    for query in other[:SHOWN]:
        yield f"- {query!r}\n  before: {list(before[query])}\n  now:    {list(now.get(query, ()))}"


def _asked(said: Namespace) -> list[Answers]:
    """What each checkout answers, the earlier one first."""
    folder = bench_dir(said.bench_dir, os.environ)
    tools = read_tools(find_sets(folder, [CATALOG]).sets[0].catalog)
    queries = read_queries(folder, said.queries)
    checkouts = [Checkout.at(BEFORE, said.before, LIMITS), this_checkout(LIMITS)]
    with work_folder(said.work) as work:
        run = Run(work, said.size, tools, queries, Growth(), 1, checkouts)
        return [_answers(run, checkout, MODEL if said.model else WORDS) for checkout in checkouts]


def _answers(run: Run, checkout: Checkout, mode: str) -> Answers:
    """Raises `Unusable` if it goes beyond its limits."""
    run.prepare(checkout, [mode])
    request = {**run.request, "task": "answer", "made_up": False}
    told = checkout.child(CHILD, run.home(checkout, mode), request)
    if told.failure:
        raise Unusable(f"{checkout.name} took {told.failure}")
    return told.figures


if __name__ == "__main__":
    main()
