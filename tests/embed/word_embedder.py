"""An embedder that tells words apart and costs next to nothing."""

import numpy as np

from tests.embed.hash_embedder import HashEmbedder
from toolcrib.embed.cached import text_hash
from toolcrib.embed.protocol import TOKEN_WIDTH, TextReading


class WordEmbedder(HashEmbedder):
    """A token for every word, its hash; a word counts by its length."""

    def __init__(self, model="words", failing=None):
        super().__init__(model, failing)

    def read(self, texts):
        rows = self.embed(texts)
        return [self.reading(row, text.split()) for row, text in zip(rows, texts, strict=True)]

    def reading(self, row, words):
        weights = np.array([len(word) for word in words], np.float32)
        return TextReading(row, tokens_of(words), weights)


class AskedEmbedder(WordEmbedder):
    """Reads queries in other ways than tools: backwards, closely in capitals too. Remembers all."""

    def __init__(self):
        super().__init__()
        self.queries: list[list[str]] = []
        self.close_queries: list[list[str]] = []

    def read_queries(self, texts, *, closely=False):
        (self.close_queries if closely else self.queries).append(list(texts))
        read = [text[::-1] for text in texts]
        return WordEmbedder().read([text.upper() for text in read] if closely else read)


def tokens_of(words):
    """A row of 8-bit numbers for each word, any bits among them."""
    twice = b"".join(text_hash(word) * 2 for word in words)
    return np.frombuffer(twice, np.int8).reshape(-1, TOKEN_WIDTH)
