"""Requests that we wrote for tools: in `own/requests.tsv`, `own/functions.tsv` and `own/none.txt`.

requests.tsv   id of an MCP tool, kind, text
functions.tsv  functions of our own, each followed by its requests: `tool`, name, English
               description, Chinese description; then kind, text
none.txt       what people say that no tool is for

Kinds: `plain` and `detail` ask for the tool in English, `zh` in Chinese; `miss` sounds like it
and asks for something else.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("own")
SOURCES = {"plain": "own", "detail": "own", "zh": "own_zh", "miss": "miss"}
TASK, NONE = "own_task", "none"
NO_TOOL = -1
TASKS = 12_000
THEN = {
    "own": ("{}. Then {}", "{} and after that {}", "{}; {}", "First {}, next {}", "{} Also, {}"),
    "own_zh": ("{}，然后{}", "{}，再{}", "{}；另外{}", "先{}，之后{}"),
}


class Query(NamedTuple):
    """A text, and the place of the tool that it asks for, or with `miss` seems to ask for."""

    source: str
    tool: int
    text: str


class Function(NamedTuple):
    """A tool of our own, as in a catalog."""

    name: str
    description: str
    parameters: str = ""


def for_tools(places: Mapping[str, int]) -> Iterator[Query]:
    """The requests for MCP tools, by where each tool is."""
    for id, kind, text in _cells("requests.tsv"):
        if id in places:
            yield Query(SOURCES[kind], places[id], text)


def functions(first: int) -> tuple[list[Function], list[Query]]:
    """Our own functions, in English and again in Chinese, with their requests for both."""
    found: list[Function] = []
    asked: list[Query] = []
    for kind, *cells in _cells("functions.tsv"):
        if kind == "tool":
            name, english, chinese = cells
            found += [Function(name, english), Function(name, chinese)]
        else:
            last = first + len(found)
            asked += [Query(SOURCES[kind], place, cells[0]) for place in (last - 2, last - 1)]
    return found, asked


def tasks(asked: Iterable[Query], chance: random.Random, count: int = TASKS) -> Iterator[Query]:
    """Two requests in one, which ask for the tools of both."""
    by_source: dict[str, list[Query]] = {source: [] for source in THEN}
    for query in asked:
        if query.source in by_source:
            by_source[query.source].append(query)
    for _ in range(count // 2):
        source = chance.choice(sorted(by_source))
        one, other = chance.sample(by_source[source], 2)
        whole = chance.choice(THEN[source]).format(one.text.rstrip(".。"), other.text)
        yield from (Query(TASK, each.tool, whole) for each in (one, other))


def for_nothing() -> list[Query]:
    """What no tool is for."""
    lines = (FOLDER / "none.txt").read_text(encoding="utf-8").splitlines()
    return [Query(NONE, NO_TOOL, line) for line in lines]


def _cells(name: str) -> Iterator[list[str]]:
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        yield line.split("\t")
