"""Vectors that are computed once: by hash of text and by model, in memory and in the store.

Of an embedder that reads word by word the tokens are kept beside the vectors: those of tools in
the store, as rows of 32-bit numbers like all else there; those of queries in memory alone.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.protocol import (
    TOKEN_WIDTH,
    Embedder,
    TextReading,
    TokenEmbedder,
    Tokens,
    checked_reading,
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
        vectors = self._whole(list(by_hash)) if keep else self._lookup(list(by_hash))
        progress(len(vectors), len(by_hash))
        missing = {key: text for key, text in by_hash.items() if key not in vectors}
        for chunk in self._computed(missing, keep=keep):
            vectors.update(chunk)
            progress(len(vectors), len(by_hash))
        self._recent.add(vectors)
        return self._rows([vectors[key] for key in hashes])

    def cached(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors that need no embedding, by text. Raises what the cache raises."""
        by_hash = {text_hash(text): text for text in texts}
        return {by_hash[key]: vector for key, vector in self._whole(list(by_hash)).items()}

    @property
    def reads_words(self) -> bool:
        """Whether the embedder tells the words of a text apart."""
        return isinstance(self._embedder, TokenEmbedder)

    def read(self, text: str) -> TextReading | None:
        """A query, word by word; None if the embedder cannot. Raises as `embed` does."""
        if not self.reads_words:
            return None
        if reading := self._readings.find(text_hash(text)):
            return reading
        [reading] = self._embedded([text]).readings
        return reading

    def tokens_by_hash(self, hashes: Sequence[bytes]) -> dict[bytes, Tokens]:
        """The tokens of tools that were embedded, by `text_hash`. Raises what the cache raises."""
        found = self._recent_tokens.find(hashes)
        stored = self._stored_tokens([key for key in hashes if key not in found])
        self._recent_tokens.add(stored)
        return {key: _unpacked(row) for key, row in {**found, **stored}.items()}

    def _whole(self, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """What is there of these; without its tokens, where there should be some, a vector is not.

        Whoever empties a cache may do so between the two.
        """
        vectors = self._lookup(hashes)
        if not self.reads_words:
            return vectors
        having = self._cache.present_vectors(self.model + BY_WORDS, list(vectors))
        return {key: vector for key, vector in vectors.items() if key in having}

    def _lookup(self, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """What memory or the store has of these."""
        recent = self._recent.find(hashes)
        others = [key for key in hashes if key not in recent]
        return recent | (self._cache.cached_vectors(self.model, others) if others else {})

    def _stored_tokens(self, hashes: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        return self._cache.cached_vectors(self.model + BY_WORDS, hashes) if hashes else {}

    def _computed(self, texts: Mapping[bytes, str], *, keep: bool) -> Iterator[Vectors]:
        """The vectors of the texts, a chunk at a time."""
        hashes = list(texts)
        for start in range(0, len(hashes), self._chunk):
            chunk = hashes[start : start + self._chunk]
            made = self._embedded([texts[key] for key in chunk])
            vectors = dict(zip(chunk, made.rows, strict=True))
            if keep:
                self._keep(vectors, made.readings)
            yield vectors

    def _keep(self, vectors: Vectors, readings: Sequence[TextReading]) -> None:
        """The tokens first: a vector that is there has its tokens beside it."""
        if readings:
            tokens = (_packed(each.tokens) for each in readings)
            self._cache.keep_vectors(self.model + BY_WORDS, dict(zip(vectors, tokens, strict=True)))
        self._cache.keep_vectors(self.model, vectors)

    def _embedded(self, texts: Sequence[str]) -> "_Embedded":
        """What the embedder gives, if it is what every embedder promises; readings are noted."""
        try:
            made = self._asked(texts)
        except EmbedError:
            raise
        except Exception as error:
            raise EmbedError(
                f"no vectors from {self.model}: {error or type(error).__name__}; "
                "check the embedder: one vector of one size for each text"
            ) from error
        self._size = made.rows.shape[1]
        if made.readings:
            self._readings.add(dict(zip(map(text_hash, texts), made.readings, strict=True)))
        return made

    def _asked(self, texts: Sequence[str]) -> "_Embedded":
        """Raises `ValueError` for what no embedder may give."""
        size = self._size or None
        if not isinstance(self._embedder, TokenEmbedder):
            rows = unit_rows(self._embedder.embed(texts), count=len(texts), dimensions=size)
            return _Embedded(rows, ())
        readings = [checked_reading(each) for each in self._embedder.read(texts)]
        vectors = [each.vector for each in readings]
        return _Embedded(unit_rows(vectors, count=len(texts), dimensions=size), readings)

    def _rows(self, vectors: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        if len({vector.size for vector in vectors}) > 1:
            raise EmbedError(
                f"the stored vectors of {self.model} have another size than its new ones: "
                "the model has changed under its name; give it another, or empty the cache"
            )
        return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)


class _Embedded(NamedTuple):
    """A row a text; and a reading, if the embedder tells words apart."""

    rows: NDArray[np.float32]
    readings: Sequence[TextReading]


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
