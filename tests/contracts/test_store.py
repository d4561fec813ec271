"""What `store/protocol.py` promises, held by every store."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.postgres import KEY, emptied_database
from toolcrib.errors import StoreError
from toolcrib.model import ConversationTokens
from toolcrib.store import SqliteStore, UseLesson, UseLessonKey, UsePair, UseRecord
from toolcrib.store.postgres import PostgresStores, TenantPlaces
from toolcrib.store.protocol import Store

ONE, TWO, THREE = b"1" * 32, b"2" * 32, b"\0" * 32


def vector(*numbers: float) -> NDArray[np.float32]:
    return np.array(numbers, dtype=np.float32)


@pytest.fixture(params=["sqlite in memory", "sqlite in a file", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgresql":
        yield PostgresStores(emptied_database(), TenantPlaces("one", tmp_path, KEY, None)).catalog
        return
    with SqliteStore.open(
        tmp_path / "catalog.db" if request.param.endswith("file") else ":memory:"
    ) as store:
        yield store


def kept(store: Store, model: str = "m") -> Mapping[bytes, list[float]]:
    found = store.cached_vectors(model, [ONE, TWO, THREE])
    return {text_hash: each.tolist() for text_hash, each in found.items()}


def test_a_hash_without_a_vector_is_absent(store: Store):
    store.keep_vectors("m", {ONE: vector(1, 0), THREE: vector(0.5, -2)})
    assert kept(store) == {ONE: [1.0, 0.0], THREE: [0.5, -2.0]}


def test_what_is_present_is_what_would_be_read(store: Store):
    store.keep_vectors("m", {ONE: vector(1, 0), THREE: vector(0.5, -2)})
    assert store.present_vectors("m", [ONE, TWO, THREE]) == {ONE, THREE}
    assert not store.present_vectors("another", [ONE, TWO, THREE])


def test_vectors_come_back_to_the_bit(store: Store):
    written = np.random.default_rng(0).normal(size=257).astype(np.float32)
    store.keep_vectors("m", {ONE: written})
    read = store.cached_vectors("m", [ONE])[ONE]
    assert read.dtype == np.float32
    assert read.tobytes() == written.tobytes()


def test_models_do_not_share_vectors(store: Store):
    store.keep_vectors("m", {ONE: vector(1)})
    store.keep_vectors("another", {ONE: vector(2)})
    assert kept(store) == {ONE: [1.0]}
    assert kept(store, "another") == {ONE: [2.0]}


def test_the_later_vector_takes_the_place_of_the_earlier(store: Store):
    store.keep_vectors("m", {ONE: vector(1)})
    store.keep_vectors("m", {ONE: vector(2)})
    assert kept(store) == {ONE: [2.0]}


def test_nothing_asked_is_nothing_found(store: Store):
    store.keep_vectors("m", {})
    assert not store.cached_vectors("m", [])


def test_it_keeps_all_or_nothing(store: Store):
    torn: dict[bytes, NDArray[np.float32]] = {ONE: vector(1), "\ud800": vector(2)}  # type: ignore[dict-item]
    with pytest.raises((UnicodeEncodeError, StoreError)):
        store.keep_vectors("m", torn)
    assert not kept(store)


PAIR, OTHER = UsePair("read", "write"), UsePair("write", "send")
LESSON = UseLessonKey(b"profile", b"\0word", "send")


def keep_used(store: Store, *pairs: UsePair, lesson: UseLesson | None = None) -> None:
    lessons = {LESSON: lesson} if lesson else {}
    store.keep_used(UseRecord(dict.fromkeys(pairs, 1), lessons), half_life_days=10)


def test_counts_of_pairs_add_up(store: Store):
    keep_used(store, PAIR, OTHER)
    keep_used(store, PAIR)
    assert store.used().pairs == {PAIR: 2, OTHER: 1}


def test_lessons_add_to_what_is_left_of_them(store: Store):
    keep_used(store, lesson=UseLesson(2, 2.0, 100))
    keep_used(store, lesson=UseLesson(1, 1.0, 110))
    assert store.used().lessons == {LESSON: UseLesson(3, 2.0, 110)}


def test_what_is_kept_about_one_tool_is_erased_and_the_rest_stays(store: Store):
    keep_used(store, PAIR, OTHER, lesson=UseLesson(1, 1.0, 1))
    assert store.forget_used("send") == 2
    assert store.used().pairs == {PAIR: 1}
    assert not store.used().lessons


def test_all_that_is_kept_about_use_is_erased(store: Store):
    keep_used(store, PAIR, OTHER, lesson=UseLesson(1, 1.0, 1))
    store.keep_vectors("m", {ONE: vector(1)})
    assert store.forget_used() == 3
    assert not store.used().pairs
    assert not store.used().lessons
    assert kept(store)


def test_words_are_hashed_with_one_key(store: Store):
    assert store.used().key == store.used().key != b""


def test_threads_share_it(store: Store):
    def write(model: str) -> None:
        for number in range(20):
            store.keep_vectors(model, {bytes([number]): vector(number)})

    threads = [Thread(target=write, args=[model]) for model in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model in "abcd":
        assert len(store.cached_vectors(model, [bytes([n]) for n in range(20)])) == 20


def test_a_closed_store_says_so(store: Store):
    store.close()
    store.close()
    with pytest.raises(StoreError, match="open it again"):
        store.cached_vectors("m", [ONE])
    with pytest.raises(StoreError, match="open it again"):
        store.keep_vectors("m", {ONE: vector(1)})
    with pytest.raises(StoreError, match="open it again"):
        store.used()
    with pytest.raises(StoreError, match="open it again"):
        store.forget_used()


def test_reveals_have_the_order_of_their_first_reveal(store: Store):
    assert store.reveals("ann", "1") == ()
    assert store.add_reveals("ann", "1", ["b", "a", "b"]) == ("b", "a")
    assert store.add_reveals("ann", "1", ["a", "c"]) == ("c",)
    store.keep_reveals("ann", "1", {"c", "b"})
    assert store.reveals("ann", "1") == ("b", "c")


def test_how_long_a_conversation_is_lasts_beside_its_reveals(store: Store):
    assert store.conversation_tokens("ann", "1") == ConversationTokens()
    store.set_conversation_tokens("ann", "1", ConversationTokens(500, 20))
    store.add_reveals("ann", "1", ["a", "b"])
    store.keep_reveals("ann", "1", ["b"])
    assert store.conversation_tokens("ann", "1") == ConversationTokens(500, 20)
    assert store.conversation_tokens("bob", "1") == ConversationTokens()
    store.set_conversation_tokens("ann", "1", ConversationTokens())
    assert store.reveals("ann", "1") == ("b",)


def test_neither_sessions_nor_callers_share_reveals(store: Store):
    store.add_reveals("ann", "1", ["a"])
    store.add_reveals("ann", "2", ["b"])
    store.add_reveals("bob", "1", ["c"])
    seen = [store.reveals(*each) for each in (("ann", "1"), ("ann", "2"), ("bob", "1"))]
    assert seen == [("a",), ("b",), ("c",)]
    store.keep_reveals("ann", "1", [])
    assert store.reveals("bob", "1") == ("c",)


def test_threads_add_reveals_at_once(store: Store):
    def add(letter: str) -> None:
        for number in range(10):
            store.add_reveals("ann", "1", [f"{letter}{number}", "same"])

    threads = [Thread(target=add, args=[letter]) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = store.reveals("ann", "1")
    assert len(names) == len(set(names)) == 41
    assert [name for name in names if name.startswith("a")] == [f"a{n}" for n in range(10)]
