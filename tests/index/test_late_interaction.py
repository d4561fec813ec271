"""Late interaction, held against the formula written out in full."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.embed import TOKEN_STEPS, TextReading
from toolcrib.embed.protocol import TOKEN_WIDTH
from toolcrib.index.late_interaction import late_interaction

SEEDS = st.integers(0, 2**32 - 1)
COUNTS = st.integers(1, 64)


def tokens(chance, count):
    rows = chance.normal(size=(count, TOKEN_WIDTH))
    return np.rint(rows / np.linalg.norm(rows, axis=1, keepdims=True) * TOKEN_STEPS).astype(np.int8)


def query(words, weights=None):
    weights = np.ones(len(words), np.float32) if weights is None else weights
    return TextReading(np.ones(1, np.float32), words, weights)


def plain(asked, tool):
    """Word by word, token by token, in Python's own numbers."""
    best = [
        max(sum(int(a) * int(b) for a, b in zip(word, each, strict=True)) for each in tool)
        / TOKEN_STEPS**2
        for word in asked.tokens
    ]
    total = sum(map(float, asked.weights))
    shares = [float(weight) / total for weight in asked.weights]
    return sum(each * share for each, share in zip(best, shares, strict=True))


@given(SEEDS, st.integers(1, 6), st.lists(COUNTS, max_size=4))
def test_it_is_the_formula(seed, words, sizes):
    chance = np.random.default_rng(seed)
    weights = chance.uniform(0.01, 1, words).astype(np.float32)
    asked = query(tokens(chance, words), weights)
    tools = [tokens(chance, size) for size in sizes]
    looks = late_interaction(asked, tools)
    assert len(looks) == len(tools)
    for look, tool in zip(looks, tools, strict=True):
        assert look == pytest.approx(plain(asked, tool), abs=1e-5)


@given(SEEDS, st.lists(COUNTS, min_size=2, max_size=5))
def test_a_look_at_one_tool_depends_on_no_other(seed, sizes):
    chance = np.random.default_rng(seed)
    asked = query(tokens(chance, 3))
    tools = [tokens(chance, size) for size in sizes]
    together = late_interaction(asked, tools)
    for look, tool in zip(together, tools, strict=True):
        [alone] = late_interaction(asked, [tool])
        assert look == pytest.approx(alone, abs=1e-6)


def test_no_tools_are_no_looks():
    assert late_interaction(query(tokens(np.random.default_rng(1), 2)), []) == []


@pytest.mark.parametrize("count", [1, 2, 64])
def test_a_tool_that_has_every_word_lacks_none(count):
    words = tokens(np.random.default_rng(2), count)
    [look] = late_interaction(query(words), [words[::-1]])
    assert look == pytest.approx(1, abs=0.02)


def test_every_word_has_to_be_answered_for_by_itself():
    words = np.zeros((2, TOKEN_WIDTH), np.int8)
    words[0, 0] = words[1, 1] = TOKEN_STEPS
    half = words[:1]
    [look] = late_interaction(query(words), [np.repeat(half, 9, axis=0)])
    assert look == pytest.approx(0.5)


def test_a_word_counts_by_its_weight():
    words = np.zeros((2, TOKEN_WIDTH), np.int8)
    words[0, 0] = words[1, 1] = TOKEN_STEPS
    asked = query(words, np.array([0.9, 0.3], np.float32))
    one, other = late_interaction(asked, [words[:1], words[1:]])
    assert one == pytest.approx(0.75)
    assert other == pytest.approx(0.25)


def test_weights_of_zero_divide_by_no_zero():
    words = tokens(np.random.default_rng(3), 2)
    [look] = late_interaction(query(words, np.zeros(2, np.float32)), [words])
    assert look == 0.0


def test_it_takes_one_thread_of_blas(monkeypatch):
    entered = []

    @contextmanager
    def one_thread():
        entered.append(1)
        yield

    monkeypatch.setattr("toolcrib.index.late_interaction.one_blas_thread", one_thread)
    words = tokens(np.random.default_rng(4), 2)
    assert late_interaction(query(words), [words])
    assert entered
