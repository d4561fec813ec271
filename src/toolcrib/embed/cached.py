"""Vectors that are computed once: by hash of text and by model, in memory and in the store.

Of an embedder that reads word by word the tokens are kept beside the vectors: those of tools in
the store, as rows of 32-bit numbers like all else there; those of queries in memory alone.

Where an embedder reads queries in other ways than tools, one text has a vector for each way.
Queries are then known by hashes of their own, and never meet the store.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from threading import Lock
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.protocol import (
    TOKEN_WIDTH,
    Embedder,
    QueryEmbedder,
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
Way = Literal["tool", "query", "close query"]
"""How a text is read; queries of an embedder that knows no other way are read as tools."""
BEFORE: Mapping[Way, bytes] = {"tool": b"", "query": b"query", "close query": b"close query"}
"""What stands before the hash of a text that is read in this way."""
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
        self._tells_queries = isinstance(embedder, QueryEmbedder)
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
        progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> NDArray[np.float32]:
        """As every embedder, for tools. Raises what the cache raises, too.

        `progress` hears how many different texts are done, of how many: at first, and after each
        chunk.
        """
        hashes = [text_hash(text) for text in texts]
        by_hash = dict(zip(hashes, texts, strict=True))
        vectors = self._whole(list(by_hash))
        progress(len(vectors), len(by_hash))
        for chunk in self._chunks(by_hash, vectors):
            made = self._embedded(chunk)
            self._keep(made)
            vectors |= made.vectors
            progress(len(vectors), len(by_hash))
        self._recent.add(vectors)
        return self._rows([vectors[key] for key in hashes])

    def embed_queries(self, texts: Sequence[str], *, closely: bool = False) -> NDArray[np.float32]:
        """As every embedder, for queries. Raises what the cache raises, too.

        `closely` is for an embedder that reads queries in ways of their own. For any other the
        store is read. It is never written, so that a search waits for no writer and leaves nothing
        behind.
        """
        way = self._way(closely=closely)
        hashes = [_hash(text, way) for text in texts]
        by_hash = dict(zip(hashes, texts, strict=True))
        vectors = self._lookup(list(by_hash)) if way == "tool" else self._recent.find(hashes)
        for chunk in self._chunks(by_hash, vectors):
            vectors |= self._embedded(chunk, way).vectors
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

    def read(self, text: str, *, closely: bool = False) -> TextReading | None:
        """A query, word by word; None if the embedder cannot. Raises as `embed` does."""
        if not self.reads_words:
            return None
        way = self._way(closely=closely)
        key = _hash(text, way)
        if reading := self._readings.find(key):
            return reading
        return self._embedded({key: text}, way).readings[key]

    def tokens_by_hash(self, hashes: Sequence[bytes]) -> dict[bytes, Tokens]:
        """The tokens of tools that were embedded, by `text_hash`. Raises what the cache raises."""
        found = self._recent_tokens.find(hashes)
        stored = self._stored_tokens([key for key in hashes if key not in found])
        self._recent_tokens.add(stored)
        return {key: _unpacked(row) for key, row in {**found, **stored}.items()}

    def _way(self, *, closely: bool) -> Way:
        """How queries are read."""
        if not self._tells_queries:
            return "tool"
        return "close query" if closely else "query"

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

    def _chunks(self, texts: Mapping[bytes, str], known: Vectors) -> Iterator[dict[bytes, str]]:
        """The texts that are not known, a chunk at a time."""
        missing = [(key, text) for key, text in texts.items() if key not in known]
        for start in range(0, len(missing), self._chunk):
            yield dict(missing[start : start + self._chunk])

    def _keep(self, made: "_Embedded") -> None:
        """The tokens first: a vector that is there has its tokens beside it."""
        if made.readings:
            tokens = {key: _packed(each.tokens) for key, each in made.readings.items()}
            self._cache.keep_vectors(self.model + BY_WORDS, tokens)
        self._cache.keep_vectors(self.model, made.vectors)

    def _embedded(self, texts: Mapping[bytes, str], way: Way = "tool") -> "_Embedded":
        """What the embedder gives, if it is what every embedder promises; readings are noted."""
        try:
            made = self._asked(texts, way)
        except EmbedError:
            raise
        except Exception as error:
            raise EmbedError(
                f"no vectors from {self.model}: {error or type(error).__name__}; "
                "check the embedder: one vector of one size for each text"
            ) from error
        self._size = next(iter(made.vectors.values())).size
        self._readings.add(made.readings)
        return made

    def _asked(self, texts: Mapping[bytes, str], way: Way) -> "_Embedded":
        """Raises `ValueError` for what no embedder may give."""
        size, every = self._size or None, list(texts.values())
        if not isinstance(self._embedder, TokenEmbedder):
            rows = unit_rows(self._embedder.embed(every), count=len(texts), dimensions=size)
            return _Embedded(dict(zip(texts, rows, strict=True)), {})
        readings = [checked_reading(each) for each in _read(self._embedder, every, way)]
        vectors = [each.vector for each in readings]
        rows = unit_rows(vectors, count=len(texts), dimensions=size)
        return _Embedded(
            dict(zip(texts, rows, strict=True)), dict(zip(texts, readings, strict=True))
        )

    def _rows(self, vectors: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        if len({vector.size for vector in vectors}) > 1:
            raise EmbedError(
                f"the stored vectors of {self.model} have another size than its new ones: "
                "the model has changed under its name; give it another, or empty the cache"
            )
        return np.stack(vectors) if vectors else np.empty((0, 0), dtype=np.float32)


class _Embedded(NamedTuple):
    """A vector a text, by its hash; and a reading, if the embedder tells words apart."""

    vectors: Vectors
    readings: Mapping[bytes, TextReading]


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


def _read(embedder: TokenEmbedder, texts: Sequence[str], way: Way) -> list[TextReading]:
    if way == "tool" or not isinstance(embedder, QueryEmbedder):
        return embedder.read(texts)
    return embedder.read_queries(texts, closely=way == "close query")


def _packed(tokens: Tokens) -> NDArray[np.float32]:
    """Tokens as the store keeps them: four numbers of 8 bits in one of 32."""
    return np.ascontiguousarray(tokens).reshape(-1).view(np.float32)


def _unpacked(row: NDArray[np.float32]) -> Tokens:
    return row.view(np.int8).reshape(-1, TOKEN_WIDTH)


def _hash(text: str, way: Way) -> bytes:
    """The hash of a text; longer than that of any tool if it is read in another way."""
    return BEFORE[way] + text_hash(text)


def text_hash(text: str) -> bytes:
    """SHA-256 of the text in UTF-8, halves of surrogate pairs as they are."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
