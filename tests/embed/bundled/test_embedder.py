"""The model that ships: its size, what it makes of known texts, and when it is read."""

import json
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from toolcrib.embed.bundled import embedder as bundled
from toolcrib.embed.bundled.embedder import BundledEmbedder, load_tokenizer, load_weights
from toolcrib.embed.bundled.network import Network
from toolcrib.embed.bundled.onnx import OnnxNetwork

MODEL = files("toolcrib.embed.bundled") / "model"
REFERENCE = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def test_the_files_of_the_model_stay_small():
    sizes = [len(file.read_bytes()) for file in MODEL.iterdir()]
    assert sum(sizes) <= 25_000_000


def test_texts_are_cut_as_in_training():
    tokenizer = load_tokenizer(MODEL)
    for row in REFERENCE:
        assert tokenizer.numbers(row["text"], most=127) == row["numbers"]


@pytest.mark.parametrize("package", ["onnxruntime", "no package of this name"])
def test_vectors_are_those_of_the_reference(package, monkeypatch):
    monkeypatch.setattr("toolcrib.embed.bundled.onnx.PACKAGE", package)
    rows = BundledEmbedder().embed([row["text"] for row in REFERENCE])
    expected = [row["vector"] for row in REFERENCE]
    np.testing.assert_allclose(rows[:, : len(expected[0])], expected, atol=2e-3)


def test_without_onnxruntime_it_runs_on_numpy(monkeypatch):
    assert isinstance(bundled.load_network(MODEL), OnnxNetwork)
    monkeypatch.setattr("onnxruntime.__version__", "1.9.0")
    assert isinstance(bundled.load_network(MODEL), Network)


def test_onnxruntime_gives_the_vectors_of_numpy():
    weights = load_weights(MODEL)
    numbers = np.array([[1, 700, 800, 900, 1000], [1, 2500, 31, 0, 0]])
    expected = Network(weights)(numbers)
    rows = OnnxNetwork((MODEL / "network.onnx").read_bytes(), weights)(numbers)
    np.testing.assert_allclose(rows, expected, atol=1e-5)


@pytest.mark.parametrize(
    "wanted", ["读取文件", "讀取檔案", "Datei lesen", "open and read a document"]
)
def test_meaning_crosses_languages(embedder, wanted):
    tools = embedder.embed(
        ["read_file Read the contents of a file", "get_weather Weather in a city"]
    )
    near, far = tools @ embedder.embed([wanted])[0]
    assert near > far + 0.1


def test_shorter_vectors_are_the_beginning_of_longer_ones(embedder):
    [whole] = embedder.embed(["send an email"])
    [short] = BundledEmbedder(128).embed(["send an email"])
    np.testing.assert_allclose(short, whole[:128] / np.linalg.norm(whole[:128]), atol=1e-6)


def test_each_size_is_a_model_of_its_own():
    assert BundledEmbedder(256).model != BundledEmbedder().model


def test_what_says_nothing_is_a_row_of_zeros(embedder):
    rows = embedder.embed(["", "…!", "file"])
    assert np.linalg.norm(rows, axis=1).round(5).tolist() == [0, 0, 1]


def test_the_model_is_read_once_and_when_it_is_needed(monkeypatch):
    read: list[object] = []
    monkeypatch.setattr(bundled, "load_tokenizer", read.append)
    lazy = BundledEmbedder()
    assert lazy.embed([]).shape == (0, 384)
    assert not read
    monkeypatch.undo()
    with ThreadPoolExecutor(4) as threads:
        rows = list(threads.map(lambda _: lazy.embed(["read a file"])[0], range(8)))
    assert len(np.unique(np.stack(rows).round(5), axis=0)) == 1
