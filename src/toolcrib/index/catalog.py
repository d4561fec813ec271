"""The pool's entries as documents in an engine, kept in step with them."""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from toolcrib.embed.cached import CachedEmbedder
from toolcrib.errors import EmbedError
from toolcrib.index.document import Document, document
from toolcrib.index.protocol import Engine, Progress, View
from toolcrib.model import Entry, Variant

_log = logging.getLogger(__name__)


class Catalog:
    """An engine and the embedder that gives its documents and queries their vectors.

    An embedder that fails costs the vector arm and no more: it is logged, and the other two arms
    answer. What was indexed without vectors gets them with the next rebuild.
    """

    def __init__(self, engine: Engine, embedder: CachedEmbedder | None) -> None:
        self._engine = engine
        self._embedder = embedder

    def view(self) -> AbstractContextManager[View]:
        """What one search sees."""
        return self._engine.view()

    def has(self, fingerprint: str) -> bool:
        """Whether the index was made from the entries of this fingerprint, by this model."""
        return self._engine.mark() == self._mark(fingerprint)

    def rebuild(
        self,
        entries: Collection[Entry],
        fingerprint: str,
        *,
        embedding: Callable[[int, int], None] = lambda _done, _all: None,
        progress: Progress | None = None,
    ) -> None:
        """Index all entries anew. `embedding` hears how the vectors go, `progress` the rows."""
        documents = self._documents(entries, embedding)
        self._engine.rebuild(documents, progress=progress, mark=self._mark(fingerprint))

    def change(self, put: Collection[Entry], remove: Iterable[str], fingerprint: str) -> None:
        """Index what changed on the way to the entries of this fingerprint."""
        self._engine.change(self._documents(put), remove, mark=self._mark(fingerprint))

    def with_vectors(self, variants: Sequence[Variant]) -> Sequence[Variant]:
        """The variants with vectors, all embedded at once; as they are if that is not possible."""
        if self._embedder is None:
            return variants
        try:
            vectors = self._embedder.embed([variant.text for variant in variants], keep=False)
        except EmbedError as error:
            _log.warning("ranked by words alone: %s", error)
            return variants
        pairs = zip(variants, vectors.tolist(), strict=True)
        return [replace(variant, vector=vector) for variant, vector in pairs]

    def _documents(
        self,
        entries: Iterable[Entry],
        embedding: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> Sequence[Document]:
        documents = [document(entry.capability, bare=entry.bare) for entry in entries]
        if self._embedder is None:
            return documents
        try:
            vectors = self._embedder.embed([each.text for each in documents], progress=embedding)
        except EmbedError as error:
            _log.warning("indexed without vectors: %s", error)
            return documents
        pairs = zip(documents, vectors, strict=True)
        return [replace(each, vector=vector) for each, vector in pairs]

    def _mark(self, fingerprint: str) -> str:
        return f"{fingerprint} {self._embedder.model if self._embedder else 'none'}"
