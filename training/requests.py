"""Requests that we wrote for tools: in `own/requests.tsv`, `own/functions.tsv` and `own/none.txt`.

requests.tsv   id of an MCP tool, kind, text
functions.tsv  functions of our own, each followed by its requests: `tool`, name, English
               description, Chinese description; then kind, text
none.txt       what people say that no tool is for

Kinds: `short`, `plain` and `detail` ask for the tool in English, `zh` in Chinese; `hint` and
`hint_zh` only imply that it is wanted; `miss` sounds like it and asks for something else; `multi`
asks for several tools at once, whose ids have a space between them.

A program changes some of them: `typo` misspells, `product` names the server of the tool, or for a
`miss` that of another one.
"""

import random
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("own")
SOURCES = {
    "short": "own",
    "plain": "own",
    "detail": "own",
    "zh": "own_zh",
    "hint": "own_hint",
    "hint_zh": "own_hint",
    "miss": "miss",
    "multi": "own_task",
}
FUNCTION_SOURCES = {"own": "function", "own_zh": "function_zh", "own_hint": "function_hint"}
"""Requests for our own functions are counted apart: those for MCP tools are far more."""
TASK, NONE = "own_task", "none"
NO_TOOL = -1
TASKS = 12_000
TYPOS, NAMED = 0.35, 0.25
"""Shares of the English requests that are misspelt too, and of all that name the product too."""
SHORTEST_MISSPELT = 4
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
PLACES = {
    "own": ("{} in {}", "{} on {}", "{} with {}", "in {1}, {0}", "{1}: {0}", "{} ({})"),
    "own_zh": ("用{1}{0}", "在{1}上{0}", "{1}里，{0}", "{0}，在{1}", "{1} {0}"),
}
_ENGLISH = ("{}. Then {}", "{} and after that {}", "{}; {}", "First {}, next {}", "{} Also, {}")
_CHINESE = ("{}，然后{}", "{}，再{}", "{}；另外{}", "先{}，之后{}")
_BETWEEN = re.compile(r" (?=\S+::)")
THEN = {"own": _ENGLISH, "function": _ENGLISH, "own_zh": _CHINESE, "function_zh": _CHINESE}


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
            source = FUNCTION_SOURCES.get(SOURCES[kind], SOURCES[kind])
            asked += [Query(source, place, cells[0]) for place in (last - 2, last - 1)]
    return found, asked


def queries(
    written: Written,
    places: Mapping[str, int],
    servers: Sequence[str],
    more: Sequence[Query],
    chance: random.Random,
) -> list[Query]:
    """All queries: for MCP tools by where each is, more of them, tasks of two, and for nothing.

    `servers` are the names of the servers of all tools, in words.
    """
    asked = [
        Query(SOURCES[kind], places[id], text)
        for ids, kind, text in written.requests
        for id in _ids(ids, places)
        if id in places
    ]
    asked += [*more, *misspelt(asked, chance), *with_products(asked, servers, chance)]
    made = tasks(asked, chance, min(TASKS, len(asked) // 2))
    return [*asked, *made, *(Query(NONE, NO_TOOL, text) for text in written.none)]


def _ids(cell: str, known: Container[str]) -> Sequence[str]:
    """The ids in a cell: one, or several where a space stands before `server::`."""
    return [cell] if cell in known else _BETWEEN.split(cell)  # an id may have spaces too


def misspelt(asked: Iterable[Query], chance: random.Random) -> Iterator[Query]:
    """Some English requests with one to three words misspelt, as hands do on a keyboard."""
    for query in asked:
        if query.source in {"own", "own_hint"} and query.text.isascii() and chance.random() < TYPOS:
            words = query.text.split(" ")
            long = [n for n, w in enumerate(words) if len(w) >= SHORTEST_MISSPELT and w.isalpha()]
            for place in chance.sample(long, min(len(long), chance.choice((1, 1, 2, 3)))):
                words[place] = _misspelt(words[place], chance)
            yield Query("own_typo", query.tool, " ".join(words))


def _misspelt(word: str, chance: random.Random) -> str:
    """Two letters swapped, one left out, doubled, or hit beside."""
    place = chance.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    row = next((keys for keys in KEYS if letter in keys), letter)
    beside = row[max(0, row.index(letter) - 1)] if letter in row else letter
    swapped = after[:1] + letter + after[1:]
    return before + chance.choice((swapped, after, letter + letter + after, beside + after))


def with_products(
    asked: Sequence[Query], servers: Sequence[str], chance: random.Random
) -> Iterator[Query]:
    """Some requests with the server of their tool named, and as often with another one: a miss."""
    named = [name for name in {*servers} if name]
    for query in asked:
        forms = PLACES.get(query.source)
        own = servers[query.tool] if forms else ""
        if not forms or not own or chance.random() > NAMED:
            continue
        text = query.text.rstrip(".?!。？！")
        if {*text.lower().split()}.isdisjoint(own.split()):
            yield Query("own_product", query.tool, chance.choice(forms).format(text, own))
            other = chance.choice(named)
            if {*other.split()}.isdisjoint(own.split()):
                yield Query("miss", query.tool, chance.choice(forms).format(text, other))


def tasks(asked: Iterable[Query], chance: random.Random, count: int) -> Iterator[Query]:
    """Two requests in one, which ask for the tools of both."""
    by_source: dict[str, list[Query]] = {source: [] for source in THEN}
    for query in asked:
        if query.source in by_source:
            by_source[query.source].append(query)
    enough = sorted(source for source, found in by_source.items() if len(found) > 1)
    for _ in range(count // 2 if enough else 0):
        source = chance.choice(enough)
        one, other = chance.sample(by_source[source], 2)
        whole = chance.choice(THEN[source]).format(one.text.rstrip(".。"), other.text)
        yield from (Query(TASK, each.tool, whole) for each in (one, other))
