"""Requests that we wrote for tools: in `own/requests.tsv`, `own/functions.tsv` and `own/none.txt`.

requests.tsv   id of an MCP tool, kind, text
functions.tsv  functions of our own, each followed by its requests: `tool`, name, English
               description, Chinese description; then kind, text
none.txt       what people say that no tool is for

Kinds: `short`, `plain` and `detail` ask for the tool in English, `zh` in Chinese; `hint` and
`hint_zh` only imply that it is wanted; `miss` sounds like it and asks for something else; `multi`
asks for several tools at once, whose ids have a space between them.

A program makes more of them: it misspells, names products, and puts two requests into one.
"""

import random
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).with_name("own")
KINDS = ("short", "plain", "detail", "zh", "hint", "hint_zh", "miss", "multi")
NAMED, TASKS = 0.25, 12_000
"""The share of requests that name the product too; and so many tasks are put together."""
SHORTEST_MISSPELT = 4
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_ENGLISH = ("{} in {}", "{} on {}", "{} with {}", "in {1}, {0}", "{1}: {0}", "{} ({})")
PLACES = {
    **dict.fromkeys(("short", "plain", "detail"), _ENGLISH),
    "zh": ("用{1}{0}", "在{1}上{0}", "{1}里，{0}", "{0}，在{1}", "{1} {0}"),
}
"""How a request of a kind is said with a product."""
_THEN = ("{}. Then {}", "{} and after that {}", "{}; {}", "First {}, next {}", "{} Also, {}")
THEN = {
    **dict.fromkeys(("short", "plain", "detail"), _THEN),
    "zh": ("{}，然后{}", "{}，再{}", "{}；另外{}", "先{}，之后{}"),
}
_BETWEEN = re.compile(r" (?=\S+::)")


class Written(NamedTuple):
    """The lines of the three files, in cells."""

    requests: Sequence[Sequence[str]]
    functions: Sequence[Sequence[str]]
    none: Sequence[str]


class Asked(NamedTuple):
    """A text, and the places of the tools that its kind says something of."""

    kind: str
    tools: Sequence[int]
    text: str


def load() -> Written:
    """All that we wrote."""
    texts = ((FOLDER / name).read_text("utf-8") for name in ("requests.tsv", "functions.tsv"))
    rows = [[line.split("\t") for line in text.splitlines()] for text in texts]
    return Written(rows[0], rows[1], (FOLDER / "none.txt").read_text("utf-8").splitlines())


def ids(cell: str, known: Container[str]) -> Sequence[str]:
    """The ids in a cell: one, or several where a space stands before `server::`."""
    return [cell] if cell in known else _BETWEEN.split(cell)  # an id may have spaces too


def misspelt(text: str, chance: random.Random) -> str:
    """An English text with one to three words misspelt, as hands do on a keyboard."""
    words = text.split(" ")
    long = [n for n, w in enumerate(words) if len(w) >= SHORTEST_MISSPELT and w.isalpha()]
    for place in chance.sample(long, min(len(long), chance.choice((1, 1, 2, 3)))):
        words[place] = _misspelt(words[place], chance)
    return " ".join(words)


def _misspelt(word: str, chance: random.Random) -> str:
    """Two letters swapped, one left out, doubled, or hit beside."""
    place = chance.randrange(1, len(word) - 1)
    before, letter, after = word[:place], word[place], word[place + 1 :]
    row = next((keys for keys in KEYS if letter in keys), letter)
    beside = row[max(0, row.index(letter) - 1)] if letter in row else letter
    swapped = after[:1] + letter + after[1:]
    return before + chance.choice((swapped, after, letter + letter + after, beside + after))


def with_products(
    asked: Iterable[Asked], servers: Sequence[str], chance: random.Random
) -> Iterator[Asked]:
    """Some requests with the server of their tool named, and as often with another one: `wrong`.

    `servers` are the names of the servers of all tools, in words.
    """
    named = sorted({*servers} - {""})
    for kind, tools, text in asked:
        forms = PLACES.get(kind)
        own = servers[tools[0]] if forms else ""
        if not forms or not own or chance.random() > NAMED:
            continue
        plain = text.rstrip(".?!。？！")
        if {*plain.lower().split()}.isdisjoint(own.split()):
            yield Asked("product", tools, chance.choice(forms).format(plain, own))
            other = chance.choice(named)
            if {*other.split()}.isdisjoint(own.split()):
                yield Asked("wrong", tools, chance.choice(forms).format(plain, other))


def tasks(asked: Sequence[Asked], chance: random.Random, most: int = TASKS) -> list[Asked]:
    """Two requests of a kind in one, which ask for the tools of both."""
    by_kind = {kind: [each for each in asked if each.kind == kind] for kind in THEN}
    enough = [kind for kind, found in by_kind.items() if len(found) > 1]
    made: list[Asked] = []
    for _ in range(min(most, len(asked) // 4) if enough else 0):
        kind = chance.choice(enough)
        one, other = chance.sample(by_kind[kind], 2)
        whole = chance.choice(THEN[kind]).format(one.text.rstrip(".。"), other.text)
        made.append(Asked("task", (*one.tools, *other.tools), whole))
    return made
