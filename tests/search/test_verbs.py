import pytest

from toolcrib.search import asks_for, is_destructive, opposite_family, verb_family


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
        ("删文件", "delete"),
        ("把昨天的文件删了", "delete"),
        ("天气查询", "read"),
        ("清单", ""),  # a list, though its first character is to clear
        ("email_delete", "delete"),
        ("email me the report", "send"),
        ("order status", "book"),
        ("list_deleted_items", "list"),
        ("restarted", "run"),
        ("turn the light in the hall off", "disable"),
        ("turned on", "enable"),
        ("let ops know", "send"),
        ("读文件", "read"),
        ("发送消息", "send"),
        ("weather forecast", "calculate"),
        ("weather", ""),
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
    ("family", "opposite"),
    [("create", "delete"), ("open", "close"), ("enable", "disable"), ("lock", "unlock")],
)
def test_opposites_are_opposites_of_each_other(family: str, opposite: str):
    assert opposite_family(family) == opposite
    assert opposite_family(opposite) == family


def test_what_has_no_opposite_or_is_no_family_has_none():
    assert opposite_family("calculate") == opposite_family("") == opposite_family("zyzzyva") == ""


@pytest.mark.parametrize(
    "name", ["delete-key", "excel_delete_chart", "cancelOrder", "dropTable", "删除文件", "kill_pod"]
)
def test_a_tool_that_deletes_or_cancels_is_destructive(name: str):
    assert is_destructive(name)


@pytest.mark.parametrize(
    "name",
    [
        "list_deleted_items",
        "get_removal_policy",
        "undelete",
        "restore_file",
        "rotate_key",
        "",
        "图",
    ],
)
def test_a_tool_that_only_speaks_of_deleting_is_not(name: str):
    assert not is_destructive(name)


@pytest.mark.parametrize(
    "text",
    [
        "delete the old branch",
        "could the old branch be removed",
        "get rid of it",
        "take the page down",
        "approve the deletion",
        "把旧分支删了吧",
        "舊的文件都刪掉",
    ],
)
def test_a_request_asks_for_a_family_in_any_form_of_its_verbs(text: str):
    assert asks_for("delete", text)


@pytest.mark.parametrize("text", ["rotate my key", "截个图", "列个清单", "", "deleterious"])
def test_a_request_without_the_verb_does_not_ask_for_it(text: str):
    assert not asks_for("delete", text)
