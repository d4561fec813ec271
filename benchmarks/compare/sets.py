"""The tools and requests of a run, from the folder of sets. They are made smaller by a seed."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random

from benchmarks.compare.catalog import CompareTool
from benchmarks.folder import SEED, bench_dir, find_sets
from benchmarks.many_tools import listings, read_tools
from toolcrib.evaluate import EvalSuite
from toolcrib.evaluate.cases import EvalCase, EvalTool
from toolcrib.evaluate.measures import score

MOST_TOOLS, MOST_CASES = 1_000, 300
COST_SET, ASKED_SET, ASKED = "mcp_big", "everyday", 63
EVERYDAY = "everyday"
ENGLISH = "everyday, English"
"""A part of everyday: its requests without a letter beyond Latin."""
BEYOND_LATIN = "\u0250"
FUNCTION_WORDS = frozenset(
    """a about all also an and any are as at be but by can could do does for from get give had has
    have how i if in into is it its just let me my need of on or our out please should so some that
    the their them then there these they this to up us want was we what when where which who will
    with would you your""".split()
)
"""Those that a model leaves out when a search tool asks it for keywords."""


@cache
def suite_of(name: str) -> EvalSuite:
    """A set, smaller: some requests, every tool that one is for, and others up to a number."""
    [found] = find_sets(bench_dir(None, os.environ), [name]).sets
    suite = found.load()
    cases = list(suite.cases.items())
    Random(SEED).shuffle(cases)
    chosen = dict(cases[:MOST_CASES])
    needed = {
        id for case in chosen.values() for id in [*case.relevant, *case.equiv, *case.candidates]
    }
    rest = [id for id in suite.tools if id not in needed][: max(0, MOST_TOOLS - len(needed))]
    some = needed | {*rest}
    tools = {id: tool for id, tool in suite.tools.items() if id in some}
    return replace(suite, tools=tools, cases=chosen)


def tools_of(name: str) -> Sequence[CompareTool]:
    return [_plain(tool) for tool in suite_of(name).tools.values()]


def queries_of(name: str) -> Sequence[str]:
    """The requests as they were typed, then each in keywords."""
    typed = [case.query for case in suite_of(name).cases.values()]
    return [*typed, *map(keywords, typed)]


def keywords(text: str) -> str:
    """The request without function words; as it is where nothing else would be left."""
    kept = [word for word in text.split() if word.lower().strip(".,?!;:'\"") not in FUNCTION_WORDS]
    return " ".join(kept) or text


def scored(name: str, found: Sequence[Sequence[str]]) -> Mapping[str, float | int | None]:
    """How many needs are covered by the hits, as typed and in keywords, and by the first."""
    suite = suite_of(name)
    cases, many = list(suite.cases.values()), len(suite.cases)
    typed, short = found[:many], found[many:]
    every = score(zip(cases, typed, strict=True))
    english = [(case, hits) for case, hits in zip(cases, typed, strict=True) if _is_latin(case)]
    return {
        "within_5": every.recall_5,
        "keywords": score(zip(cases, short, strict=True)).recall_5,
        "english": score(english).recall_5,
        "first": every.hit_1,
        "left_empty": every.left_empty,
        "wrongly_empty": every.wrongly_empty,
        "tools": len(suite.tools),
        "requests": every.answerable,
        "unanswerable": every.unanswerable,
        "english_requests": score(english).answerable,
    }


def many_tools(size: int) -> Sequence[CompareTool]:
    """That many real tools of public servers, and beyond them real ones varied."""
    [big] = find_sets(bench_dir(None, os.environ), [COST_SET]).sets
    return [
        CompareTool(
            f"{listing.name}::{tool['name']}",
            tool["name"],
            tool["description"],
            tool["inputSchema"],
            listing.name,
        )
        for listing in listings(read_tools(big.catalog), size)
        for tool in listing.tools
    ]


def asked() -> Sequence[str]:
    """What the costs are measured with."""
    [found] = find_sets(bench_dir(None, os.environ), [ASKED_SET]).sets
    return [case.query for case in found.load().cases.values()][:ASKED]


def _is_latin(case: EvalCase) -> bool:
    return all(letter < BEYOND_LATIN or not letter.isalpha() for letter in case.query)


def _plain(tool: EvalTool) -> CompareTool:
    own = tool.name if tool.server_name else tool.id
    return CompareTool(
        tool.id, own, tool.description or "", tool.parameters or {}, tool.server_name
    )
