import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index.memory.packed_words import PackedWords

WORDS = st.lists(st.text("abz\ud800\0é读取", min_size=1, max_size=4), max_size=12).map(
    lambda words: sorted(set(words))
)


@given(WORDS)
def test_words_are_found_by_their_place(words: list[str]):
    packed = PackedWords.of(words)
    assert list(packed) == words
    assert [packed.number(word) for word in words] == list(range(len(words)))
    assert [word in packed for word in words] == [True] * len(words)


@given(WORDS, st.text("abz\ud800é读", min_size=1, max_size=3))
def test_parts_are_found_in_words(words: list[str], part: str):
    packed = PackedWords.of(words)
    assert list(packed.containing(part)) == [w for w in words if part in w]
    assert (packed.number(part) >= 0) == (part in words)


@given(WORDS)
def test_words_are_found_by_their_first_letter_and_by_their_length(words: list[str]):
    packed = PackedWords.of(words)
    for letter in "abz":
        begun = [packed[number] for number in packed.beginning(letter)]
        assert begun == [word for word in words if word.startswith(letter)]
    for length in range(6):
        one = range(length, length + 1)
        assert list(packed.of_lengths(one)) == [word for word in words if len(word) == length]


def test_what_was_asked_for_is_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("toolcrib.index.memory.packed_words.MOST_REMEMBERED", 3)
    packed = PackedWords.of(["a", "b"])
    for word in "abcdefgh":
        packed.number(word)
    assert len(packed._numbers) <= 3
