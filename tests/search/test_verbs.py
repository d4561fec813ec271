import pytest

from toolcrib.search import verb_family
from toolcrib.search.verbs import starts_with_verb


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("read a file", "read"),
        ("show me all buckets", "read"),
        ("list_buckets", "list"),
        ("listBuckets", "list"),
        ("mcp create-issue", "create"),
        ("the weather, please send it", "send"),
        ("删除文件", "delete"),
        ("删文件", ""),
        ("读文件", "read"),
        ("发送消息", "send"),
        ("weather forecast", ""),
        ("", ""),
        ("\ud800", ""),
    ],
)
def test_the_verb_family_is_that_of_the_first_verb_that_is_known(text: str, family: str):
    assert verb_family(text) == family


def test_different_words_for_one_thing_are_one_family():
    assert verb_family("fetch the page") == verb_family("getPage") == verb_family("查看页面") != ""


def test_a_longer_chinese_verb_wins_over_a_shorter_one():
    assert verb_family("格式化文本") == "convert"
    assert verb_family("写入文件") == "write"


@pytest.mark.parametrize(
    ("words", "starts"),
    [(["send", "it"], True), (["the", "send"], False), (["发送消息"], True), ([], False)],
)
def test_only_the_first_word_decides_whether_it_is_a_request(words: list[str], starts: bool):
    assert starts_with_verb(words) is starts
