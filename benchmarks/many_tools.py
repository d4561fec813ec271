"""Any number of tools: real ones, and beyond them real ones varied, on servers of 10 to 200."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.folder import SEED

SMALLEST, LARGEST = 10, 200
CHANGED = 0.3
"""How many of the words of a description are others in a varied tool."""
LONGEST_NAME = 100
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")

Tool = Mapping[str, Any]


class Listing(NamedTuple):
    """A server and the tools that it lists."""

    name: str
    tools: Sequence[Tool]

    def json(self) -> dict[str, Any]:
        """As it is handed to another process."""
        return {"name": self.name, "tools": self.tools}


def read_tools(catalog: Path) -> list[Tool]:
    """The tools of a set as servers list them; those of a server stand together."""
    lines = map(json.loads, catalog.read_text(encoding="utf-8").splitlines())
    rows = [(line["id"].rpartition("::")[0], _tool(line)) for line in lines]
    order = sorted({server for server, _ in rows})
    Random(SEED).shuffle(order)
    place = {server: number for number, server in enumerate(order)}
    return [tool for _, tool in sorted(rows, key=lambda row: place[row[0]])]


def listings(tools: Sequence[Tool], size: int) -> Iterator[Listing]:
    """As many tools as that, the real ones first."""
    random = Random(SEED)
    every = islice(chain.from_iterable(_rounds(tools, random)), size)
    for number in count():
        some = list(islice(every, random.randint(SMALLEST, LARGEST)))
        if not some:
            return
        yield Listing(f"server{number}", _own_names(some))


def _rounds(tools: Sequence[Tool], random: Random) -> Iterator[Iterator[Tool]]:
    yield iter(tools)
    words = [word for tool in tools for word in tool["description"].split()]
    for number in count(2):
        yield (_varied(tool, number, words, random) for tool in tools)


def _varied(tool: Tool, number: int, words: Sequence[str], random: Random) -> Tool:
    """Another name and other words, as common as words are in all of them."""
    said = [
        random.choice(words) if random.random() < CHANGED else word
        for word in tool["description"].split()
    ]
    word = _ILLEGAL.sub("", random.choice(words)).lower()[:20]
    name = f"{tool['name'][:LONGEST_NAME]}_{word or 'other'}{number}"
    return {**tool, "name": name, "description": " ".join(said)}


def _own_names(tools: Sequence[Tool]) -> list[Tool]:
    """The tools; of two of one name the second gets a number."""
    taken = set[str]()
    own: list[Tool] = []
    for number, tool in enumerate(tools):
        name = f"{tool['name']}_{number}" if tool["name"] in taken else tool["name"]
        taken.add(name)
        own.append({**tool, "name": name})
    return own


def _tool(line: Mapping[str, Any]) -> Tool:
    return {
        "name": _ILLEGAL.sub("_", line["name"])[:LONGEST_NAME],
        "description": line.get("description") or "",
        "inputSchema": {"type": "object", **(line.get("parameters") or {})},
    }
