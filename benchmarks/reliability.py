"""Whether search is sure when it is right: the chance it gives against what comes of it.

    python -m benchmarks.reliability --bench-dir DIR [--cache DIR] [--svg docs/reliability.svg]

Draws a panel for each language, and prints the expected calibration error: how far the chance is
from the share that is right, the mean over ten bins by their size. An answer is right if one of the
first five serves a need. It is what search says now, by the constants that it has: nothing is
fitted here (`benchmarks.confidence` does that).

`everyday` is taken as it is, and with unanswerable requests of BFCL and ACEBench added, each
searched among its own candidates: until half of all have no answer, or there are no more of them.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.ahead import asked_of_embedder, embed_ahead, kept_vectors
from benchmarks.curve import Panel, drawn_panels
from benchmarks.everyday import CHINESE, ENGLISH, SETTINGS
from benchmarks.folder import SEED, BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from benchmarks.rankings import DEPTH
from toolcrib.evaluate import evaluate, open_search
from toolcrib.evaluate.calibration import Forecast, Reliability, forecasts, reliability
from toolcrib.evaluate.cases import EvalCase
from toolcrib.text import LANGUAGE_NAMES, detect_language
from toolcrib.wiring import embedder_of

NAME = "reliability"
EVERYDAY = "everyday"
UNANSWERABLE = ("acebench_en", "acebench_zh", "bfcl")
AS_IT_IS, MORE = "everyday", "with more unanswerable ones"
LANGUAGES = (ENGLISH, CHINESE)
AIM = 0.05


class Said(NamedTuple):
    """What was said of one request: its language, whether it has an answer, and the forecast."""

    language: str
    answerable: bool
    forecast: Forecast


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--svg", type=Path, help="draw the curves into this file")
    parser.add_argument("--markdown", type=Path, help="put the table into this page too")
    said = parser.parse_args(arguments)
    try:
        sets = find_sets(bench_dir(said.bench_dir, os.environ), [EVERYDAY, *UNANSWERABLE]).sets
        every = {each.name: _said(each, said.cache) for each in sets}
        curves = {language: _curves(language, every) for language in LANGUAGES}
        text = _report(curves)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))
    if said.svg:
        said.svg.write_text(drawn_panels(list(_panels(curves))), encoding="utf-8")


def _said(bench_set: BenchSet, cache: Path | None) -> Sequence[Said]:
    """What search says of the requests of a set: all of everyday, of others the unanswerable."""
    suite = bench_set.load()
    cases = [
        each for each in suite.cases.values() if bench_set.name == EVERYDAY or not each.relevant
    ]
    with kept_vectors(cache) as vectors, open_search(suite, SETTINGS, vectors) as search:
        if embedder := embedder_of(SETTINGS):
            asked = asked_of_embedder(search, [case.query for case in cases])
            embed_ahead(embedder, vectors, asked)
        found = evaluate(search, cases, limit=DEPTH).found
    print(f"{bench_set.name}: {len(cases)} requests", file=sys.stderr)
    return [
        Said(_language(case), bool(case.relevant), each) for case, each in forecasts(cases, found)
    ]


def _curves(language: str, every: Mapping[str, Sequence[Said]]) -> Mapping[str, Reliability]:
    """The curves of one language: everyday as it is, and with unanswerable requests added."""
    own = [each for each in every[EVERYDAY] if each.language == language]
    others = [
        each for name in UNANSWERABLE for each in every.get(name, ()) if each.language == language
    ]
    missing = sum(1 if each.answerable else -1 for each in own)
    more = Random(SEED).sample(others, min(max(missing, 0), len(others)))
    return {
        AS_IT_IS: reliability(each.forecast for each in own),
        MORE: reliability(each.forecast for each in (*own, *more)),
    }


def _language(case: EvalCase) -> str:
    """By the split where it says so: a mixed request counts as Chinese."""
    return CHINESE if case.split.startswith("zh") else LANGUAGE_NAMES[detect_language(case.query)]


def _report(curves: Mapping[str, Mapping[str, Reliability]]) -> str:
    head = ["language", "requests", ">number", ">said, mean %", ">right, %", ">calibration error"]
    lines = [
        [language, name, f"{each.size:,}", *_means(each), f"{each.error or 0:.3f}"]
        for language, some in curves.items()
        for name, each in some.items()
    ]
    return table(head, lines)


def _means(curve: Reliability) -> list[str]:
    size = max(curve.size, 1)
    said = sum(each.size * each.predicted for each in curve.bins) / size
    right = sum(each.size * each.observed for each in curve.bins) / size
    return [f"{100 * said:.1f}", f"{100 * right:.1f}"]


def _panels(curves: Mapping[str, Mapping[str, Reliability]]) -> Iterator[Panel]:
    for language, some in curves.items():
        lines = [f"{name}: {each.size}, error {each.error or 0:.3f}" for name, each in some.items()]
        yield Panel(language, list(some.values()), lines)


if __name__ == "__main__":
    main()
