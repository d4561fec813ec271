"""A model of twelve words that three of the local packages can load."""

from pathlib import Path

import numpy as np
import pytest

WORDS = ["read", "write", "a", "file", "send", "message", "search", "web", "読", "文", "files", "!"]
NO_MODEL2VEC = "needs the extra model2vec: pip install 'toolcrib[model2vec]'"


def save_tiny_model(folder: Path) -> Path:
    """Skips the test where model2vec is not installed."""
    model2vec = pytest.importorskip("model2vec", reason=NO_MODEL2VEC)
    tokenizers = pytest.importorskip("tokenizers", reason=NO_MODEL2VEC)
    vocabulary = {word: place for place, word in enumerate(["[UNK]", *WORDS])}
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]")  # a token, no password
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(7).normal(size=(len(vocabulary), 256)).astype(np.float32)
    model2vec.StaticModel(vectors, tokenizer).save_pretrained(folder)
    return folder
