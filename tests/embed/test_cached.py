from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embed.dict_cache import DictCache
from tests.embed.hash_embedder import HashEmbedder
from toolcrib.embed import CachedEmbedder
from toolcrib.embed.cached import text_hash
from toolcrib.embed.protocol import unit_rows
from toolcrib.errors import EmbedError

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=5)


@given(st.lists(st.lists(ANY_TEXT, min_size=1, max_size=9)), st.integers(1, 4), st.integers(0, 4))
def test_it_gives_what_the_embedder_gives(calls, chunk, recent):
    cached = CachedEmbedder(HashEmbedder(), DictCache(), chunk=chunk, recent=recent)
    for number, texts in enumerate(calls):
        rows = cached.embed(texts, keep=number % 2 == 0)
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
    cached.embed(["query"], keep=False)
    cached.embed(["query"], keep=False)
    assert embedder.asked == [["query"]]
    assert not cache.kept


def test_the_text_not_asked_for_longest_is_forgotten_first():
    embedder = HashEmbedder()
    cached = CachedEmbedder(embedder, DictCache(), recent=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        cached.embed([text], keep=False)
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
