from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.embed.dict_cache import DictCache
from tests.embed.hash_embedder import HashEmbedder
from tests.embed.word_embedder import AskedEmbedder, WordEmbedder, tokens_of
from toolcrib.embed import CachedEmbedder
from toolcrib.embed.cached import BY_WORDS, QUERIES, RecentReadings, Way, _hash, text_hash
from toolcrib.embed.protocol import TOKEN_WIDTH, TextReading, Tokens, unit_rows
from toolcrib.errors import EmbedError
from toolcrib.store import SqliteStore, VectorFile

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=5)


@given(st.lists(st.lists(ANY_TEXT, min_size=1, max_size=9)), st.integers(1, 4), st.integers(0, 4))
def test_it_gives_what_the_embedder_gives(calls, chunk, recent):
    cached = CachedEmbedder(HashEmbedder(), DictCache(), chunk=chunk, recent=recent)
    for number, texts in enumerate(calls):
        rows = cached.embed_queries(texts) if number % 2 else cached.embed(texts)
        given_rows = unit_rows(HashEmbedder().embed(texts), count=len(texts))
        np.testing.assert_array_equal(rows, given_rows)


@given(st.lists(ANY_TEXT))
def test_every_text_is_computed_once(texts):
    embedder = HashEmbedder()
    cache = DictCache()
    CachedEmbedder(embedder, cache, chunk=3).embed(texts)
    CachedEmbedder(embedder, cache, chunk=3).embed(texts[::-1])
    assert [text for asked in embedder.asked for text in asked] == list(dict.fromkeys(texts))
    assert all(0 < len(asked) <= 3 for asked in embedder.asked)


def test_the_hash_is_that_of_the_text_in_utf_8():
    assert text_hash("读") == sha256("读".encode()).digest()
    assert text_hash("\ud83d") != text_hash("\ufffd")


def test_models_do_not_share_vectors():
    cache = DictCache()
    CachedEmbedder(HashEmbedder("one"), cache).embed(["a"])
    other = HashEmbedder("two")
    CachedEmbedder(other, cache).embed(["a"])
    assert other.asked == [["a"]]


def test_what_was_done_before_a_failure_is_kept():
    cache = DictCache()
    with pytest.raises(EmbedError, match="told to fail"):
        CachedEmbedder(HashEmbedder(failing="d"), cache, chunk=2).embed(list("abcde"))
    resumed = HashEmbedder()
    CachedEmbedder(resumed, cache, chunk=2).embed(list("abcde"))
    assert resumed.asked == [["c", "d"], ["e"]]


def test_progress_counts_different_texts():
    heard = []
    cache = DictCache()
    CachedEmbedder(HashEmbedder(), cache).embed(["a"])
    CachedEmbedder(HashEmbedder(), cache, chunk=2).embed(
        list("abcda"), progress=lambda *both: heard.append(both)
    )
    assert heard == [(1, 4), (3, 4), (4, 4)]


def test_a_query_is_remembered_but_not_kept():
    cache = DictCache()
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, cache)
    cached.embed_queries(["query"])
    cached.embed_queries(["query"])
    assert embedder.asked == [["query"]]
    assert not cache.kept


def test_the_text_not_asked_for_longest_is_forgotten_first():
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, DictCache(), recent=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        cached.embed_queries([text])
    assert embedder.asked == [["a"], ["b"], ["c"], ["b"]]


def test_whoever_changes_an_answer_changes_no_later_one():
    cached = CachedEmbedder(HashEmbedder(), DictCache())
    cached.embed(["a"])[:] = 0
    np.testing.assert_array_equal(cached.embed(["a"]), HashEmbedder().embed(["a"]))


def test_a_model_that_changed_under_its_name_is_an_error():
    cache = DictCache()
    cache.keep_vectors("hash", {text_hash("a"): np.ones(1, np.float32)})
    with pytest.raises(EmbedError, match="changed under its name"):
        CachedEmbedder(HashEmbedder(), cache).embed(["a", "b"])


TEXTS = ["read a file", "", "send it", "word " * 64]


@pytest.fixture(params=["sqlite in memory", "sqlite in a file", "vector file", "no file"])
def cache(request, tmp_path):
    """Whatever keeps vectors; of a vector file also what it does where it cannot be written."""
    if request.param.startswith("sqlite"):
        place = tmp_path / "catalog.db" if request.param.endswith("file") else ":memory:"
        opened = SqliteStore.open(place)
    else:
        folder = tmp_path / "cache"
        if request.param == "no file":
            folder.write_text("a file where the folder should be")
        opened = VectorFile(folder / "vectors.db", say=lambda _said: None)
    yield opened
    opened.close()


def tokens_by_text(cached: CachedEmbedder, texts: Sequence[str]) -> dict[str, Tokens]:
    by_hash = {text_hash(text): text for text in texts}
    return {by_hash[key]: each for key, each in cached.tokens_by_hash([*by_hash]).items()}


def test_tokens_are_kept_beside_vectors_and_come_back_to_the_bit(cache):
    CachedEmbedder(WordEmbedder(), cache, chunk=2).embed(TEXTS)
    again = WordEmbedder()
    tokens = tokens_by_text(CachedEmbedder(again, cache), [*TEXTS, "never embedded"])
    assert not again.asked
    assert tokens.keys() == set(TEXTS)
    for text, found in tokens.items():
        assert found.dtype == np.int8
        assert found.shape == (len(text.split()), TOKEN_WIDTH)
        assert found.tobytes() == tokens_of(text.split()).tobytes()


def test_tokens_are_asked_of_the_store_once():
    cache = DictCache()
    cached = CachedEmbedder(WordEmbedder(), cache)
    cached.embed(TEXTS)
    first = tokens_by_text(cached, TEXTS)
    cache.kept.clear()
    again = tokens_by_text(cached, TEXTS)
    assert again.keys() == first.keys() == set(TEXTS)
    assert all(np.array_equal(again[text], first[text]) for text in TEXTS)


def test_whether_tokens_are_there_is_asked_without_reading_them():
    class Watched(DictCache):
        def cached_vectors(self, model, hashes):
            assert not model.endswith(BY_WORDS)
            return super().cached_vectors(model, hashes)

    cache = Watched()
    CachedEmbedder(WordEmbedder(), cache).embed(TEXTS)
    assert CachedEmbedder(WordEmbedder(), cache).cached(TEXTS).keys() == set(TEXTS)


def test_a_vector_that_is_there_has_its_tokens():
    class Ordered(DictCache):
        def keep_vectors(self, model, vectors):
            assert model.endswith(BY_WORDS) or {(model + BY_WORDS, key) for key in vectors} <= {
                *self.kept
            }
            super().keep_vectors(model, vectors)

    cache = Ordered()
    with pytest.raises(EmbedError, match="told to fail"):
        CachedEmbedder(WordEmbedder(failing="d"), cache, chunk=2).embed(list("abcde"))
    assert {model for model, _ in cache.kept} == {"words", "words" + BY_WORDS}


def test_a_vector_that_has_lost_its_tokens_is_made_again():
    cache = DictCache()
    CachedEmbedder(WordEmbedder(), cache).embed(["a", "b"])
    del cache.kept["words" + BY_WORDS, text_hash("a")]
    embedder = WordEmbedder()
    cached = CachedEmbedder(embedder, cache)
    assert cached.cached(["a", "b"]).keys() == {"b"}
    cached.embed(["a", "b"])
    assert embedder.asked == [["a"]]
    assert tokens_by_text(cached, ["a", "b"]).keys() == {"a", "b"}


def test_others_who_read_meanwhile_cost_no_tokens():
    """The readings in memory are few: what is kept comes from where it was made."""

    class Busy(WordEmbedder):
        def read(self, texts):
            made = super().read(texts)
            if texts == ["tool"]:
                cached.embed_queries([f"query {n}" for n in range(QUERIES + 1)])
            return made

    cache = DictCache()
    cached = CachedEmbedder(Busy(), cache)
    cached.embed(["tool"])
    assert tokens_by_text(cached, ["tool"]).keys() == {"tool"}


def test_a_query_is_read_once_and_leaves_nothing_in_the_store():
    cache = DictCache()
    embedder = WordEmbedder()
    cached = CachedEmbedder(embedder, cache)
    cached.embed_queries(["send it"])
    reading = cached.read("send it")
    assert reading is not None
    assert cached.read("send it") is reading
    assert embedder.asked == [["send it"]]
    assert reading.weights.tolist() == [4, 2]
    assert not cache.kept
    assert not tokens_by_text(cached, ["send it"])


def test_a_text_is_read_as_tool_and_as_query_whichever_comes_first():
    [as_tool], [as_query] = AskedEmbedder().embed(["ab c"]), AskedEmbedder().embed(["c ba"])
    for tool_first in (True, False):
        cache = DictCache()
        cached = CachedEmbedder(AskedEmbedder(), cache)
        if tool_first:
            cached.embed(["ab c"])
        for _ in range(2):
            np.testing.assert_array_equal(cached.embed_queries(["ab c"])[0], as_query)
            reading = cached.read("ab c")
            assert reading is not None
            assert reading.tokens.tobytes() == tokens_of(["c", "ba"]).tobytes()
            np.testing.assert_array_equal(cached.embed(["ab c"])[0], as_tool)
        assert {key for _, key in cache.kept} == {text_hash("ab c")}
        assert (
            tokens_by_text(cached, ["ab c"])["ab c"].tobytes() == tokens_of(["ab", "c"]).tobytes()
        )


@pytest.mark.parametrize(("closely", "as_query"), [(False, "c ba"), (True, "C BA")])
def test_what_the_store_has_of_a_tool_is_no_query(closely: bool, as_query: str):
    cache = DictCache()
    cached = CachedEmbedder(AskedEmbedder(), cache)
    cached.embed(["ab c"])
    for each in (cached, CachedEmbedder(AskedEmbedder(), cache)):
        [row] = each.embed_queries(["ab c"], closely=closely)
        np.testing.assert_array_equal(row, AskedEmbedder().embed([as_query])[0])


def test_a_query_is_read_closely_once_apart_from_others_and_not_kept():
    cache, embedder = DictCache(), AskedEmbedder()
    cached = CachedEmbedder(embedder, cache)
    cached.embed_queries(["ab c"])
    [row] = cached.embed_queries(["ab c"], closely=True)
    reading = cached.read("ab c", closely=True)
    assert reading is not None
    np.testing.assert_array_equal(row, AskedEmbedder().embed(["C BA"])[0])
    assert reading.tokens.tobytes() == tokens_of(["C", "BA"]).tobytes()
    assert (embedder.queries, embedder.close_queries) == ([["ab c"]], [["ab c"]])
    assert not embedder.asked
    assert not cache.kept


def test_no_tool_has_the_hash_of_a_query():
    """Whatever a server writes: a hash of a query is longer."""
    ways: tuple[Way, ...] = ("query", "close query")
    assert len(_hash("a", "tool")) == len(text_hash("a"))
    assert all(len(_hash("a", way)) > len(text_hash("a")) for way in ways)
    assert len({_hash("a", way) for way in ways}) == len(ways)


def test_a_query_that_was_forgotten_is_read_again():
    embedder = WordEmbedder()
    cached = CachedEmbedder(embedder, DictCache())
    cached.read("send it")
    for number in range(QUERIES):
        cached.read(f"query {number}")
    again = cached.read("send it")
    assert again is not None
    assert again.tokens.tobytes() == tokens_of(["send", "it"]).tobytes()
    assert embedder.asked.count(["send it"]) == 2


def test_readings_in_memory_are_bounded():
    cached = CachedEmbedder(WordEmbedder(), DictCache())
    cached.embed([f"tool {n}" for n in range(3 * QUERIES)])
    cached.embed_queries([f"query {n}" for n in range(3 * QUERIES)])
    assert len(cached._readings._readings) == QUERIES


def test_readings_of_one_call_are_all_there_and_the_oldest_go_first():
    [reading] = WordEmbedder().read(["a"])
    recent = RecentReadings(2)
    recent.add({bytes([n]): reading for n in range(5)})
    assert all(recent.find(bytes([n])) for n in range(5))
    recent.add({b"x": reading})
    assert recent.find(b"x")
    assert recent.find(bytes([4]))
    assert not recent.find(bytes([3]))


def test_an_embedder_that_reads_no_words_has_no_readings_and_no_tokens():
    cache = DictCache()
    cached = CachedEmbedder(HashEmbedder(), cache)
    cached.embed(["a"])
    assert not cached.reads_words
    assert cached.read("a") is None
    assert tokens_by_text(cached, ["a"]) == {}
    assert {model for model, _ in cache.kept} == {"hash"}


ROW = np.ones(32, np.float32)
TOKENS = np.ones((2, TOKEN_WIDTH), np.int8)
FLOATS: Any = TOKENS.astype(np.float32)


def weights(*some: float) -> NDArray[np.float32]:
    return np.array(some, np.float32)


@pytest.mark.parametrize(
    ("reading", "cause"),
    [
        (TextReading(ROW, FLOATS, weights(1, 1)), "numbers of 8 bits"),
        (TextReading(ROW, TOKENS[:, :-1], weights(1, 1)), "rows of 64"),
        (TextReading(ROW, TOKENS, weights(1, 1, 1)), "one weight"),
        (TextReading(ROW, TOKENS, weights(1, np.nan)), "one weight"),
        (TextReading(ROW, TOKENS, weights(1, -1)), "one weight"),
        (TextReading(ROW * np.inf, TOKENS, weights(1, 1)), "not a finite number"),
        ("no reading", "no vectors from words"),
    ],
)
def test_a_reading_that_keeps_no_promise_is_an_error_and_is_not_kept(reading, cause):
    class Broken(WordEmbedder):
        def read(self, texts):
            return [reading for _ in texts]

    cache = DictCache()
    cached = CachedEmbedder(Broken(), cache)
    for ask in (lambda: cached.embed(["a"]), lambda: cached.read("a")):
        with pytest.raises(EmbedError, match=cause):
            ask()
    assert not cache.kept


def test_fewer_readings_than_texts_are_an_error():
    class Short(WordEmbedder):
        def read(self, texts):
            return super().read(texts)[:-1]

    with pytest.raises(EmbedError, match="1 vectors came for 2 texts"):
        CachedEmbedder(Short(), DictCache()).embed(["a", "b"])
