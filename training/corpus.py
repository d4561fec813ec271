"""All texts that there are before a language model writes more."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.held_out import held_out
from toolcrib.index import server_words
from toolcrib.search.task_parts import subqueries
from toolcrib.search.variants import query_variants
from training import requests
from training.requests import Asked
from training.texts import UNSAID, Texts, Tool, described

POOL = "train_pool"
"""The folder of the sets that is learned from."""
EXCLUDED_SOURCES = frozenset({"toollens"})
"""Query sets whose licence is not stated."""
SEED = 7
LONGEST, SENTENCES = 400, 3
"""Of a text in characters; and so many sentences of a description are read as requests."""
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+|；|。")


def gather(pool: Path, written: requests.Written) -> Texts:
    """Everything, from the folder of query–tool pairs and from what we wrote."""
    chance = random.Random(SEED)
    labelled = [row for row in _rows(pool / "tools.jsonl") if row["source"] not in EXCLUDED_SOURCES]
    rows = [*labelled, *_rows(pool / "mcp_docs_unlabelled.jsonl")]
    place = {str(row["id"]): number for number, row in enumerate(rows)}
    tools = [*map(tool_of, rows)]
    asked = [*_pairs(pool, place), *_written(written, place)]
    functions, more = _functions(written, len(tools))
    tools += functions
    asked += more
    asked += [*requests.with_products(asked, [tool.server for tool in tools], chance)]
    asked += requests.tasks(asked, chance)
    asked += [Asked("none", (), text) for text in written.none]
    return Texts(tools, [*_once([*asked, *_unsaid(tools, asked)])])


def tool_of(row: Mapping[str, object]) -> Tool:
    """A tool from a line of a catalog."""
    parameters = row.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    names = " ".join(map(str, properties)) if isinstance(properties, dict) else ""
    owner, _, _ = str(row.get("id") or "").rpartition("::")
    server = str(row.get("server") or owner).rpartition("/")[2]
    text = str(row.get("description") or "")[:1500]
    return Tool(server_words(server), str(row["name"]), text, names)


def _pairs(pool: Path, place: Mapping[str, int]) -> Iterator[Asked]:
    for pair in _rows(pool / "pairs.jsonl"):
        known = [place[id] for id in pair["positive"] if id in place]
        if known and pair["source"] not in EXCLUDED_SOURCES and not held_out(pair["query"]):
            yield Asked(pair["source"], known, pair["query"])


def _written(written: requests.Written, place: Mapping[str, int]) -> Iterator[Asked]:
    for cell, kind, text in written.requests:
        known = [place[id] for id in requests.ids(cell, place) if id in place]
        if known:
            yield Asked(kind, known, text)


def _functions(written: requests.Written, first: int) -> tuple[list[Tool], list[Asked]]:
    """Our own functions, in English and again in Chinese, with their requests for both."""
    found: list[Tool] = []
    asked: list[Asked] = []
    for kind, *cells in written.functions:
        if kind == "tool":
            found += [Tool("", cells[0], text, "") for text in cells[1:]]
        else:
            last = first + len(found)
            asked.append(Asked(kind, (last - 2, last - 1), cells[0]))
    return found, asked


def _unsaid(tools: Iterable[Tool], asked: Iterable[Asked]) -> Iterator[Asked]:
    """What search has embedded of requests beside the whole, and words of tools as if asked."""
    for each in asked:
        for part in (each.text, *subqueries(each.text)):
            yield Asked("part", (), part)
            yield Asked("part", (), query_variants(part)[0].text)
    for tool in tools:
        yield Asked("name", (), described(Tool("", tool.name, "", ""), server=False).rstrip(": "))
        every = (each.strip(" -*#\t") for each in _SENTENCE.split(tool.description))
        some = [each[:LONGEST] for each in every if len(each) > 3][:SENTENCES]
        yield from (Asked("sentence", (), text) for text in some)


def _once(asked: Iterable[Asked]) -> Iterator[Asked]:
    """Each text that says something of a tool as often as it does, every other text once."""
    seen: set[str] = set()
    for kind, tools, text in asked:
        plain = " ".join(text.split())
        if plain and (kind not in UNSAID or plain not in seen):
            seen.add(plain)
            yield Asked(kind, tools, plain)


def _rows(file: Path) -> Iterator[dict[str, object]]:
    with file.open(encoding="utf-8") as text:
        yield from map(json.loads, text)


def describe(found: Texts) -> str:
    """How much of what there is."""
    kinds = Counter(each.kind for each in found.asked)
    return f"{len(found.tools)} tools, {len(found.asked)} texts: {dict(kinds)}"
