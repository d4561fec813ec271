"""Requests that we wrote for tools: in `own/requests.tsv`, `own/functions.tsv` and `own/none.txt`.

requests.tsv   id of an MCP tool, kind, text
functions.tsv  functions of our own, each followed by its requests: `tool`, name, English
               description, Chinese description; then kind, text
none.txt       what people say that no tool is for

Kinds: `plain` and `detail` ask for the tool in English, `zh` in Chinese; `hint` and `hint_zh` only
imply that it is wanted; `miss` sounds like it and asks for something else.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("own")
SOURCES = {
    "plain": "own",
    "detail": "own",
    "zh": "own_zh",
    "hint": "own_hint",
    "hint_zh": "own_hint",
    "miss": "miss",
}
TASK, NONE = "own_task", "none"
NO_TOOL = -1
TASKS = 12_000
THEN = {
    "own": ("{}. Then {}", "{} and after that {}", "{}; {}", "First {}, next {}", "{} Also, {}"),
    "own_zh": ("{}，然后{}", "{}，再{}", "{}；另外{}", "先{}，之后{}"),
}


class Written(NamedTuple):
    """The lines of the three files, in cells."""

    requests: Sequence[Sequence[str]]
    functions: Sequence[Sequence[str]]
    none: Sequence[str]


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


def load() -> Written:
    """All that we wrote."""
    texts = ((FOLDER / name).read_text("utf-8") for name in ("requests.tsv", "functions.tsv"))
    rows = [[line.split("\t") for line in text.splitlines()] for text in texts]
    return Written(rows[0], rows[1], (FOLDER / "none.txt").read_text("utf-8").splitlines())


def functions(rows: Iterable[Sequence[str]], first: int) -> tuple[list[Function], list[Query]]:
    """Our own functions, in English and again in Chinese, with their requests for both."""
    found: list[Function] = []
    asked: list[Query] = []
    for kind, *cells in rows:
        if kind == "tool":
            name, english, chinese = cells
            found += [Function(name, english), Function(name, chinese)]
        else:
            last = first + len(found)
            asked += [Query(SOURCES[kind], place, cells[0]) for place in (last - 2, last - 1)]
    return found, asked


def queries(
    written: Written, places: Mapping[str, int], more: Sequence[Query], chance: random.Random
) -> list[Query]:
    """All queries: for MCP tools by where each is, more of them, tasks of two, and for nothing."""
    asked = [
        Query(SOURCES[kind], places[id], text)
        for id, kind, text in written.requests
        if id in places
    ]
    asked += more
    made = tasks(asked, chance, min(TASKS, len(asked) // 2))
    return [*asked, *made, *(Query(NONE, NO_TOOL, text) for text in written.none)]


def tasks(asked: Iterable[Query], chance: random.Random, count: int) -> Iterator[Query]:
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
