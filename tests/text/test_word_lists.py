import pytest

from toolcrib.text.word_lists import bases, our_abbreviations, our_word_shapes, our_words


def test_usual_words_come_before_rare_ones():
    words = our_words()
    assert words["the"] < words["file"] < words["nitrate"]


def test_words_of_products_are_known():
    assert {"zotero", "trello", "kubernetes", "feishu"} <= our_words().keys()


def test_all_words_are_plain_ones():
    assert all(word.isascii() and word.islower() for word in our_words() if word.isalpha())
    assert sum(not word.isalnum() for word in our_words()) == 0


def test_what_a_chat_word_means_is_made_of_known_words():
    for short, meant in our_abbreviations().items():
        assert short != meant
        assert all(word.replace("'", "") in our_words() or "'" in word for word in meant.split())


def test_words_are_found_by_first_letter_and_length():
    assert "email" in our_word_shapes()["e", 5]


@pytest.mark.parametrize(
    ("form", "base"),
    [
        ("deployments", "deployment"),
        ("queries", "query"),
        ("stopped", "stop"),
        ("making", "make"),
        ("reopen", "open"),
        ("quickly", "quick"),
    ],
)
def test_a_form_has_its_base_among_those_it_may_have(form: str, base: str):
    assert base in bases(form)


def test_a_short_word_is_no_form():
    assert not list(bases("as"))
