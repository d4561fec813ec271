"""What a search will ask its embedder is known before it asks."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.ahead import asked_of_embedder, embed_ahead, kept_vectors
from benchmarks.folder import find_sets
from toolcrib.evaluate import open_search
from toolcrib.settings import EmbedSettings, Settings


class Counting:
    """An embedder that counts what it is asked."""

    model = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.full((len(texts), 4), 0.5, dtype=np.float32)


def test_a_text_its_wordings_and_its_subqueries_are_embedded(bench: Path):
    [one] = find_sets(bench, ["mcp_big"]).sets
    words = Settings(store=":memory:", embed=EmbedSettings(embedder="none"))
    with open_search(one.load(), words) as search:
        asked = asked_of_embedder(search, ["Can you read a file and send a message?"])
    assert asked[0] == "read a file and send a message"
    assert {"read file send message", "read a file", "send a message"} <= {*asked}


def test_vectors_are_made_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    embedder = Counting()
    for _ in range(2):
        with kept_vectors(tmp_path) as cache:
            known = embed_ahead(embedder, cache, ["long text", "a", "a"])
            assert known.embed_queries(["a"]).shape == (1, 4)
    assert embedder.asked == ["a", "long text"]
    assert "2 of 2 vectors" in capsys.readouterr().err
