"""How sure search may be: fits the constants of `search.confidence`, and draws what they are worth.

    python -m benchmarks.confidence --bench-dir DIR [--svg docs/confidence.svg]

Every set counts alike, and in a set the queries that have an answer as much as those that have
none. What is reported of a set comes from a fit to all others. An unanswerable query is searched
among its own candidates where it has any.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.curve import Curve, drawn
from benchmarks.folder import BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from toolcrib.config import EmbedSettings, Settings
from toolcrib.evaluate.cases import Case
from toolcrib.evaluate.run import searching
from toolcrib.search.confidence import LOW, Fit, evidence
from toolcrib.search.pipeline import Search

NAME = "confidence"
SETS = (
    *("acebench_en", "acebench_zh", "azure_mcp", "azure_mcp_2025", "bfcl", "mcpproxy_golden"),
    *("mcptoolbenchpp", "metatool", "stabletoolbench", "ultratool_en", "ultratool_zh"),
)
MOST = 400
"""Queries of each sort that are taken from a set."""
ANSWERED = 0.97
STEPS = 30

Numbers: TypeAlias = NDArray[np.float64]


class Seen(NamedTuple):
    """The evidence of the queries of one set, a row each: share and cosine; and which fit."""

    name: str
    rows: Numbers
    fits: NDArray[np.bool_]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.confidence", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--svg", type=Path, help="draw the curve into this file")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        sets = find_sets(bench_dir(said.bench_dir, os.environ), SETS).sets
        every = [_seen(each) for each in sets]
        chances = [_chances(_fit([o for o in every if o is not each]), each) for each in every]
        text = _report(every, chances, _fit(every))
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))
    if said.svg:
        said.svg.write_text(drawn(_curves(every, chances)), encoding="utf-8")


def _seen(bench_set: BenchSet) -> Seen:
    suite = bench_set.load()
    cases = Random(1).sample(list(suite.cases.values()), len(suite.cases))
    asked = [case for case in cases if case.relevant][:MOST]
    asked += [case for case in cases if not case.relevant][:MOST]
    settings = Settings(store=":memory:", embed=EmbedSettings(embedder="bundled"))
    with searching(suite, settings) as search:
        rows = [_row(search, case) for case in asked]
    print(f"{bench_set.name}: {len(rows)} queries", file=sys.stderr)
    return Seen(bench_set.name, np.array(rows), np.array([bool(each.relevant) for each in asked]))


def _row(search: Search, case: Case) -> tuple[float, float]:
    among = search.within(case.candidates) if case.candidates and not case.relevant else search
    trace = among.trace(case.query, depth=search.rules.depth)
    if not trace.ranking:
        return 0.0, 0.0
    seen = evidence((step.arms for step in trace.steps), trace.ranking[0].id)
    return seen.share, seen.cosine or 0.0


def _fit(every: Sequence[Seen], columns: int = 2) -> Fit:
    """Logistic regression by Newton's method, each set and each sort of query counted alike."""
    rows = np.concatenate([each.rows[:, :columns] for each in every])
    inputs = np.column_stack([rows, np.ones(len(rows))])
    fits = np.concatenate([each.fits for each in every])
    weights = np.concatenate([_weights(each.fits) for each in every])
    found = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weights * (fits - chances)) - 1e-3 * found
        bend = (inputs * (weights * chances * (1 - chances))[:, None]).T @ inputs
        found += np.linalg.solve(bend + 1e-3 * np.eye(len(found)), slope)
    share, *cosine, base = found.tolist()
    return Fit(share, cosine[0] if cosine else 0.0, base)


def _weights(fits: NDArray[np.bool_]) -> Numbers:
    return np.where(fits, 1 / max(fits.sum(), 1), 1 / max((~fits).sum(), 1))


def _chances(fit: Fit, seen: Seen) -> Numbers:
    return 1 / (1 + np.exp(-(seen.rows @ [fit.share, fit.cosine] + fit.base)))


def _report(every: Sequence[Seen], chances: Sequence[Numbers], fit: Fit) -> str:
    head = ["set", ">with an answer", ">without", ">answered, %", ">returned in vain, %"]
    head += [f">in vain at {ANSWERED:.0%} answered, %"]
    pairs = list(zip(every, chances, strict=True))
    lines = [_cells(each.name, each.fits, likely) for each, likely in pairs]
    both = [(each.fits, likely) for each, likely in pairs if not each.fits.all()]
    lines.append(_cells("**those with both**", *map(np.concatenate, zip(*both, strict=True))))
    words = _fit(every, columns=1)
    note = (
        f"BY_BOTH = Fit({fit.share:.2f}, {fit.cosine:.2f}, {fit.base:.2f}), "
        f"BY_WORDS = Fit({words.share:.2f}, 0.0, {words.base:.2f})"
    )
    return f"{table(head, lines)}\n\nFitted to all sets: `{note}`."


def _cells(name: str, fits: NDArray[np.bool_], likely: Numbers) -> list[str]:
    answered, vain = likely[fits], likely[~fits]
    cells = [name, f"{len(answered):,}", f"{len(vain):,}", f"{100 * (answered >= LOW).mean():.1f}"]
    if not len(vain):
        return [*cells, "–", "–"]
    strict = np.quantile(answered, 1 - ANSWERED)
    return [*cells, f"{100 * (vain >= LOW).mean():.1f}", f"{100 * (vain >= strict).mean():.1f}"]


def _curves(every: Sequence[Seen], chances: Sequence[Numbers]) -> list[Curve]:
    pairs = zip(every, chances, strict=True)
    return [
        _curve(each.name, likely[each.fits], likely[~each.fits])
        for each, likely in pairs
        if not each.fits.all()
    ]


def _curve(name: str, answered: Numbers, vain: Numbers) -> Curve:
    shares = np.linspace(0.5, 1, 101)
    bounds = np.quantile(answered, 1 - shares)
    points = [
        (100 * s, 100 * float((vain >= b).mean())) for s, b in zip(shares, bounds, strict=True)
    ]
    return Curve(name, points)


if __name__ == "__main__":
    main()
