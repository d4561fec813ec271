"""How sure search may be: fits the constants of `search.confidence`, and draws what they are worth.

    python -m benchmarks.confidence --bench-dir DIR [--cache DIR] [--svg docs/confidence.svg]

Every set counts alike, and in a set the queries that have an answer as much as those that have
none. What is reported of a set comes from a fit to all others. An unanswerable query is searched
among its own candidates where it has any. `--cache` is that of `benchmarks.quality`.

By words alone the fit is to whether one of the first five is right: of what words find, that is far
from the same as whether there is an answer.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.ahead import kept_vectors
from benchmarks.curve import Curve, drawn
from benchmarks.folder import BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from benchmarks.some_arms import SomeArms
from toolcrib.evaluate import open_search
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import among_candidates
from toolcrib.evaluate.measures import counted
from toolcrib.search import Search
from toolcrib.search.confidence import HIGH, LOW, TIED, Fit, WordFit, evidence
from toolcrib.search.pipeline import BROAD_HITS
from toolcrib.settings import EmbedSettings, Settings

NAME = "confidence"
SETS = (
    *("acebench_en", "acebench_zh", "azure_mcp", "azure_mcp_2025", "bfcl", "mcpproxy_golden"),
    *("mcptoolbenchpp", "metatool", "stabletoolbench", "ultratool_en", "ultratool_zh"),
    "ultratool_zh2en",
)
MOST = 400
"""Queries of each sort that are taken from a set."""
ANSWERED = 0.97
STEPS = 30
NOTHING = "–"
COSINE, FLOOR = 1, 2

Numbers: TypeAlias = NDArray[np.float64]


class Seen(NamedTuple):
    """The evidence of the queries of one set, a row each; and which of them have an answer.

    A row is the best share, the best cosine, and the chance that a rule gives beside the formula:
    1 to a text that names a tool, the lowest there is to one for which a tool searches the web.
    `words` are share, lead and the logarithm of the terms by words alone, a row for each query that
    asks for one thing and names nothing; `right` says for which of them one of the first is right.
    """

    name: str
    rows: Numbers
    fits: NDArray[np.bool_]
    words: Numbers
    right: NDArray[np.bool_]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.confidence", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--svg", type=Path, help="draw the curve into this file")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        sets = find_sets(bench_dir(said.bench_dir, os.environ), SETS).sets
        every = [_seen(each, said.cache) for each in sets]
        chances = [_chances(_fit([o for o in every if o is not each]), each) for each in every]
        text = _report(every, chances)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))
    if said.svg:
        said.svg.write_text(drawn(_curves(every, chances)), encoding="utf-8")


def _seen(bench_set: BenchSet, cache: Path | None) -> Seen:
    suite = bench_set.load()
    cases = Random(1).sample(list(suite.cases.values()), len(suite.cases))
    asked = [case for case in cases if case.relevant][:MOST]
    asked += [case for case in cases if not case.relevant][:MOST]
    settings = Settings(store=":memory:", embed=EmbedSettings(embedder="bundled"))
    with kept_vectors(cache) as vectors, open_search(suite, settings, vectors) as search:
        rows = [_row(among_candidates(search, case), case) for case in asked]
        by_words = replace(
            search, view=SomeArms(search.view, ("like", "bm25")), calibrated_cosines=False
        )
        found = [_by_words(among_candidates(by_words, case), case) for case in asked]
    print(f"{bench_set.name}: {len(rows)} queries", file=sys.stderr)
    words = [each for each in found if each]
    return Seen(
        bench_set.name,
        np.array(rows),
        np.array([bool(each.relevant) for each in asked]),
        np.array([row for row, _ in words]),
        np.array([right for _, right in words]),
    )


def _row(search: Search, case: EvalCase) -> tuple[float, float, float]:
    trace = search.trace(case.query, depth=search.depth)
    if not trace.ranking:
        return 0.0, 0.0, 0.0
    every = (trace, *trace.parts)
    seen = evidence(step for each in every for step in each.steps)
    broad = any(search.is_broad(each.ranking[:BROAD_HITS]) for each in every)
    by_rule = 1.0 if trace.chance == 1.0 else LOW * broad
    return seen.share, seen.cosine or 0.0, by_rule


def _by_words(search: Search, case: EvalCase) -> tuple[tuple[float, float, float], bool] | None:
    """The evidence of words, and whether one of the first hits is right; None without any."""
    trace = search.trace(case.query, depth=search.depth)
    if not trace.ranking or trace.parts or trace.chance == 1.0:
        return None
    seen = evidence(trace.steps)
    first = counted(case, [match.id for match in trace.ranking])[:TIED]
    return (seen.share, seen.lead, log(seen.terms)), not set(case.relevant).isdisjoint(first)


def _fit(every: Sequence[Seen]) -> Fit:
    """Of the chance by meaning to the cosine, each set and each sort of query counted alike."""
    rows = np.concatenate([each.rows[:, COSINE] for each in every])
    fits = np.concatenate([each.fits for each in every])
    weights = np.concatenate([_weights(each.fits) for each in every])
    return Fit(*_regression(rows[:, None], fits, weights))


def _word_fit(every: Sequence[Seen]) -> WordFit:
    """Of the chance by words to what there is to go by, each set counted alike."""
    rows = np.concatenate([each.words for each in every])
    right = np.concatenate([each.right for each in every])
    weights = np.concatenate([np.full(len(each.right), 1 / len(each.right)) for each in every])
    return WordFit(*_regression(rows, right, weights))


def _regression(rows: Numbers, fits: NDArray[np.bool_], weights: Numbers) -> list[float]:
    """Logistic, by Newton's method: a slope for each column, then the base."""
    inputs = np.column_stack([rows, np.ones(len(rows))])
    found = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-inputs @ found))
        slope = inputs.T @ (weights * (fits - chances)) - 1e-3 * found
        bend = (inputs * (weights * chances * (1 - chances))[:, None]).T @ inputs
        found += np.linalg.solve(bend + 1e-3 * np.eye(len(found)), slope)
    return found.tolist()


def _sure_words(every: Sequence[Seen]) -> str:
    """How often words alone are right where they are sure, each set judged by the others' fit."""
    sure: list[bool] = []
    for each in every:
        *slopes, base = _word_fit([other for other in every if other is not each])
        chances = 1 / (1 + np.exp(-(each.words @ np.array(slopes) + base)))
        sure += each.right[chances >= HIGH].tolist()
    total = sum(len(each.right) for each in every)
    return f"{len(sure):,} of {total:,}, right in {100 * fmean(sure or [0]):.1f} %"


def _weights(fits: NDArray[np.bool_]) -> Numbers:
    return np.where(fits, 1 / max(fits.sum(), 1), 1 / max((~fits).sum(), 1))


def _chances(fit: Fit, seen: Seen) -> Numbers:
    by_fit = 1 / (1 + np.exp(-(fit.slope * seen.rows[:, COSINE] + fit.base)))
    return np.maximum(by_fit, seen.rows[:, FLOOR])


def _report(every: Sequence[Seen], chances: Sequence[Numbers]) -> str:
    head = ["set", ">with an answer", ">without", ">answered, %", ">returned in vain, %"]
    head += [f">in vain at {ANSWERED:.0%} answered, %"]
    lines = [
        _cells(each.name, each.fits, likely) for each, likely in zip(every, chances, strict=True)
    ]
    fit, words = _fit(every), _word_fit(every)
    own = [_chances(fit, each) for each in every]
    lines.append(_mean([line for line in lines if line[-1] != NOTHING]))
    lines.append(_cells("**all queries of these**", *_with_both(every, chances)))
    lines.append(_cells("the same, fitted to all sets", *_with_both(every, own)))
    note = (
        f"BY_MEANING = Fit({fit.slope:.2f}, {fit.base:.2f}), "
        f"BY_WORDS = WordFit({', '.join(f'{each:.2f}' for each in words)})"
    )
    sure = f"By words alone high confidence is said of {_sure_words(every)}."
    return f"{table(head, lines)}\n\n{sure}\n\nFitted to all sets: `{note}`."


def _mean(lines: Sequence[Sequence[str]]) -> list[str]:
    """The mean of the sets that have both sorts, each counted alike."""
    columns = [[float(line[number]) for line in lines] for number in range(3, 6)]
    name = f"**mean of the {len(lines)} with both**"
    return [name, "", "", *(f"{fmean(column):.1f}" for column in columns)]


def _with_both(
    every: Sequence[Seen], chances: Sequence[Numbers]
) -> tuple[NDArray[np.bool_], Numbers]:
    """All queries of the sets that have both sorts."""
    pairs = zip(every, chances, strict=True)
    both = [(each.fits, likely) for each, likely in pairs if not each.fits.all()]
    return np.concatenate([fits for fits, _ in both]), np.concatenate([own for _, own in both])


def _cells(name: str, fits: NDArray[np.bool_], likely: Numbers) -> list[str]:
    answered, vain = likely[fits], likely[~fits]
    cells = [name, f"{len(answered):,}", f"{len(vain):,}", f"{100 * (answered >= LOW).mean():.1f}"]
    if not len(vain):
        return [*cells, NOTHING, NOTHING]
    strict = np.quantile(answered, 1 - ANSWERED)
    return [*cells, f"{100 * (vain >= LOW).mean():.1f}", f"{100 * (vain >= strict).mean():.1f}"]


def _curves(every: Sequence[Seen], chances: Sequence[Numbers]) -> list[Curve]:
    pairs = zip(every, chances, strict=True)
    curves = [
        _curve(each.name, likely[each.fits], likely[~each.fits])
        for each, likely in pairs
        if not each.fits.all()
    ]
    fits, likely = _with_both(every, chances)
    return [*curves, _curve("all of these", likely[fits], likely[~fits])]


def _curve(name: str, answered: Numbers, vain: Numbers) -> Curve:
    shares = np.linspace(0.5, 1, 101)
    bounds = np.quantile(answered, 1 - shares)
    points = [
        (100 * s, 100 * float((vain >= b).mean())) for s, b in zip(shares, bounds, strict=True)
    ]
    return Curve(name, points)


if __name__ == "__main__":
    main()
