"""Vectors that come later: what searches see before, and after."""

import logging
from threading import Event

import numpy as np
import pytest

from tests.embed.dict_cache import DictCache
from tests.waiting import HANG_S
from toolcrib.embed import CachedEmbedder
from toolcrib.errors import EmbedError
from toolcrib.index import Catalog, MemoryEngine
from toolcrib.model import Entry, ToolInfo, Variant

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
