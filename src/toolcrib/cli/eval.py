"""The command `toolcrib eval`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.progress import progress, tracked
from toolcrib.cli.screen import AsJson, console, counts, print_json, safe, table, warn
from toolcrib.errors import EvalError
from toolcrib.evaluate import EvalResult, EvalScores, EvalSuite, load_suite, open_search
from toolcrib.evaluate import evaluate as run_suite
from toolcrib.search import Search

COLUMNS = [
    "split",
    *(">answerable", ">R@1", ">R@5", ">R@10", ">nDCG@10", ">MRR"),
    *(">unanswerable", ">left empty"),
]


def eval_command(
    context: typer.Context,
    catalog: Annotated[
        Path, typer.Option(metavar="FILE", help="The tools: one JSON object a line.")
    ],
    queries: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="The queries and what each should find, one JSON object a line."
        ),
    ],
    run_file: Annotated[
        Path | None,
        typer.Option("--run", metavar="FILE", help="Write the ranked ids of every query here."),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=10, help="How many ids to rank for each query.")
    ] = 50,
    min_recall5: Annotated[
        float | None,
        typer.Option(
            metavar="PER_CENT",
            min=0,
            max=100,
            help="Fail if R@5 over all queries is below this per cent.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure search on a catalog and queries with known answers.

    Prints recall at 1, 5 and 10, nDCG at 10 and MRR in per cent over the answerable queries, and
    the share of unanswerable queries that got no answer. Rankings are not cut. docs/eval.md
    describes the formats. Exit code 1: R@5 is below `--min-recall5`; 2: the files cannot be used.

        toolcrib eval --catalog tools.jsonl --queries queries.jsonl --min-recall5 90
    """
    options: GlobalOptions = context.obj
    suite = load_suite(catalog, queries)
    with open_search(suite, options.settings()) as search:
        results = dict(_results(search, suite, limit=limit, quiet=as_json))
    if run_file:
        _write(run_file, results["query"])
    if as_json:
        print_json(_as_json(suite, results))
    else:
        _show(suite, results)
    _hold_to(min_recall5, results["query"].total)


def _results(
    search: Search, suite: EvalSuite, *, limit: int, quiet: bool
) -> Iterator[tuple[str, EvalResult]]:
    """The result by query and, where queries have one, by instruction."""
    every = list(suite.cases.values())
    instructed = [case for case in every if case.instruction]
    with progress(quiet=quiet) as report:
        for name, cases in (("query", every), ("instruction", instructed)):
            text = attrgetter(name)
            if cases:
                used = tracked(cases, f"by {name}", report)
                yield name, run_suite(search, used, limit=limit, text=text)


def _write(path: Path, result: EvalResult) -> None:
    lines = ({"id": id, "ranked": ranked} for id, ranked in result.ranked.items())
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EvalError(f"{path}: the rankings cannot be written: {error}") from error


def _as_json(suite: EvalSuite, results: Mapping[str, EvalResult]) -> Mapping[str, object]:
    scores: dict[str, object] = {
        name: {"total": asdict(result.total)}
        | {"splits": {split: asdict(each) for split, each in result.splits.items()}}
        for name, result in results.items()
    }
    return {**scores, "unused": suite.unused}


def _show(suite: EvalSuite, results: Mapping[str, EvalResult]) -> None:
    for name, result in results.items():
        rows = [_row(split or "(none)", scores) for split, scores in result.splits.items()]
        splits = rows if len(rows) > 1 else []
        title = "" if len(results) == 1 else f"by {name}"
        console().print(table(title, COLUMNS, [*splits, _row("all", result.total)]))
    if suite.unused:
        console().print(
            safe(f"Keys not used, with how many lines have them: {counts(suite.unused)}.")
        )


def _row(split: str, scores: EvalScores) -> tuple[object, ...]:
    means = (scores.recall_1, scores.recall_5, scores.recall_10, scores.ndcg_10, scores.mrr)
    empty = (scores.unanswerable, _per_cent(scores.left_empty))
    return split, scores.answerable, *map(_per_cent, means), *empty


def _per_cent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _hold_to(bar: float | None, scores: EvalScores) -> None:
    if bar is not None and 100 * (scores.recall_5 or 0.0) < bar:
        warn(f"R@5 is {_per_cent(scores.recall_5)}, below the bar of {bar:g}")
        raise typer.Exit(1)
