"""What `toolcrib eval run` prints: measures, two settings side by side, the cases that differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from toolcrib.cli.screen import console, counts, number, print_text, safe, table
from toolcrib.evaluate import (
    CaseChange,
    CaseOutcome,
    EvalCase,
    EvalResult,
    EvalScores,
    ReportSide,
)

COLUMNS = [
    "split",
    *(">answerable", ">R@1", ">R@5", ">R@10", ">nDCG@10", ">MRR", ">wrongly empty"),
    *(">unanswerable", ">left empty"),
]
MEASURES = {
    "R@1": "recall_1",
    "R@5": "recall_5",
    "R@10": "recall_10",
    "nDCG@10": "ndcg_10",
    "MRR": "mrr",
    "wrongly empty": "wrongly_empty",
    "left empty": "left_empty",
}
FIRST_HITS = 3
MOST_SHOWN = 30
"""Of the cases that differ, so many on each side; `--html` and `--json` have them all."""


def eval_json(
    unused: Mapping[str, int],
    results: Mapping[str, EvalResult],
    other: Mapping[str, EvalResult] | None,
    changes: Sequence[CaseChange],
) -> Mapping[str, object]:
    """All of it for programs."""
    compared = {
        "against": _scores(other),
        "changes": [
            {
                "id": each.case.id,
                "query": each.case.query,
                "better": each.better,
                "before": {"ranks": each.before.ranks, "ranked": each.before.ranked},
                "after": {"ranks": each.after.ranks, "ranked": each.after.ranked},
            }
            for each in changes
        ],
    }
    return {**_scores(results), **(compared if other else {}), "unused": unused}


def show_results(unused: Mapping[str, int], results: Mapping[str, EvalResult]) -> None:
    """The measures, a row a split and one for all."""
    for name, result in results.items():
        rows = [_row(split or "(none)", scores) for split, scores in result.splits.items()]
        splits = rows if len(rows) > 1 else []
        title = "" if len(results) == 1 else f"by {name}"
        console().print(table(title, COLUMNS, [*splits, _row("all", result.total)]))
    if unused:
        console().print(safe(f"Keys not used, with how many lines have them: {counts(unused)}."))


def show_changes(changes: Sequence[CaseChange], sides: Sequence[ReportSide]) -> None:
    """Two settings side by side, then the cases that differ; nothing for one alone."""
    if len(sides) == 1:
        return
    now, other = (each.result for each in sides)
    label = sides[1].label
    console().print()
    rows = [*_side_by_side("", now.total, other.total, MEASURES)]
    if len(now.splits) > 1:
        for split, scores in now.splits.items():
            some = {"R@5": "recall_5"} if scores.answerable else {"left empty": "left_empty"}
            rows += _side_by_side(f"{split or '(none)'}: ", scores, other.splits[split], some)
    console().print(table("", ["measure", ">now", f">{label}", ">change"], rows))
    better = [each for each in reversed(changes) if each.better]
    worse = [each for each in changes if not each.better]
    console().print(
        safe(f"\n{number(len(better), 'case')} better and {len(worse)} worse with {label}.")
    )
    _show_cases("Better", better)
    _show_cases("Worse", worse)


def _show_cases(title: str, changes: Sequence[CaseChange]) -> None:
    for place, each in enumerate(changes[:MOST_SHOWN]):
        if not place:
            console().print(safe(f"\n{title}"), style="bold")
        console().print(safe(f"  {_one_line(each.case.query)}"), soft_wrap=True)
        print_text(_found(each.case, each.before), label="    now    ", indent=11)
        print_text(_found(each.case, each.after), label="    then   ", indent=11)
    if len(changes) > MOST_SHOWN:
        console().print(safe(f"  … {len(changes) - MOST_SHOWN} more with --html or --json"))


def _found(case: EvalCase, outcome: CaseOutcome) -> str:
    """Where the right tools are, and the first hits, those that are right with a tick."""
    ranks = ", ".join(
        f"{id} {'not found' if rank is None else f'at {rank}'}"
        for id, rank in outcome.ranks.items()
    )
    right = (case.equiv.get(id, id) in case.relevant for id in outcome.ranked)
    ticked = zip(outcome.ranked[:FIRST_HITS], right, strict=False)
    hits = ", ".join(f"{id}{' ✓' if fits else ''}" for id, fits in ticked)
    return f"{ranks or 'nothing fits'}; finds {hits or 'nothing'}"


def _side_by_side(
    prefix: str, now: EvalScores, other: EvalScores, measures: Mapping[str, str]
) -> Iterator[tuple[str, str, str, str]]:
    for name, field in measures.items():
        one: float | None = getattr(now, field)
        two: float | None = getattr(other, field)
        change = "" if one is None or two is None else f"{100 * (two - one):+.1f}"
        yield f"{prefix}{name}", _per_cent(one), _per_cent(two), change


def _scores(results: Mapping[str, EvalResult] | None) -> Mapping[str, object]:
    return {
        name: {"total": asdict(result.total)}
        | {"splits": {split: asdict(each) for split, each in result.splits.items()}}
        for name, result in (results or {}).items()
    }


def _row(split: str, scores: EvalScores) -> tuple[object, ...]:
    means = (scores.recall_1, scores.recall_5, scores.recall_10, scores.ndcg_10, scores.mrr)
    empty = (scores.unanswerable, _per_cent(scores.left_empty))
    return (
        *(split, scores.answerable, *map(_per_cent, means)),
        *(_per_cent(scores.wrongly_empty), *empty),
    )


def _per_cent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
