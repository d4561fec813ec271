"""The vectors that a run needs, made ahead and kept in a file: a query alone is slow to embed.

Texts go to the embedder by length, many at a time. Whatever is in the file is not made again, so
that a second run, or one that was stopped, pays for nothing twice.
"""

import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from toolcrib.embed import CachedEmbedder, Embedder, QueryEmbedder
from toolcrib.index import SomeArms
from toolcrib.model import Variant
from toolcrib.search import Search
from toolcrib.search.rules import Fusion
from toolcrib.store import SqliteStore, VectorCache

AT_ONCE = 512
_WITH_VECTORS: tuple[Fusion, ...] = ("zscore", "rrf")


@contextmanager
def kept_vectors(folder: Path | None) -> Generator[VectorCache]:
    """Where vectors are kept: in a file of this folder, or nowhere for long."""
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    with SqliteStore.open(folder / "vectors.db" if folder else ":memory:") as store:
        yield store


def embed_ahead(embedder: Embedder, cache: VectorCache, texts: Iterable[str]) -> CachedEmbedder:
    """The embedder with these texts known; one that reads queries its own way knows nothing yet."""
    cached = CachedEmbedder(embedder, cache, chunk=AT_ONCE)
    if isinstance(embedder, QueryEmbedder):
        return cached
    cached.embed(sorted(set(texts), key=len), progress=_tell)
    return cached


def asked_of_embedder(search: Search, texts: Iterable[str]) -> Sequence[str]:
    """All that these texts make a search ask its embedder, by either fusion that has vectors."""
    heard = _Heard({})
    deaf = replace(search, view=SomeArms(search.view, ()), embed=heard)
    every = list(texts)
    for fusion in _WITH_VECTORS:
        one = replace(deaf, rules=replace(search.rules, fusion=fusion))
        for text in every:
            one.trace(text, depth=search.depth)
    return list(heard.texts)


@dataclass(frozen=True, slots=True)
class _Heard:
    """In place of the embedder: notes what it is asked, and gives nothing."""

    texts: dict[str, None]

    def __call__(self, variants: Sequence[Variant], **_how: bool) -> Sequence[Variant]:
        self.texts.update(dict.fromkeys(variant.text for variant in variants))
        return variants


def _tell(done: int, total: int) -> None:
    print(f"  {done:,} of {total:,} vectors", file=sys.stderr, end="\n" if done == total else "\r")
