import pytest

from toolcrib.text import terms, words
from toolcrib.text.glossary import our_glossary
from toolcrib.text.traditional import PAIRS, simplified


@pytest.mark.parametrize(
    ("traditional", "simple"),
    [
        ("查詢資料庫", "查询资料库"),
        ("發送電子郵件", "发送电子邮件"),
        ("機器學習", "机器学习"),
        ("著名", "著名"),
        ("plain text", "plain text"),
    ],
)
def test_traditional_characters_become_simplified(traditional: str, simple: str):
    assert simplified(traditional) == simple


def test_both_are_indexed_alike():
    assert terms(words("讀取文件")) == terms(words("读取文件"))


def test_each_pair_goes_from_a_traditional_character_to_one_that_stays():
    froms, tos = [pair[0] for pair in PAIRS], {pair[1] for pair in PAIRS}
    assert all(len(pair) == 2 for pair in PAIRS)
    assert froms == sorted(set(froms))
    assert not tos.intersection(froms)


def test_what_is_simplified_can_be_written_in_simplified_chinese():
    assert "".join(pair[1] for pair in PAIRS).encode("gb2312")


def _only_simplified(character: str) -> bool:
    try:
        character.encode("big5")
    except UnicodeEncodeError:
        return True
    return False


def test_the_characters_of_the_glossary_are_known_in_their_traditional_form():
    ours = {c for line in our_glossary() for term in line.sides[1] for c in simplified(term)}
    known = {pair[1] for pair in PAIRS}
    # 着 is 著 as a particle only; 酶 is the same in both.
    assert {c for c in ours if _only_simplified(c)} - known <= set("着酶")
