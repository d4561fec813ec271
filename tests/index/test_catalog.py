"""Vectors that come later: what searches see before, and after."""

import logging
from threading import Event

import numpy as np
import pytest

from tests.embed.dict_cache import DictCache
from tests.embed.hash_embedder import HashEmbedder
from tests.embed.word_embedder import WordEmbedder
from tests.waiting import HANG_S
from toolcrib.embed import CachedEmbedder
from toolcrib.errors import EmbedError, StoreError
from toolcrib.index import Catalog, MemoryEngine, SqliteEngine
from toolcrib.index.document import embedded_text
from toolcrib.model import Entry, ToolInfo, Variant
from toolcrib.store import SqliteStore

ASKED = [Variant("anything")]


class Patient:
    """An embedder that waits to be let go."""

    model = "patient"

    def __init__(self):
        self.go = Event()
        self.failing = False
        self.asked = []

    def embed(self, texts):
        assert self.go.wait(HANG_S)
        if self.failing:
            raise EmbedError("nobody at home")
        self.asked += texts
        return np.eye(len(texts), 64, dtype=np.float32) if texts else np.empty((0, 0), np.float32)


def entries(*names):
    return [Entry(name, name, ToolInfo(name=name, description=f"{name} it")) for name in names]


@pytest.fixture
def embedder():
    return Patient()


@pytest.fixture
def catalog(embedder):
    made = Catalog(MemoryEngine(), CachedEmbedder(embedder, DictCache()), in_background=True)
    yield made
    embedder.go.set()
    made.close()


def arms(catalog):
    with catalog.view() as view:
        return set(view.arms)


def test_words_serve_until_the_vectors_are_there(catalog, embedder):
    catalog.rebuild(entries("a", "b"), "1")
    assert arms(catalog) == {"like", "bm25"}
    assert catalog.with_vectors(ASKED) is ASKED
    assert not catalog.has("1")
    embedder.go.set()
    assert catalog.embedded(HANG_S)
    assert arms(catalog) == {"like", "bm25", "vector"}
    assert catalog.with_vectors(ASKED)[0].vector
    assert catalog.has("1")


def test_what_changes_meanwhile_counts(catalog, embedder):
    catalog.rebuild(entries("a", "b"), "1")
    catalog.change(entries("c"), ["a"], "2")
    embedder.go.set()
    assert catalog.embedded(HANG_S)
    assert catalog.has("2")
    with catalog.view() as view:
        assert view.ids() == ["b", "c"]


def test_known_vectors_need_no_wait(catalog, embedder):
    embedder.go.set()
    catalog.rebuild(entries("a", "b"), "1")
    assert catalog.embedded(HANG_S)
    embedder.go.clear()
    catalog.rebuild(entries("b", "a"), "2")
    assert catalog.has("2")
    assert catalog.embedded(0)


def test_who_listens_to_the_embedding_waits_for_it(catalog, embedder):
    embedder.go.set()
    heard = []
    catalog.rebuild(
        entries("a", "b"), "1", embedding=lambda done, every: heard.append((done, every))
    )
    assert heard[-1] == (2, 2)
    assert catalog.has("1")


def test_an_embedder_that_fails_is_tried_again_with_the_next_change(catalog, embedder, caplog):
    embedder.go.set()
    embedder.failing = True
    with caplog.at_level(logging.WARNING):
        catalog.rebuild(entries("a"), "1")
        assert not catalog.embedded(HANG_S)
    assert "searching by words alone: nobody at home" in caplog.messages
    embedder.failing = False
    catalog.change(entries("b"), (), "2")
    assert catalog.embedded(HANG_S)
    assert arms(catalog) == {"like", "bm25", "vector"}


def test_closing_ends_the_work_between_two_steps(embedder):
    catalog = Catalog(MemoryEngine(), CachedEmbedder(embedder, DictCache()), in_background=True)
    catalog.rebuild(entries(*(f"tool_{n}" for n in range(100))), "1")
    embedder.go.set()
    catalog.close()
    assert catalog.embedded(0) == (not catalog._pending)
    catalog.change(entries("late"), (), "2")
    assert not catalog.embedded(0)


class SometimesBroken(DictCache):
    """A cache that fails when it is told to."""

    broken = False

    def cached_vectors(self, model, hashes):
        if self.broken:
            raise StoreError("the disk is gone; look for it")
        return super().cached_vectors(model, hashes)


class Looking:
    """A catalog whose embedder tells words apart, and what it warns of."""

    def __init__(self, embedder, *, in_background=False):
        self.warned = []
        self.cache = SometimesBroken()
        self.catalog = Catalog(
            MemoryEngine(),
            CachedEmbedder(embedder, self.cache),
            in_background=in_background,
            warn=self.warned.append,
        )

    def look(self, text, *names):
        return self.catalog.look(text, entries(*names))


def test_a_look_is_at_every_entry_by_its_name():
    looking = Looking(WordEmbedder())
    looking.catalog.rebuild(entries("read", "send"), "1")
    looks = looking.look("send it", "read", "send")
    assert looks.keys() == {"read", "send"}
    assert looks["send"] > looks["read"]


def test_an_entry_that_was_not_embedded_is_left_out_of_the_look():
    looking = Looking(WordEmbedder())
    looking.catalog.rebuild(entries("read"), "1")
    assert looking.look("read it", "read", "other").keys() == {"read"}
    assert looking.look("read it", "other") == {}
    assert looking.look("read it") == {}


def test_what_was_embedded_is_what_is_looked_at():
    embedder = WordEmbedder()
    looking = Looking(embedder)
    tool = ToolInfo(name="acme_read", description="it", source_id="acme-mcp", search_hint="cat")
    entry = Entry("acme_read", "read", tool)
    looking.catalog.rebuild([entry], "1")
    assert embedder.asked == [[embedded_text(tool, bare="read")]] == [["acme cat\nread\nit"]]
    assert looking.catalog.look("acme", [entry]).keys() == {"acme_read"}


@pytest.mark.parametrize("text", ["", " "])
def test_a_text_without_a_word_has_no_look(text):
    looking = Looking(WordEmbedder())
    looking.catalog.rebuild(entries("read"), "1")
    assert looking.look(text, "read") == {}


def test_there_is_no_look_without_an_embedder_that_tells_words_apart():
    looking = Looking(HashEmbedder())
    looking.catalog.rebuild(entries("read"), "1")
    assert looking.look("read it", "read") == {}
    assert Catalog(MemoryEngine(), None).look("read it", entries("read")) == {}
    assert not looking.warned


def test_there_is_no_look_until_the_vectors_are_there():
    class PatientReader(WordEmbedder):
        go = Event()

        def read(self, texts):
            assert self.go.wait(HANG_S)
            return super().read(texts)

    embedder = PatientReader()
    looking = Looking(embedder, in_background=True)
    try:
        looking.catalog.rebuild(entries("read"), "1")
        assert looking.look("read it", "read") == {}
        embedder.go.set()
        assert looking.catalog.embedded(HANG_S)
        assert looking.look("read it", "read").keys() == {"read"}
    finally:
        embedder.go.set()
        looking.catalog.close()


def test_a_look_that_fails_costs_the_look_and_is_said_once_until_it_works_again():
    looking = Looking(WordEmbedder())
    looking.catalog.rebuild(entries("read"), "1")
    vectors = looking.catalog.with_vectors([Variant("read it")])
    said = "searching without a second look: the disk is gone; look for it"
    for times in (1, 2):
        looking.cache.broken = True
        for _ in range(3):
            assert looking.catalog.with_vectors([Variant("read it")]) == vectors
            assert looking.look("read it", "read") == {}
        assert looking.warned == [said] * times
        looking.cache.broken = False
        assert looking.look("read it", "read")
        embedder = looking.catalog._embedder
        assert embedder is not None
        embedder._recent_tokens = type(embedder._recent_tokens)(9)


def test_an_embedder_that_cannot_read_a_query_costs_the_look():
    looking = Looking(WordEmbedder(failing="read it"))
    looking.catalog.rebuild(entries("read"), "1")
    assert looking.look("read it", "read") == {}
    assert looking.warned == ["searching without a second look: told to fail; do not tell it"]


# --- the index in a file

KEY = bytes(32)


def test_an_index_in_a_file_is_taken_over_with_its_vectors(tmp_path, embedder):
    embedder.go.set()
    some, cache = {each.name: each for each in entries("a", "b")}, DictCache()
    catalog = Catalog(MemoryEngine(), CachedEmbedder(embedder, cache))
    catalog.rebuild(some.values(), "1")
    assert catalog.write_pack(tmp_path / "pack", KEY) == catalog.mark
    other = Catalog(MemoryEngine(), CachedEmbedder(embedder, cache), in_background=True)
    assert not other.open_pack(tmp_path / "pack", KEY, "2", some)
    assert other.open_pack(tmp_path / "pack", KEY, "1", some)
    assert other.has("1")
    assert other.embedded(0)
    assert arms(other) == {"like", "bm25", "vector"}


def test_vectors_that_a_file_lacks_are_made(tmp_path, catalog, embedder):
    """Of those that are still there; and the file that is written then has them."""
    some = {each.name: each for each in entries("a", "b", "c")}
    catalog.rebuild(some.values(), "1")
    catalog.write_pack(tmp_path / "pack", KEY)
    del some["c"]
    other = Catalog(MemoryEngine(), CachedEmbedder(embedder, DictCache()), in_background=True)
    assert other.open_pack(tmp_path / "pack", KEY, "1", some)
    assert other.with_vectors(ASKED) is ASKED
    other.change((), ["c"], "2")
    embedder.go.set()
    assert other.embedded(HANG_S)
    assert other.has("2")
    with other.view() as view:
        assert view.without_vector() == []
        assert view.ids() == ["a", "b"]
    other.close()


def test_an_index_of_another_model_is_not_taken(tmp_path, embedder):
    embedder.go.set()
    catalog = Catalog(MemoryEngine(), CachedEmbedder(embedder, DictCache()))
    catalog.rebuild(entries("a"), "1")
    catalog.write_pack(tmp_path / "pack", KEY)
    other = Catalog(MemoryEngine(), CachedEmbedder(HashEmbedder(), DictCache()))
    assert not other.open_pack(tmp_path / "pack", KEY, "1", {})


def test_an_engine_without_such_a_file_says_so(tmp_path):
    with SqliteStore.open(":memory:") as store:
        catalog = Catalog(SqliteEngine(store), None)
        with pytest.raises(TypeError, match="SqliteEngine"):
            catalog.write_pack(tmp_path / "pack", KEY)
