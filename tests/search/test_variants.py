import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.search import MOST_SUBQUERIES, plain_words, subqueries
from toolcrib.search.variants import (
    AS_WRITTEN,
    MOST_TERMS,
    PLAIN,
    SUBQUERY,
    TRANSLATED,
    query_variants,
)
from toolcrib.text import Glossary


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("能不能帮我读文件", "读文件"),
        ("请帮我发送消息一下吗", "发送消息"),
        ("我想要查询天气", "查询天气"),
        ("Can you show me the open issues?", "show open issues"),
        ("please read a file", "read file"),
        ("how do I send messages to my team", "send messages team"),
        ("read file", "read file"),
        ("I'd like to book a table for us, thanks!", "book table"),
        ("help me fix my bug pls", "fix bug"),
        ("麻烦把文件读出来好吗谢谢", "文件读出来"),
    ],
)
def test_a_request_is_taken_out_of_its_wrapping(asked: str, meant: str):
    assert plain_words(asked) == meant


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("请求", "请求"),  # a request begins with the sign for please
        ("能源价格", "能源价格"),  # and energy with the one for can
        ("可以", "可以"),
        ("the", "the"),
        ("what is it", "what is it"),
    ],
)
def test_what_would_be_nothing_without_its_wrapping_keeps_it(asked: str, meant: str):
    assert plain_words(asked) == meant


def test_only_so_many_subqueries_are_wordings():
    task = "; ".join(f"read file{number}" for number in range(20))
    assert len(subqueries(task)) == 20
    made = query_variants(task, split=True)
    assert [each.origin for each in made].count("one intent") == MOST_SUBQUERIES


def test_the_wordings_have_their_weights_and_origins():
    made = query_variants("search the web and save a file", split=True)
    assert [(each.text, each.weight, each.origin) for each in made] == [
        ("search the web and save a file", AS_WRITTEN, "as written"),
        ("search web save file", PLAIN, "plain words"),
        ("search the web", SUBQUERY, "one intent"),
        ("save a file", SUBQUERY, "one intent"),
    ]


def test_as_written_goes_by_spelling_and_the_others_by_stems():
    written, bare = query_variants("reading files")
    assert written.terms == ("reading", "files")
    assert bare.terms == ("read·", "file·")
    assert written.words == bare.words == ("reading", "files")


def test_the_seed_s_example_is_looked_up_as_written_and_plain():
    written, bare = query_variants("能不能帮我读文件")
    assert (written.text, bare.text) == ("读文件", "读文件")
    assert bare.words == ("读文", "文件")
    assert bare.terms == ("读·", "文·", "件·")


def test_subqueries_are_wordings_only_with_split():
    made = query_variants("search the web and save a file")
    assert [each.origin for each in made] == ["as written", "plain words"]


def test_no_wording_has_a_vector_yet():
    assert all(each.vector is None for each in query_variants("read a file"))


@given(st.text(max_size=300) | st.text("读写文件 and,then save!", max_size=300))
def test_whatever_is_asked_has_a_wording_and_no_two_are_looked_up_alike(text: str):
    made = query_variants(text, split=True)
    assert 1 <= len(made) <= 2 + MOST_SUBQUERIES
    assert len({(each.words, each.terms) for each in made}) == len(made)


@given(st.lists(st.text("abcdefgh读写文件", min_size=1, max_size=9), max_size=200))
def test_only_so_many_terms_are_looked_up(some: list[str]):
    for each in query_variants(" ".join(some), split=True):
        assert len(each.terms) <= MOST_TERMS


def test_only_so_many_words_are_compared_with_labels():
    for text in ("文" * 4000, "word " * 800, "aB" * 2000):
        assert all(len(each.words) <= MOST_TERMS for each in query_variants(text))


ENGLISH = Glossary().lexicon("zh", "en")
CHINESE = Glossary().lexicon("en", "zh")


def test_a_query_is_worded_in_the_language_of_the_tools_too():
    *_, made = query_variants("能不能帮我搜索文件", [(ENGLISH, 1.0)])
    assert (made.text, made.origin) == ("search file", "in English")
    assert made.weight == TRANSLATED
    assert made.words == ("search", "file")
    assert {"search·", "find·", "file·", "document·"} <= set(made.terms)


def test_english_is_worded_in_chinese():
    *_, made = query_variants("search the files", [(CHINESE, 0.5)])
    assert (made.text, made.origin) == ("搜索 文件", "in Chinese")
    assert made.weight == 0.5 * TRANSLATED
    assert {"搜·", "索·", "文·", "件·"} <= set(made.terms)


@pytest.mark.parametrize("text", ["zyzzyva", "", "2024"])
def test_what_no_glossary_knows_is_not_translated(text: str):
    assert all(each.origin != "in Chinese" for each in query_variants(text, [(CHINESE, 1.0)]))


def test_a_request_in_traditional_characters_is_taken_out_of_its_wrapping():
    assert plain_words("請幫我發送消息") == "发送消息"
