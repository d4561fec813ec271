import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.index.fuzzy_match import (
    LEAST_LIKENESS,
    Vocabulary,
    by_likeness,
    hopeless,
    likeness,
    longest_in_reach,
    may_be_part,
    stands_for,
)
from toolcrib.model import EXCLUDE_NOTHING, Match, NameFilter

WORDS = ("file", "filesystem", "profile", "search")


def test_a_word_stands_for_itself_and_the_less_for_longer_words_that_have_it():
    weights = stands_for(
        "file", exact=True, containing=["file", "filesystem", "profile"], alike=WORDS
    )
    assert weights == pytest.approx({"file": 1.0, "filesystem": 0.24, "profile": 0.6 * 4 / 7})


def test_an_unknown_word_stands_for_its_typos():
    assert stands_for("serach", exact=False, containing=[], alike=WORDS) == {"search": 0.7}


def test_a_word_that_is_a_part_of_others_is_no_typo():
    assert stands_for("fil", exact=False, containing=["file"], alike=WORDS) == {
        "file": pytest.approx(0.45)
    }


def test_short_words_are_neither_parts_nor_typos():
    assert not stands_for("fle", exact=False, containing=[], alike=WORDS)
    assert not may_be_part("fi")
    assert may_be_part("fil")


def test_likeness_is_one_for_a_label_in_full():
    assert likeness(8, 8, 8) == 1.0
    assert likeness(4, 8, 8) == 0.5
    assert likeness(4, 16, 4) == pytest.approx(0.5)


def test_an_id_is_ranked_by_its_best_label_and_ties_go_by_id():
    labels = [("b", 0.7), ("c", 0.9), ("b", 0.9), ("a", 0.9), ("d", LEAST_LIKENESS - 0.01)]
    best_first = [Match("a", 0.9), Match("b", 0.9), Match("c", 0.9)]
    assert by_likeness(labels, limit=None, exclude=EXCLUDE_NOTHING) == best_first
    assert by_likeness(labels, limit=1, exclude=NameFilter.without(["a"])) == [Match("b", 0.9)]


@given(query=st.integers(1, 500), label=st.integers(1, 500), share=st.floats(0, 1))
def test_no_label_out_of_reach_is_alike(query: int, label: int, share: float):
    """Found are at most all characters of the query, and at most all of the label's."""
    alike = likeness(share * min(query, label), label, query)
    if label > longest_in_reach(query) * (1 + 1e-9) or hopeless(query, label * (1 + 1e-9)):
        assert alike < LEAST_LIKENESS + 1e-9


SOME = Vocabulary(["file", "filesystem", "文件", "profile", "search"])
VOCABULARY = st.text(st.sampled_from("abc文"), min_size=1, max_size=5)


@given(words=st.sets(VOCABULARY), part=VOCABULARY)
def test_it_finds_every_word_that_has_a_part_once_and_in_order(words: set[str], part: str):
    some = sorted(words)
    assert list(Vocabulary(some).containing(part)) == [word for word in some if part in word]


def test_a_word_stands_for_itself_for_longer_ones_and_for_its_typos():
    assert list(SOME.stands_for("file")) == ["filesystem", "profile", "file"]
    assert list(SOME.stands_for("serach")) == ["search"]
    assert list(SOME.stands_for("文件")) == ["文件"]
    assert not SOME.stands_for("fi")


def test_without_words_nothing_stands_for_anything():
    assert not Vocabulary([]).stands_for("file")
