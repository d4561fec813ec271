"""Vectors that are computed once: by hash of text and by model, in memory and in the store.

Of an embedder that reads word by word the tokens are kept beside the vectors: those of tools in
the store, as rows of 32-bit numbers like all else there; those of queries in memory alone.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.protocol import (
    TOKEN_WIDTH,
    Embedder,
    TextReading,
    TokenEmbedder,
    Tokens,
    unit_rows,
)
from toolcrib.errors import EmbedError
from toolcrib.store import VectorCache

Vectors = Mapping[bytes, NDArray[np.float32]]

BY_WORDS = " by words"
"""What the name of a model ends with where its tokens are kept."""
QUERIES = 256
"""So many of the last queries are kept word by word."""


class CachedEmbedder:
    """Another embedder, asked only for what neither memory nor the store has, once a text.

    The texts go to it `chunk` at a time, and each chunk is kept as soon as it is there: a run
    that is interrupted continues where it was. The last 1,024 texts stay in memory. The embedder
    may be anybody's. It has to return one vector a text, all of one size and finite: anything else,
    and any exception of it, becomes an `EmbedError`.
    """

    def __init__(
        self, embedder: Embedder, cache: VectorCache, *, chunk: int = 96, recent: int = 1024
    ) -> None:
        self.model = embedder.model
        self._embedder = embedder
        self._cache = cache
        self._chunk = chunk
        self._recent = RecentVectors(recent)
        self._readings = RecentReadings(QUERIES)
        self._recent_tokens = RecentVectors(recent)
        self._size = 0

    def embed(
        self,
        texts: Sequence[str],
        *,
        keep: bool = True,
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> NDArray[np.float32]:
        """As every embedder. Raises what the cache raises, too.

        `keep=False` is for queries: the store is read but not written, so that a search waits
        for no writer and leaves nothing behind. `progress` hears how many different texts are
        done, of how many: at first, and after each chunk.
        """
        hashes = [text_hash(text) for text in texts]
        by_hash = dict(zip(hashes, texts, strict=True))
        vectors = self._lookup(list(by_hash))
        progress(len(vectors), len(by_hash))
        missing = {key: text for key, text in by_hash.items() if key not in vectors}
        for chunk in self._computed(missing):
            if keep:
                self._keep(chunk)
            vectors.update(chunk)
            progress(len(vectors), len(by_hash))
        self._recent.add(vectors)
        return self._rows([vectors[key] for key in hashes])

    def cached(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that need no embedding, by text. Raises what the cache raises."""
        by_hash = {text_hash(text): text for text in texts}
        return {by_hash[key]: vector for key, vector in self._lookup(list(by_hash)).items()}

    @property
    def reads_words(self) -> bool:
        """Whether the embedder tells the words of a text apart."""
        return isinstance(self._embedder, TokenEmbedder)

    def read(self, text: str) -> TextReading | None:
        """A query, word by word; None if the embedder cannot. Raises as `embed` does."""
        if not isinstance(self._embedder, TokenEmbedder):
            return None
        key = text_hash(text)
        if not (reading := self._readings.find(key)):
            self._embedded([text])
            reading = self._readings.find(key)
        return reading

    def tokens(self, texts: Sequence[str]) -> dict[str, Tokens]:
        """The tokens of tools that were embedded, by text. Raises what the cache raises."""
        by_hash = {text_hash(text): text for text in texts}
        found = self._recent_tokens.find(by_hash)
        others = [key for key in by_hash if key not in found]
        stored = self._cache.cached_vectors(self.model + BY_WORDS, others) if others else {}
        self._recent_tokens.add(stored)
        every = {**found, **stored}
        return {by_hash[key]: _unpacked(row) for key, row in every.items()}

    def _lookup(self, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """What memory or the store has of these."""
        recent = self._recent.find(hashes)
        others = [key for key in hashes if key not in recent]
        return recent | (self._cache.cached_vectors(self.model, others) if others else {})

    def _keep(self, vectors: Vectors) -> None:
        """The tokens first: a vector that is there has its tokens beside it."""
        if self.reads_words:
            readings = {key: self._readings.find(key) for key in vectors}
            tokens = {key: _packed(each.tokens) for key, each in readings.items() if each}
            self._cache.keep_vectors(self.model + BY_WORDS, tokens)
        self._cache.keep_vectors(self.model, vectors)

    def _computed(self, texts: Mapping[bytes, str]) -> Iterator[Vectors]:
        hashes = list(texts)
        for start in range(0, len(hashes), self._chunk):
            chunk = hashes[start : start + self._chunk]
            yield dict(zip(chunk, self._embedded([texts[key] for key in chunk]), strict=True))

    def _embedded(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The embedder's rows, if they are what every embedder promises."""
        try:
            rows = self._rows_of(texts)
            rows = unit_rows(rows, count=len(texts), dimensions=self._size or None)
        except EmbedError:
            raise
        except Exception as error:
            raise EmbedError(
                f"no vectors from {self.model}: {error or type(error).__name__}; "
                "check the embedder: one vector of one size for each text"
            ) from error
        self._size = rows.shape[1]
        return rows

    def _rows_of(self, texts: Sequence[str]) -> object:
        """What the embedder gives; readings are remembered."""
        if not isinstance(self._embedder, TokenEmbedder):
            return self._embedder.embed(texts)
        readings = self._embedder.read(texts)
        self._readings.add(dict(zip(map(text_hash, texts), readings, strict=True)))
        return [reading.vector for reading in readings]

    def _rows(self, vectors: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        if len({vector.size for vector in vectors}) > 1:
            raise EmbedError(
                f"the stored vectors of {self.model} have another size than its new ones: "
                "the model has changed under its name; give it another, or empty the cache"
            )
        return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)


class RecentVectors:
    """At most `most` vectors in memory; the least recently used goes first (LRU)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._vectors: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def find(self, hashes: Iterable[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Those that are here, now the last to go."""
        with self._lock:
            found = {key: self._vectors[key] for key in hashes if key in self._vectors}
            for key in found:
                self._vectors.move_to_end(key)
        return found

    def add(self, vectors: Mapping[bytes, NDArray[np.float32]]) -> None:
        """Copies, so that no row keeps the matrix alive that it was cut from."""
        newest = list(vectors.items())[-self._most :]
        with self._lock:
            for key, vector in newest:
                self._vectors[key] = vector.copy()
                self._vectors.move_to_end(key)
            while len(self._vectors) > self._most:
                self._vectors.popitem(last=False)


class RecentReadings:
    """At most `most` readings, and always those of the last call; the oldest go first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._readings: dict[bytes, TextReading] = {}
        self._lock = Lock()

    def find(self, key: bytes) -> TextReading | None:
        """The reading under this hash, if it is still here."""
        return self._readings.get(key)

    def add(self, readings: Mapping[bytes, TextReading]) -> None:
        """Take these in."""
        with self._lock:
            every = {**self._readings, **readings}
            kept = list(every)[-max(self._most, len(readings)) :]
            self._readings = {key: every[key] for key in kept}


def _packed(tokens: Tokens) -> NDArray[np.float32]:
    """Tokens as the store keeps them: four numbers of 8 bits in one of 32."""
    return np.ascontiguousarray(tokens).reshape(-1).view(np.float32)


def _unpacked(row: NDArray[np.float32]) -> Tokens:
    return row.view(np.int8).reshape(-1, TOKEN_WIDTH)


def text_hash(text: str) -> bytes:
    """SHA-256 of the text in UTF-8, halves of surrogate pairs as they are."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
