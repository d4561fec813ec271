"""The tables of the quality benchmark."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from pydantic import TypeAdapter

from benchmarks.markdown import table
from benchmarks.rankings import BM25, BOTH, MINILM, OURS, PLAIN, SEED, WORDS
from toolcrib.evaluate import EvalScores

BASELINES = (PLAIN, BM25, MINILM, BOTH)
ARMS = ("like", "bm25", "vector")


@dataclass(frozen=True, slots=True)
class Row:
    """What each system scores on a set, or on a part of it. `hit_1`: how often its first is right.

    All shares are from 0 to 1.
    """

    name: str
    part: str
    tools: int
    queries: int
    scores: Mapping[str, EvalScores]
    hit_1: Mapping[str, float | None]

    def recall_5(self, system: str) -> float | None:
        """In per cent; None where the system was not measured, or nothing has an answer."""
        scores = self.scores.get(system)
        return None if scores is None or scores.recall_5 is None else 100 * scores.recall_5

    def gain(self, system: str, over: str) -> float | None:
        """By how many points of R@5 one system is better than another."""
        ours, theirs = self.recall_5(system), self.recall_5(over)
        return None if ours is None or theirs is None else ours - theirs


ROWS = TypeAdapter(list[Row])
"""To and from JSON."""


class Mixed(Exception):
    """Rows that do not belong together; the message says what to do."""


def joined(ours: Sequence[Row], baselines: Sequence[Row]) -> list[Row]:
    """Rows with the scores of both. Raises `Mixed` if they are not of the same queries."""
    if [_label(row) for row in ours] != [_label(row) for row in baselines]:
        raise Mixed("the results in the cache are of other queries; run it without --resume")
    return [
        replace(row, scores={**row.scores, **other.scores}, hit_1={**row.hit_1, **other.hit_1})
        for row, other in zip(ours, baselines, strict=True)
    ]


def report(rows: Sequence[Row]) -> str:
    """Both tables, and between them what the first one says."""
    sets = [row for row in rows if not row.part]
    return "\n\n".join((_systems(rows, sets), _verdict(sets), _arms(rows, sets)))


def _systems(rows: Iterable[Row], sets: Sequence[Row]) -> str:
    head = ["set", "part", ">tools", ">queries", *(f">{name}" for name in (*BASELINES, SEED))]
    head += [">Toolcrib", ">over FTS5", ">hit@1", ">R@10", ">unanswerable left empty"]
    shown = (*BASELINES, SEED, OURS)
    means = [f"**{_number(_mean(sets, name))}**" for name in shown]
    gain = _mean(sets, OURS) - _mean(sets, PLAIN)
    last = [f"**mean of {len(sets)} sets**", "", "", "", *means, f"**{gain:+.1f}**", "", "", ""]
    return table(head, [*(_cells(row, shown) for row in rows), last])


def _cells(row: Row, systems: Iterable[str]) -> list[str]:
    ours = row.scores[OURS]
    empty = f"{_per_cent(ours.left_empty)} of {ours.unanswerable}" if ours.unanswerable else ""
    gain = row.gain(OURS, PLAIN)
    return [
        *_label(row),
        *(_number(row.recall_5(name)) for name in systems),
        "–" if gain is None else f"{gain:+.1f}",
        _per_cent(row.hit_1[OURS]),
        _per_cent(ours.recall_10),
        empty,
    ]


def _label(row: Row) -> list[str]:
    first = ["", row.part] if row.part else [row.name, "all"]
    return [*first, f"{row.tools:,}", f"{row.queries:,}"]


def _verdict(sets: Sequence[Row]) -> str:
    """How Toolcrib does against each other system, in a line each."""
    others = [name for name in (*BASELINES, SEED) if name in sets[0].scores]
    return "\n".join(f"- {_against(sets, name)}" for name in others)


def _against(sets: Sequence[Row], other: str) -> str:
    gains = {row.name: row.gain(OURS, other) for row in sets}
    known = {name: gain for name, gain in gains.items() if gain is not None}
    worst = min(known, key=known.__getitem__)
    lost = sum(gain < 0 for gain in known.values())
    return (
        f"R@5 against {other}: {fmean(known.values()):+.1f} in the mean, "
        f"worst {known[worst]:+.1f} ({worst}), below it on {lost} of {len(known)} sets."
    )


def _arms(rows: Iterable[Row], sets: Sequence[Row]) -> str:
    shown = [name for name in (*ARMS, WORDS, SEED, OURS) if name in sets[0].scores]
    head = ["set", "part", *(f">{name}" for name in shown)]
    lines = [[*_label(row)[:2], *(_number(row.recall_5(name)) for name in shown)] for row in rows]
    means = [f"**{_number(_mean(sets, name))}**" for name in shown]
    return table(head, [*lines, [f"**mean of {len(sets)} sets**", "", *means]])


def _mean(sets: Iterable[Row], system: str) -> float:
    recalls = [recall for row in sets if (recall := row.recall_5(system)) is not None]
    return fmean(recalls) if recalls else float("nan")


def _per_cent(share: float | None) -> str:
    return _number(None if share is None else 100 * share)


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.1f}"  # noqa: PLR0124 - is it NaN?
