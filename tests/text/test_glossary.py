"""How a glossary translates, and that ours keeps to the rules that stand at its top."""

from collections import Counter
from itertools import groupby, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import Glossary, is_unspaced, load_glossary, words
from toolcrib.text.glossary import MOST_MEANINGS, our_glossary
from toolcrib.text.traditional import simplified

GLOSSARY = Glossary()
INTO_ENGLISH = GLOSSARY.lexicon("zh", "en")
INTO_CHINESE = GLOSSARY.lexicon("en", "zh")


def usual(glosses: object) -> list[str]:
    return [meanings[0] for meanings in glosses]  # pyright: ignore[reportGeneralTypeIssues]


def test_ours_has_at_least_two_thousand_entries():
    assert len(our_glossary()) >= 2400


def test_ours_is_english_on_the_left_and_chinese_on_the_right():
    for line in our_glossary():
        assert line.languages == ("en", "zh")
        assert all(term.isascii() and term == term.lower() for term in line.sides[0]), line
        assert all(is_unspaced(term) for term in line.sides[1]), line


def test_no_pair_of_terms_comes_twice_in_ours():
    pairs = Counter(
        (left, simplified(right)) for line in our_glossary() for left, right in product(*line.sides)
    )
    assert [pair for pair, count in pairs.items() if count > 1] == []


def test_ours_is_in_order_within_each_section_and_every_section_comes_once():
    sections = [
        (name, [line.sides for line in lines])
        for name, lines in groupby(our_glossary(), lambda line: line.section)
    ]
    assert len(sections) == len({name for name, _ in sections}) > 20
    assert all(name and lines == sorted(lines) for name, lines in sections)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("查询天气预报", ["query", "weather forecast"]),
        ("并发送邮件", ["send", "email"]),  # not 并发, concurrency
        ("查詢天氣預報", ["query", "weather forecast"]),
        ("讀取檔案", ["read", "file"]),
        ("用GitHub创建议题", ["git", "hub", "github", "create", "issue"]),
        ("2024", []),
        ("", []),
    ],
)
def test_chinese_is_taken_apart_at_the_longest_terms(asked: str, meant: list[str]):
    assert usual(INTO_ENGLISH.glosses(asked)) == meant


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Weather forecasts", ["天气预报"]),
        ("sign in", ["登录"]),
        ("the zyzzyva", []),
        ("translate 你好", ["翻译", "你", "好"]),
    ],
)
def test_english_goes_by_phrases_and_stems(asked: str, meant: list[str]):
    assert usual(INTO_CHINESE.glosses(asked)) == meant


def test_a_term_has_its_meanings_in_order_and_only_so_many():
    assert all(1 <= len(each) <= MOST_MEANINGS for each in INTO_ENGLISH.meanings.values())
    assert INTO_ENGLISH.glosses("搜索") == [("search", "find", "look up")]


def test_a_file_of_one_s_own_has_the_first_word(tmp_path: Path):
    mine = tmp_path / "mine.txt"
    mine.write_text("en | zh\nforecast outlook, outlook | 天气预报\nfrobnicate | 捣鼓", "utf-8")
    lexicon = load_glossary([mine]).lexicon("zh", "en")
    assert lexicon.glosses("捣鼓") == [("frobnicate",)]
    assert lexicon.glosses("天气预报")[0][0] == "forecast outlook"
    assert "weather forecast" in lexicon.glosses("天气预报")[0]


def test_a_lexicon_is_made_once():
    assert GLOSSARY.lexicon("zh", "en") is GLOSSARY.lexicon("zh", "en")


@given(st.text(max_size=200) | st.text("查询天气预报发送邮件 file,read", max_size=200))
def test_whatever_is_asked_can_be_translated(text: str):
    for meanings in INTO_ENGLISH.glosses(text):
        assert meanings
        assert words(" ".join(meanings))
