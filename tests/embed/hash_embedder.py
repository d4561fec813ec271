"""An embedder that costs next to nothing, where a test is about something else."""

import numpy as np

from toolcrib.embed.cached import text_hash
from toolcrib.errors import EmbedError


class HashEmbedder:
    """The hash of a text as its vector; remembers what it was asked, fails where told to."""

    def __init__(self, model="hash", failing=None):
        self.model = model
        self.failing = failing
        self.asked: list[list[str]] = []

    def embed(self, texts):
        self.asked.append(list(texts))
        if self.failing in texts:
            raise EmbedError("told to fail; do not tell it")
        rows = [np.frombuffer(text_hash(text), np.uint8) - 127.5 for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], dtype=np.float32)
