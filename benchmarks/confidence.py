"""How sure search may be: fits the constants of `search.confidence`, and draws what they are worth.

    python -m benchmarks.confidence --bench-dir DIR [--cache DIR] [--svg docs/confidence.svg]

The fit is to whether one of the first five is right; of a query that has no answer none ever is. A
set counts as much as another, and everyday, which is what people type, as four. In a set that has
both, the queries without an answer count a fifth. What is reported of a set comes from a fit to all
others; of everyday from one to all others and to four fifths of itself. UltraTool is reported and
not fitted to: it has many right tools that its labels do not know. `--cache` is that of
`benchmarks.quality`.

An unanswerable query is searched among its own candidates where it has any. So that few candidates
are no evidence, the answerable queries of such a set are searched among theirs too, for the fit.

There are three fits: by the second look, by meaning where the second look is off, and by words
where there are no vectors. Each is made of queries that ask for one thing, and of which no rule
says how likely it is that they are answered.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.ahead import asked_of_embedder, embed_ahead, kept_vectors
from benchmarks.chance_fit import EVERYDAY, BySet, Flags, Judged, Numbers, Seen, fitted, judged
from benchmarks.curve import Curve, drawn
from benchmarks.everyday import SETTINGS
from benchmarks.folder import BenchSet, NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.markdown import NoMarks, put, table
from toolcrib.evaluate import open_search
from toolcrib.evaluate.calibration import BINS, SHOWN
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.evaluation import among_candidates
from toolcrib.evaluate.measures import counted
from toolcrib.index import SomeArms
from toolcrib.model import Entry
from toolcrib.search import Search
from toolcrib.search.confidence import (
    ABSENT,
    BY_WORDS,
    LOW,
    Evidence,
    Fit,
    LookFit,
    WordFit,
    confidence_level,
    evidence,
)
from toolcrib.search.pipeline import BROAD_HITS, SearchTrace
from toolcrib.wiring import embedder_of

NAME = "confidence"
SETS = (
    *("acebench_en", "acebench_zh", "azure_mcp", "azure_mcp_2025", "bfcl", EVERYDAY),
    *("mcpproxy_golden", "mcptoolbenchpp", "metatool", "sealtools", "stabletoolbench", "toollens"),
    *("ultratool_en", "ultratool_zh", "ultratool_zh2en"),
)
MOST = 400
"""Queries of each sort that are taken from a set."""
ANSWERED = 0.97
NOTHING = "–"
LOOK, MEANING, WORDS = "by the second look", "by meaning", "by words"
AS_IT_IS = "by words, with the constants that search has"
WORDS_SAID = ("high", "medium", "low", "none")
FITS = {LOOK: LookFit, MEANING: Fit, WORDS: WordFit}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.confidence", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--cache", type=Path, help="keep vectors in this folder")
    parser.add_argument("--svg", type=Path, help="draw the curve into this file")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    try:
        sets = find_sets(bench_dir(said.bench_dir, os.environ), SETS).sets
        seen = [_seen(each, said.cache) for each in sets]
        every = {kind: [each[kind] for each in seen] for kind in FITS}
        text = report(every)
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))
    if said.svg:
        said.svg.write_text(drawn(_curves(every[LOOK])), encoding="utf-8")


def _seen(bench_set: BenchSet, cache: Path | None) -> Mapping[str, Seen]:
    """What search sees of the queries of a set, by each kind of evidence."""
    suite = bench_set.load()
    cases = Random(1).sample(list(suite.cases.values()), len(suite.cases))
    asked = [case for case in cases if case.relevant][:MOST]
    asked += [case for case in cases if not case.relevant][:MOST]
    with kept_vectors(cache) as vectors, open_search(suite, SETTINGS, vectors) as search:
        if embedder := embedder_of(SETTINGS):
            texts = asked_of_embedder(search, [case.query for case in asked])
            embed_ahead(embedder, vectors, texts)
        seen = {
            kind: _of_search(bench_set.name, each, asked) for kind, each in _kinds(search).items()
        }
    print(f"{bench_set.name}: {len(asked)} queries", file=sys.stderr)
    return seen


def _kinds(search: Search) -> Mapping[str, Search]:
    """The search by each kind of evidence; none of them abstains."""
    look = replace(search, rules=replace(search.rules, abstain=False))
    words = SomeArms(search.view, ("like", "bm25"))
    return {
        LOOK: look,
        MEANING: replace(look, rules=replace(look.rules, second_look="off")),
        WORDS: replace(look, view=words, look=_no_look, calibrated_cosines=False),
    }


def _no_look(_text: str, _entries: Sequence[Entry], **_how: bool) -> Mapping[str, float]:
    return {}


def _of_search(name: str, search: Search, cases: Sequence[EvalCase]) -> Seen:
    few = [case for case in cases if case.relevant and case.candidates]
    both = any(not case.relevant and case.candidates for case in cases)
    asked = [(case, among_candidates(search, case)) for case in cases]
    asked += [(case, search.within(case.candidates or ())) for case in few if both]
    traces = [among.trace(case.query, depth=search.depth) for case, among in asked]
    things = [(place, each) for place, trace in enumerate(traces) for each in (trace, *trace.parts)]
    columns = _columns(search)
    return Seen(
        name,
        np.array([columns(evidence(each.steps, each.seen)) for _, each in things]),
        np.array([_bounds(asked[place][1], each) for place, each in things]),
        np.array([place for place, _ in things]),
        np.array([bool(case.relevant) for case, _ in asked]),
        np.array([_is_right(case, each) for (case, _), each in zip(asked, traces, strict=True)]),
        np.arange(len(asked)) >= len(cases),
    )


def _columns(search: Search) -> Callable[[Evidence], Sequence[float]]:
    """The numbers that a kind of evidence goes by, in the order of its constants."""
    if not search.calibrated_cosines:
        return lambda each: (each.share, each.lead, log(each.terms))
    if search.rules.second_look == "off":
        return lambda each: (each.cosine or 0.0,)
    return lambda each: (each.look or 0.0, each.cosine or 0.0, each.look_lead)


def _bounds(search: Search, trace: SearchTrace) -> tuple[float, float]:
    """The least and the most that the rules leave of a chance, whatever a formula says."""
    if not trace.ranking:
        return 0.0, 0.0
    if trace.chance == 1.0:  # it names a tool
        return 1.0, 1.0
    if trace.seen.absent:
        return ABSENT, ABSENT
    never_none = not search.calibrated_cosines or search.is_broad(trace.ranking[:BROAD_HITS])
    return (LOW if never_none else 0.0), 1.0


def _is_right(case: EvalCase, trace: SearchTrace) -> bool:
    first = counted(case, [match.id for match in trace.ranking])[:SHOWN]
    return not set(case.relevant).isdisjoint(first)


def report(every: Mapping[str, BySet]) -> str:
    """The table of sets, that of words, and the constants."""
    chances = {kind: judged(some) for kind, some in every.items()}
    chances[AS_IT_IS] = [seen.chances(np.array(BY_WORDS)) for seen in every[WORDS]]
    told = {kind: _told({**every, AS_IT_IS: every[WORDS]}[kind], chances[kind]) for kind in chances}
    few = [
        (_as_told(seen.part(seen.few | ~seen.fits)), likely[seen.few | ~seen.fits])
        for seen, likely in zip(every[LOOK], chances[LOOK], strict=True)
        if seen.few.any()
    ]
    return "\n\n".join(
        [
            _by_set(told[LOOK], few),
            "How often each word is right, in per cent, and of how many:",
            _by_word(told),
            f"Fitted to all sets: `{_constants(every)}`.",
        ]
    )


def _told(every: BySet, chances: Sequence[Numbers]) -> Sequence[Judged]:
    """Without the queries that are there for the fit alone."""
    pairs = zip(every, chances, strict=True)
    return [(seen.part(~seen.few), likely[~seen.few]) for seen, likely in pairs]


def _as_told(seen: Seen) -> Seen:
    return replace(seen, few=np.zeros_like(seen.few))


def _constants(every: Mapping[str, BySet]) -> str:
    found = {kind: FITS[kind](*fitted(some).tolist()) for kind, some in every.items()}
    return ", ".join(
        f"{name} = {type(fit).__name__}({', '.join(f'{each:.2f}' for each in fit)})"
        for name, fit in zip(("BY_LOOK", "BY_MEANING", "BY_WORDS"), found.values(), strict=True)
    )


def _by_set(told: Sequence[Judged], few: Sequence[Judged]) -> str:
    head = ["set", ">with an answer", ">without", ">said, mean %", ">right, %"]
    head += [">calibration error", ">right, and left empty, %", ">without, left empty, %"]
    head += [f">the same at {1 - ANSWERED:.0%} wrongly empty, %"]
    lines = [_cells(seen.name, seen, likely) for seen, likely in told]
    lines += [_cells(f"{seen.name}, all among few", seen, likely) for seen, likely in few]
    return table(head, lines)


def _cells(name: str, seen: Seen, likely: Numbers) -> list[str]:
    """A row: what is said and right is of all queries, weighted as in the fit."""
    answered, vain, weights = likely[seen.fits], likely[~seen.fits], seen.weights()
    weights = weights / weights.sum()
    lost = seen.right & (likely < LOW)
    cells = [
        *(name, f"{len(answered):,}", f"{len(vain):,}"),
        f"{100 * weights @ likely:.1f}",
        f"{100 * weights @ seen.right:.1f}",
        f"{_error(seen.right, likely, weights):.3f}",
        f"{100 * lost.sum() / len(answered):.1f}",
    ]
    if not len(vain):
        return [*cells, NOTHING, NOTHING]
    strict = np.quantile(answered, 1 - ANSWERED)
    return [*cells, f"{100 * (vain < LOW).mean():.1f}", f"{100 * (vain < strict).mean():.1f}"]


def _error(right: Flags, likely: Numbers, weights: Numbers) -> float:
    """The expected calibration error, as `toolcrib.evaluate.calibration` has it, with weights."""
    place = np.minimum((likely * BINS).astype(int), BINS - 1)
    return float(np.abs(np.bincount(place, weights * (likely - right))).sum())


def _by_word(told: Mapping[str, Sequence[Judged]]) -> str:
    lines: list[list[str]] = []
    for kind, pairs in told.items():
        lines.append([kind, *_words(pairs)])
        everyday = [each for each in pairs if each[0].name == EVERYDAY]
        lines.append([f"{kind}, everyday", *_words(everyday)])
    return table(["", *(f">{word}" for word in WORDS_SAID)], lines)


def _words(pairs: Sequence[Judged]) -> Iterator[str]:
    """Of each word how many per cent are right, and of how many."""
    said = [
        (confidence_level(chance), right)
        for seen, likely in pairs
        for chance, right in zip(likely.tolist(), seen.right.tolist(), strict=True)
    ]
    for word in WORDS_SAID:
        some = [right for each, right in said if each == word]
        yield f"{100 * fmean(some):.1f} of {len(some):,}" if some else NOTHING


def _curves(every: BySet) -> list[Curve]:
    pairs = zip(every, judged(every), strict=True)
    return [
        _curve(each.name, likely[each.fits & ~each.few], likely[~each.fits])
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
