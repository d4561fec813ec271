"""The model that ships: its size, what it makes of known texts, and when it is read."""

import json
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolcrib.embed.bundled import embedder as bundled
from toolcrib.embed.bundled.embedder import BundledEmbedder, load_tokenizer
from toolcrib.embed.bundled.network import Network
from toolcrib.embed.bundled.onnx import OnnxNetwork, _of_like_length
from toolcrib.embed.bundled.weights import load_query_weights, load_weights
from toolcrib.embed.protocol import TOKEN_WIDTH
from toolcrib.search.confidence import BROAD, BROAD_COSINE

MODEL = files("toolcrib.embed.bundled") / "model"


def reference(name: str) -> list[dict[str, Any]]:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


OTHERS = {"Envoyer un e-mail à mon équipe", "удалить файл"}
"""The texts of the reference that are neither English nor Chinese."""
REFERENCE, QUERY_REFERENCE = reference("reference.json"), reference("query_reference.json")


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


def test_the_files_of_the_model_stay_small():
    sizes = [len(file.read_bytes()) for file in MODEL.iterdir()]
    assert sum(sizes) <= 30_000_000


def test_texts_are_cut_as_in_training():
    tokenizer = load_tokenizer(MODEL)
    for row in REFERENCE:
        assert tokenizer.numbers(row["text"], most=127) == row["numbers"]


@pytest.mark.parametrize("package", ["onnxruntime", "no package of this name"])
def test_vectors_are_those_of_the_reference(package, monkeypatch):
    monkeypatch.setattr("toolcrib.embed.bundled.onnx.PACKAGE", package)
    monkeypatch.setattr(bundled, "TRIED", 1)
    rows = BundledEmbedder().embed([row["text"] for row in REFERENCE])
    expected = [row["vector"] for row in REFERENCE]
    np.testing.assert_allclose(rows[:, : len(expected[0])], expected, atol=2e-3)


@pytest.mark.parametrize("package", ["onnxruntime", "no package of this name"])
def test_tokens_and_their_weights_are_those_of_the_reference(package, monkeypatch):
    monkeypatch.setattr("toolcrib.embed.bundled.onnx.PACKAGE", package)
    network = bundled.many_texts_network(MODEL) or Network(load_weights(MODEL))
    for row in REFERENCE:
        read = network([[bundled.START, *row["numbers"]]])
        np.testing.assert_allclose(read.tokens[-1, : len(row["token"])], row["token"], atol=2e-3)
        np.testing.assert_allclose(read.weights[1:], row["weights"], atol=2e-3)


def test_queries_are_those_of_their_reference():
    network = Network(load_query_weights(MODEL))
    for row in QUERY_REFERENCE:
        read = network([[bundled.START, *row["numbers"]]])
        assert load_tokenizer(MODEL).numbers(row["text"], most=127) == row["numbers"]
        [reading] = BundledEmbedder().read_queries([row["text"]])
        expected = row["vector"]
        np.testing.assert_allclose(reading.vector[: len(expected)], expected, atol=2e-3)
        np.testing.assert_allclose(read.tokens[-1, : len(row["token"])], row["token"], atol=2e-3)
        np.testing.assert_allclose(read.weights[1:], row["weights"], atol=2e-3)


def test_a_query_lies_near_where_a_tool_of_that_text_would_and_not_there(embedder):
    texts = [row["text"] for row in QUERY_REFERENCE]
    as_tools, as_queries = embedder.read(texts), embedder.read_queries(texts)
    pairs = zip(texts, as_tools, as_queries, strict=True)
    ours = [float(tool.vector @ query.vector) for text, tool, query in pairs if text not in OTHERS]
    assert len(ours) == len(texts) - len(OTHERS)
    assert min(ours) > 0.84
    for tool, query in zip(as_tools, as_queries, strict=True):
        assert 0.84 < float(tool.vector @ query.vector) < 0.9999
        assert tool.tokens.shape == query.tokens.shape
        tokens = (tool.tokens.astype(np.float32) * query.tokens).sum(axis=1)
        assert tokens.mean() > 0.8 * bundled.TOKEN_STEPS**2


def test_whoever_reads_queries_alone_loads_the_network_for_them_alone(monkeypatch):
    monkeypatch.setattr(bundled, "TRIED", 1)
    monkeypatch.setattr(bundled, "load_weights", pytest.fail)
    monkeypatch.setattr(bundled, "many_texts_network", pytest.fail)
    with ThreadPoolExecutor(4) as threads:
        lazy = BundledEmbedder()
        found = list(threads.map(lambda _: lazy.read_queries(["read a file"] * 2), range(8)))
    assert len({reading.vector.round(5).tobytes() for read in found for reading in read}) == 1


def test_whoever_reads_tools_alone_loads_the_network_for_them_alone(monkeypatch):
    monkeypatch.setattr(bundled, "load_query_weights", pytest.fail)
    assert len(BundledEmbedder().read(["read a file"])) == 1


@pytest.mark.parametrize("dimensions", [384, 128])
def test_what_search_reads_again_and_again_was_read_before(monkeypatch, dimensions):
    reading_network = BundledEmbedder(dimensions)
    [fresh, _] = reading_network.read([BROAD, "a text that nobody has read before"])
    monkeypatch.setattr(bundled, "load_weights", pytest.fail)
    [stored] = BundledEmbedder(dimensions).read_queries([BROAD], closely=True)
    np.testing.assert_allclose(stored.vector, fresh.vector, atol=1e-5)
    np.testing.assert_allclose(stored.tokens, fresh.tokens, atol=1)
    np.testing.assert_allclose(stored.weights, fresh.weights, atol=1e-5)
    assert BundledEmbedder(dimensions).embed([BROAD]).shape == (1, dimensions)


def test_a_tool_that_fetches_a_page_is_none_that_searches_the_web(embedder):
    searching = "web_search\nSearch the web and return the best results"
    fetching = "fetch\nFetch a URL from the internet and return its contents"
    [broad] = embedder.read_queries([BROAD], closely=True)
    near = [float(each.vector @ broad.vector) for each in embedder.read([searching, fetching])]
    assert near[0] > BROAD_COSINE > near[1]


def test_without_onnxruntime_it_runs_on_numpy(monkeypatch):
    assert isinstance(bundled.many_texts_network(MODEL), OnnxNetwork)
    monkeypatch.setattr("onnxruntime.__version__", "1.9.0")
    assert bundled.many_texts_network(MODEL) is None


def test_onnxruntime_waits_until_many_texts_were_read(monkeypatch):
    made: list[object] = []
    monkeypatch.setattr(bundled, "TRIED", 3)
    monkeypatch.setattr(bundled, "many_texts_network", made.append)
    embedder = BundledEmbedder()
    for _ in range(3):
        embedder.embed(["read a file"])
    assert not made
    for _ in range(3):
        embedder.embed(["read a file"])
    assert len(made) == 1


def test_many_texts_at_once_go_to_onnxruntime(monkeypatch):
    monkeypatch.setattr(bundled, "TRIED", 3)
    embedder = BundledEmbedder()
    embedder.embed(["read a file"] * 4)
    assert isinstance(embedder._network, OnnxNetwork)


def test_onnxruntime_reads_as_numpy_does():
    weights = load_weights(MODEL)
    texts = [[1, 700, 800, 900, 1000], [1, 42, 900, 700], [1, 2500, 31], [1, 5, 6, 7, 8, 9, 10]]
    expected = Network(weights)(texts)
    read = OnnxNetwork((MODEL / "network.onnx").read_bytes(), weights)(texts)
    for own, others in zip(read, expected, strict=True):
        np.testing.assert_allclose(own, others, atol=1e-5)


def test_onnxruntime_reads_texts_of_like_length_together():
    """Padding costs as much as text. A reading is the same in every company: see above."""
    lengths = [[10, 10, 9, 8], [7, 6], [5], [50, 48, 40], [3]]
    texts = [[1] * length for together in lengths for length in together]
    assert [[*map(len, some)] for some in _of_like_length(texts)] == lengths


@pytest.mark.parametrize(
    "wanted", ["读取文件", "讀取檔案", "Datei lesen", "open and read a document"]
)
def test_meaning_crosses_languages(embedder, wanted):
    tools = embedder.embed(
        ["read_file Read the contents of a file", "get_weather Weather in a city"]
    )
    for read in (embedder.read, embedder.read_queries):
        near, far = tools @ read([wanted])[0].vector
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


def test_of_a_text_the_words_that_say_something_have_tokens(embedder):
    [reading] = embedder.read(["send the email to Anna"])
    assert reading.tokens.dtype == np.int8
    assert reading.tokens.shape == (3, TOKEN_WIDTH)
    assert reading.weights.shape == (3,)
    lengths = np.linalg.norm(reading.tokens.astype(np.float32), axis=1)
    np.testing.assert_allclose(lengths, bundled.TOKEN_STEPS, rtol=0.02)


def test_tokens_are_those_of_their_words(embedder):
    numbers = load_tokenizer(MODEL).numbers("send email", most=9)
    read = Network(load_weights(MODEL))([[bundled.START, *numbers]])
    [reading] = embedder.read(["send email"])
    np.testing.assert_allclose(reading.tokens, read.tokens[1:] * bundled.TOKEN_STEPS, atol=1)
    np.testing.assert_allclose(reading.weights, read.weights[1:], atol=1e-5)


def test_a_text_without_a_known_piece_has_no_tokens(embedder):
    for reading in embedder.read(["", "…!", "the of 的", "\U0001f600"]):
        assert reading.tokens.shape == (0, TOKEN_WIDTH)
        assert reading.weights.shape == (0,)


@pytest.mark.parametrize("closely", [False, True])
def test_no_more_tokens_than_are_kept(embedder, closely):
    [reading] = embedder.read_queries(["file " * 500], closely=closely)
    assert len(reading.tokens) == len(reading.weights) == bundled.MOST_TOKENS


def test_less_is_read_of_a_tool_than_of_a_query(embedder):
    word = "file "
    tools = embedder.read([word * (bundled.TOOL_PIECES + n) for n in (-1, 0, 1)])
    assert [len(each.tokens) for each in tools] == [bundled.TOOL_PIECES + n for n in (-1, 0, 0)]
    np.testing.assert_allclose(tools[1].vector, tools[2].vector, atol=1e-6)
    [query] = embedder.read_queries([word * (bundled.TOOL_PIECES + 1)], closely=True)
    assert len(query.tokens) == bundled.TOOL_PIECES + 1


def test_a_query_that_is_read_closely_is_read_by_the_network_of_tools(embedder):
    text = "list the issues of a repository"
    [tool], [query] = embedder.read([text]), embedder.read_queries([text], closely=True)
    np.testing.assert_allclose(query.vector, tool.vector, atol=1e-6)
    np.testing.assert_array_equal(query.tokens, tool.tokens)


def test_the_model_is_named_by_how_much_it_reads_of_a_tool():
    """So that no vector of another length of text is taken for its own."""
    assert f"{bundled.TOOL_PIECES} pieces" in BundledEmbedder().model


def test_traditional_characters_are_read_as_simplified_ones(embedder):
    traditional, simplified = embedder.read(["刪除檔案", "删除档案"])
    np.testing.assert_array_equal(traditional.tokens, simplified.tokens)


@pytest.mark.parametrize(
    "text", ["\ud83d read \ude00 a file", "\0" * 50 + "file", "x" * 1_000_000, "文" * 1_000_000]
)
def test_hostile_text_is_read_too(embedder, text):
    [reading] = embedder.read([text])
    assert np.isfinite(reading.vector).all()
    assert len(reading.tokens) == len(reading.weights) <= bundled.MOST_TOKENS


def test_a_reading_depends_on_its_text_alone(embedder):
    texts = ["read a file", "", "send " + "a long message " * 30, "删除文件"]
    for text, together in zip(texts, embedder.read(texts), strict=True):
        [alone] = embedder.read([text])
        np.testing.assert_allclose(together.vector, alone.vector, atol=1e-5)
        np.testing.assert_allclose(together.tokens, alone.tokens, atol=1)
        np.testing.assert_allclose(together.weights, alone.weights, atol=1e-5)


def test_numpy_and_onnxruntime_give_the_same_tokens(embedder, monkeypatch):
    monkeypatch.setattr(bundled, "TRIED", 1)
    texts = [row["text"] for row in REFERENCE]
    onnx = BundledEmbedder()
    for one, other in zip(embedder.read(texts), onnx.read(texts), strict=True):
        np.testing.assert_allclose(one.tokens, other.tokens, atol=1)  # a step, where it is halfway
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-4)


def test_the_model_is_read_once_and_when_it_is_needed(monkeypatch):
    read: list[object] = []
    for load in ("load_tokenizer", "load_weights", "load_query_weights"):
        monkeypatch.setattr(bundled, load, read.append)
    lazy = BundledEmbedder()
    assert lazy.embed([]).shape == (0, 384)
    assert lazy.read_queries([]) == []
    assert not read
    monkeypatch.undo()
    with ThreadPoolExecutor(4) as threads:
        rows = list(threads.map(lambda _: lazy.embed(["read a file"])[0], range(8)))
    assert len(np.unique(np.stack(rows).round(5), axis=0)) == 1
