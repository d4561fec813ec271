from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index.memory.packed_words import PackedWords
from toolcrib.text import typos

WORDS = st.lists(st.text("abz\ud800\0é读取", min_size=1, max_size=4), max_size=12).map(
    lambda words: sorted(set(words))
)


@given(WORDS)
def test_words_are_found_by_their_place(words: list[str]):
    packed = PackedWords.of(words)
    assert list(packed) == words
    assert [packed.number(word) for word in words] == list(range(len(words)))
    assert [word in packed for word in words] == [True] * len(words)


@given(WORDS, st.text("abz\ud800é读", min_size=3, max_size=5))
def test_parts_are_found_in_words(words: list[str], part: str):
    packed = PackedWords.of(words)
    assert list(packed.containing(part)) == [w for w in words if part in w]
    assert (packed.number(part) >= 0) == (part in words)


def edited(word: str) -> set[str]:
    """Every word that is one edit away, with new letters of one, two and three bytes."""
    halves = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    put = {first + new + last for first, last in halves for new in "xé读"}
    changed = {first + new + last[1:] for first, last in halves for new in "xé读" if last}
    lost = {first + last[1:] for first, last in halves if last}
    swapped = {first + last[1::-1] + last[2:] for first, last in halves if len(last) > 1}
    return put | changed | lost | swapped


@given(st.text("abB1é读", min_size=4, max_size=9), st.randoms(use_true_random=False))
def test_typos_are_found_as_among_all_words(written: str, random: Random):
    once = edited(written)
    twice = {other for each in random.sample(sorted(once), 5) for other in edited(each)}
    words = sorted({written, *once, *twice, "another", "读"})
    assert set(PackedWords.of(words).near(written)) == set(typos(written, words, most=None))


@given(WORDS)
def test_words_are_found_by_their_first_letter(words: list[str]):
    packed = PackedWords.of(words)
    for letter in "abz":
        begun = [packed[number] for number in packed.beginning(letter)]
        assert begun == [word for word in words if word.startswith(letter)]


def test_what_was_asked_for_is_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcrib.index.memory.packed_words.MOST_REMEMBERED", 3)
    packed = PackedWords.of(["a", "b"])
    for word in "abcdefgh":
        packed.number(word)
    assert len(packed._numbers) <= 3
