"""All that the model learns from, gathered into one folder of plain files.

pairs.tsv    language, English, the other text
queries.tsv  source, number of the tool, query
tools.tsv    server, name, description, parameter names
pieces.txt   the vocabulary, simplified.tsv the table of characters
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.held_out import held_out
from toolcrib.index import server_words
from training import own_text, requests
from training.parallel import Pair, load
from training.pseudo import Dictionary, chinese_queries, dictionary, english_queries, words_of

SEED = 7
EXCLUDED_SOURCES = frozenset({"toollens"})
"""Query sets whose licence is not stated."""
OTHERS_MOST = 45_000
UNLABELLED = "mcp_docs_unlabelled.jsonl"


class Tool(NamedTuple):
    """A tool as the model reads it: `server` is its server's name in words."""

    server: str
    name: str
    description: str
    parameters: str


class Corpus(NamedTuple):
    """Texts and their relations; a query is (source, tool, text), a tool is its place."""

    pairs: Sequence[Pair]
    tools: Sequence[Tool]
    queries: Sequence[tuple[str, int, str]]


class Ours(NamedTuple):
    """Text of our own: lists, how many requests are put together from them, requests for tools."""

    lists: own_text.Own
    made: int
    written: requests.Written


def gather(parallel: Path, pool: Path, packages: frozenset[str], ours: Ours) -> Corpus:
    """Everything, from the pairs of these packages and the folder of query–tool pairs."""
    chance = random.Random(SEED)
    pairs = list(_balanced(_unique(p for p in load(parallel) if p.package in packages), chance))
    made = [*own_text.requests(ours.lists, ours.made, chance), *own_text.named(ours.lists)]
    pairs += [Pair(english, other, "zh", "own") for english, other in made]
    chinese = [(p.english, p.other) for p in pairs if p.language == "zh" and p.package != "own"]
    tools, queries = _labelled(pool)
    rows = list(_json_lines(pool / UNLABELLED))
    places = {str(row["id"]): number for number, row in enumerate(rows, len(tools))}
    more = _unlabelled(rows, dictionary(ours.lists, chinese), len(tools), chance)
    tools += map(tool_of, rows)
    functions, written = _written(ours.written, places, tools, chance)
    return Corpus(pairs, [*tools, *functions], [*queries, *more, *written])


def write(corpus: Corpus, folder: Path) -> None:
    """The corpus as files, one line a thing."""
    folder.mkdir(parents=True, exist_ok=True)
    _lines(folder / "pairs.tsv", ((p.language, p.english, p.other) for p in corpus.pairs))
    _lines(folder / "tools.tsv", corpus.tools)
    _lines(folder / "queries.tsv", ((s, str(n), q) for s, n, q in corpus.queries))


def english_texts(corpus: Corpus) -> list[str]:
    """The English in it that is no translation, for the choice of pieces."""
    docs = [f"{tool.name} {tool.description}" for tool in corpus.tools]
    return docs + [text for _, _, text in corpus.queries if text.isascii()]


def _lines(file: Path, rows: Iterable[Sequence[str]]) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.writelines("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)


def _unique(pairs: Iterable[Pair]) -> Iterator[Pair]:
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        key = (pair.english.lower(), pair.other.lower())
        if key not in seen:
            seen.add(key)
            yield pair


def _balanced(pairs: Iterable[Pair], chance: random.Random) -> Iterator[Pair]:
    """All Chinese pairs; of every other language as many as we have room for."""
    by_language: dict[str, list[Pair]] = {}
    for pair in pairs:
        by_language.setdefault(pair.language, []).append(pair)
    for language, found in by_language.items():
        most = len(found) if language.startswith("zh") else min(OTHERS_MOST, len(found))
        yield from chance.sample(found, most)


def _labelled(pool: Path) -> tuple[list[Tool], list[tuple[str, int, str]]]:
    rows = list(_json_lines(pool / "tools.jsonl"))
    place = {row["id"]: number for number, row in enumerate(rows)}
    queries = [
        (pair["source"], place[id], pair["query"])
        for pair in _json_lines(pool / "pairs.jsonl")
        if pair["source"] not in EXCLUDED_SOURCES and not held_out(pair["query"])
        for id in pair["positive"]
    ]
    return [tool_of(row) for row in rows], queries


def _unlabelled(
    rows: Iterable[Mapping[str, object]], using: Dictionary, first: int, chance: random.Random
) -> list[tuple[str, int, str]]:
    queries: list[tuple[str, int, str]] = []
    for number, tool in enumerate(map(tool_of, rows), first):
        english = english_queries(tool.name, tool.description, using, chance, 5)
        own_name = " ".join(words_of(tool.name))
        queries += [("mcp_name" if q == own_name else "mcp", number, q) for q in english]
        chinese = chinese_queries(tool.name, using, chance, 5)
        queries += [("mcp_zh", number, query) for query in chinese]
    return queries


def _written(
    written: requests.Written,
    places: Mapping[str, int],
    tools: Sequence[Tool],
    chance: random.Random,
) -> tuple[list[Tool], list[tuple[str, int, str]]]:
    """Our own functions, and all requests that we wrote, by where each tool is."""
    functions, asked = requests.functions(written.functions, len(tools))
    servers = [*(tool.server for tool in tools), *("" for _ in functions)]
    every = requests.queries(written, places, servers, asked, chance)
    return [Tool("", *each) for each in functions], [tuple(each) for each in every]


def tool_of(row: Mapping[str, object]) -> Tool:
    """A tool from a line of a catalog."""
    parameters = row.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    names = " ".join(map(str, properties)) if isinstance(properties, dict) else ""
    owner, _, _ = str(row.get("id") or "").rpartition("::")
    server = str(row.get("server") or owner).rpartition("/")[2]
    text = str(row.get("description") or "")[:1500]
    return Tool(server_words(server), str(row["name"]), text, names)


def _json_lines(file: Path) -> Iterator[dict[str, object]]:
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
