"""What a student for queries reads: every text as search would have it embedded, as numbers.

    python -m training.query_texts OUT.npz --bench-dir SETS [--pairs PAIRS]

Nothing here needs a label: the shipped model says what a text means. So it is all that we have of
what people may ask: the queries of the corpus, their parts where they ask for several things, what
search leaves of them, sentences of descriptions, words of our lists in both languages, and some of
the translations that `training.run` gathers in PAIRS. One text in twelve is kept back
(`benchmarks.held_out`) and measures. Tools are there to be compared with.
"""

import json
import os
import random
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.held_out import held_out
from toolcrib.embed.bundled.embedder import MOST_PIECES, load_tokenizer
from toolcrib.embed.bundled.tokenizer import WordPieceTokenizer, says_something
from toolcrib.search.pipeline import BROAD
from toolcrib.search.task_parts import subqueries
from toolcrib.search.variants import query_variants
from training import corpus, fetch, own_text, recipe, requests
from training.arguments import POOL
from training.parallel import Pair
from training.tensors import START, doc_texts

MODEL = Path("src/toolcrib/embed/bundled/model")
SEED = 1
KEPT_BACK = 6_000
TRANSLATED, CHINESE = 8_000, 4
"""So many translations into each language are read, and so many times as many into Chinese."""
LONGEST = 400
SENTENCES = 6
"""So many sentences of a description are read as if they were queries."""
KINDS = {
    "own": "own",
    "own_hint": "own",
    "own_task": "task",
    "own_zh": "zh",
    "own_typo": "changed",
    "own_product": "changed",
    "miss": "changed",
    "none": "none",
    "function": "own",
    "function_hint": "own",
    "function_zh": "zh",
    "mcp": "mcp",
    "mcp_name": "mcp",
    "mcp_zh": "mcp_zh",
}
"""The kind of a source of the corpus; the others are public queries."""
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+|；|。")

Texts = dict[str, str]
"""The kind of each text."""


def gathered(pool: Path, pairs: Path, made: int) -> corpus.Corpus:
    """All that the model learned from, with these translations of packages and requests made."""
    ours = corpus.Ours(own_text.load(recipe.GLOSSARY), made, requests.load())
    names = frozenset(package.folder for package in fetch.packages())
    return corpus.gather(pairs, pool, names, ours)


def texts_of(found: corpus.Corpus, tools: Sequence[corpus.Tool]) -> Texts:
    """Every text once, under the kind that comes first."""
    kinds: Texts = {BROAD: "own"}
    for source, _, text in found.queries:
        kinds.setdefault(text, KINDS.get(source, "public"))
    for pair in _translations(found.pairs):
        kinds.setdefault(pair.english, "list")
        kinds.setdefault(pair.other, "list_zh" if pair.language.startswith("zh") else "other")
    for tool in tools:
        for sentence in _sentences(tool.description):
            kinds.setdefault(sentence, "sentence")
    for text in list(kinds):
        for part in _as_searched(text):
            kinds.setdefault(part, "part" if kinds[text] in PARTED else kinds[text])
    return {text: kind for text, kind in kinds.items() if text.strip()}


PARTED = frozenset({"own", "task", "zh", "changed", "public"})
"""Kinds whose parts are a kind of their own."""


def _translations(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """All of ours; of those from packages so many in each language."""
    by_language: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.package == "own":
            yield pair
        else:
            by_language.setdefault(pair.language, []).append(pair)
    chance = random.Random(SEED)
    for language, found in sorted(by_language.items()):
        most = TRANSLATED * (CHINESE if language.startswith("zh") else 1)
        yield from chance.sample(found, min(len(found), most))


def _as_searched(text: str) -> Iterator[str]:
    """What search has embedded of a query: the whole without politeness, and each part so."""
    for part in (text, *subqueries(text)):
        yield part
        yield query_variants(part)[0].text


def _sentences(description: str) -> Sequence[str]:
    every = (each.strip(" -*#\t") for each in _SENTENCE.split(description))
    return [each[:LONGEST] for each in every if len(each) > 3][:SENTENCES]


class Numbered:
    """Texts as the numbers of their pieces, one behind the other, and where each begins."""

    def __init__(self, tokenizer: WordPieceTokenizer, texts: Iterable[str]) -> None:
        rows = [[START, *tokenizer.numbers(text, most=MOST_PIECES)] for text in texts]
        self.flat = np.array([n for row in rows for n in row], dtype=np.uint16)
        self.starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)

    def arrays(self, name: str) -> Mapping[str, NDArray[np.generic]]:
        return {name: self.flat, f"{name}.starts": self.starts}


def write(found: corpus.Corpus, pool: Path, model: Path, out: Path) -> str:
    """Write all that a student reads; how much it is of which kind."""
    tools = _licensed(found.tools, pool)
    kinds = texts_of(found, tools)
    tokenizer = load_tokenizer(model)
    known = {text: kind for text, kind in kinds.items() if tokenizer.numbers(text, most=1)}
    learned = {text: kind for text, kind in known.items() if not held_out(text)}
    kept_back = [text for text in known if held_out(text) and known[text] in PARTED | {"part"}]
    names = sorted({*learned.values()})
    number = {name: place for place, name in enumerate(names)}
    pieces = (model / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]
    documents = [doc_texts(tool) for tool in tools]
    random.Random(SEED).shuffle(kept_back)
    np.savez_compressed(
        out,
        **Numbered(tokenizer, learned).arrays("texts"),
        **Numbered(tokenizer, kept_back[:KEPT_BACK]).arrays("kept_back"),
        **Numbered(tokenizer, (each[1] for each in documents)).arrays("tools"),
        **Numbered(tokenizer, (each[3] for each in documents)).arrays("serverless"),
        kinds=np.array([number[kind] for kind in learned.values()], dtype=np.uint8),
        kind_names=np.array(names),
        says=np.array([*map(says_something, pieces)]),
        begins=np.array([not piece.startswith("##") for piece in pieces]),
    )
    counts = {name: list(learned.values()).count(name) for name in names}
    return f"{len(learned)} texts {counts}, {len(kept_back)} kept back, {len(tools)} tools"


def _licensed(tools: Sequence[corpus.Tool], pool: Path) -> Sequence[corpus.Tool]:
    """The tools that are described, without those of sets that state no licence."""
    lines = (pool / "tools.jsonl").read_text(encoding="utf-8").splitlines()
    sources = [json.loads(line)["source"] for line in lines]
    excluded = {n for n, source in enumerate(sources) if source in corpus.EXCLUDED_SOURCES}
    return [tool for n, tool in enumerate(tools) if tool.description and n not in excluded]


if __name__ == "__main__":
    parser = ArgumentParser(prog="python -m training.query_texts", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--bench-dir", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, default=Path(os.devnull), help="translations")
    parser.add_argument("--made", type=int, default=90_000, help="requests of the glossary")
    said = parser.parse_args()
    pool = said.bench_dir / POOL
    sys.stderr.write(f"{write(gathered(pool, said.pairs, said.made), pool, MODEL, said.out)}\n")
