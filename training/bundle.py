"""One small folder with all that training needs, to be carried to a machine with a GPU."""

import json
import lzma
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.held_out import held_out
from training.corpus import Corpus, tool_of

SMALL_SETS = 4000
"""At most so many queries of a development set travel: more would not tell more."""


def development(bench: Path, out: Path) -> None:
    """The development sets, for measuring where the training runs: never to learn from."""
    with lzma.open(out / "dev.jsonl.xz", "wt", encoding="utf-8") as file:
        for row in _development(bench):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _development(bench: Path) -> Iterator[Mapping[str, object]]:
    for queries in sorted(bench.glob("*/queries.jsonl")):
        name = queries.parent.name
        catalog = queries.parent / "catalog.jsonl"
        own = catalog.exists()
        tools = [(row["id"], *tool_of(row)) for row in _rows(catalog)] if own else "mcp_big"
        asked = _rows(queries)
        none = [_cut(row, ("query", "candidates")) for row in asked if not row["relevant"]]
        yield {"set": name, "tools": tools, "queries": _measured(asked), "none": none}


def _measured(rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, object]]:
    """Queries that have an answer and were not learned from."""
    kept = ("query", "relevant", "split", "equiv", "relevance")
    asked = [row for row in rows if row["relevant"] and _unseen(row)]
    step = max(1, len(asked) // SMALL_SETS)
    return [_cut(row, kept) for row in asked[::step]]


def _unseen(row: Mapping[str, Any]) -> bool:
    return row.get("split") not in {"train", "dev"} or held_out(row["query"])


def _cut(row: Mapping[str, Any], kept: Sequence[str]) -> Mapping[str, object]:
    return {key: row[key] for key in kept if key in row}


def _rows(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def packed(folder: Path) -> None:
    """Compress the text files; report what travels."""
    for file in (*folder.glob("*.tsv"), *folder.glob("*.txt")):
        with lzma.open(f"{file}.xz", "wb", preset=6) as out:
            out.write(file.read_bytes())
        file.unlink()
    for file in sorted(folder.iterdir()):
        sys.stderr.write(f"{file.name}: {file.stat().st_size / 2**20:.1f} MiB\n")


def describe(corpus: Corpus) -> str:
    """How much of what there is."""
    languages: dict[str, int] = {}
    for pair in corpus.pairs:
        languages[pair.language] = languages.get(pair.language, 0) + 1
    sources: dict[str, int] = {}
    for source, _, _ in corpus.queries:
        sources[source] = sources.get(source, 0) + 1
    return f"pairs {languages}; tools {len(corpus.tools)}; queries {sources}"
