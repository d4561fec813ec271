import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.search import subqueries
from toolcrib.search.task_parts import MOST_WEIGHT, whole_weight


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("search the web and save a file", ["search the web", "save a file"]),
        ("read the file, then send it", ["read the file", "send it"]),
        ("Create an issue. Notify the team!", ["Create an issue", "Notify the team"]),
        ("find the invoice; pay it; delete it", ["find the invoice", "pay it", "delete it"]),
        (
            "see which pods are stuck, and let ops know",
            ["see which pods are stuck", "let ops know"],
        ),
        (
            "make a branch, commit what i have and push it",
            ["make a branch", "commit what i have", "push it"],
        ),
        (
            "find a slot when me and Ann are free and book it",
            ["find a slot when me and Ann are free", "book it"],
        ),
        (
            "check the weather and i'd like you to email it to dad please",
            ["check the weather", "email it to dad"],
        ),
        ("what is the weather? Book a table.", ["what is the weather", "Book a table"]),
        (
            "open the page, then search and replace the word",
            ["open the page", "search and replace the word"],
        ),
        ("打开文件然后发送消息", ["打开文件", "发送消息"]),
        ("把说明翻成中文，再发邮件给客户", ["说明翻成中文", "发邮件给客户"]),
        ("看看明天的天气，要是下雨就把活动改到周日", ["看看明天的天气", "活动改到周日"]),
        ("查一下路程，顺便订一张票，完了告诉我爸", ["查一下路程", "订一张票", "告诉我爸"]),
        ("幫我看看還有哪些發票，然後寄封信催一下客戶", ["看看还有哪些发票", "寄封信催一下客户"]),
    ],
)
def test_a_task_is_split_into_what_it_asks_for(asked: str, parts: list[str]):
    assert list(subqueries(asked)) == parts


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "read a file",
        "read and write",
        "read and write the config file",
        "teach me how to read and write",
        "find flights to Rome. Include the prices and return the cheapest",
        "search and replace in all files",
        "drag and drop the file",
        "terms and conditions of the order",
        "cats and dogs",
        "list users and groups",
        "list users and email addresses",
        "hello, world",
        "put lunch with Sara in my calendar, friday at noon",
        'send a mail saying "come, eat and bring the kids, then go"',
        "and and and",
        "查询天气和新闻",
        "订一个会议室，明天下午三点",
        "搜索和替换文件里的文字",
        "再见",
        "安排一个考试，开始时间是九点，联系电话是5551234",
    ],
)
def test_a_request_for_one_thing_is_not_split(asked: str):
    assert list(subqueries(asked)) == []


def test_what_is_asked_for_twice_is_one_thing():
    assert list(subqueries("read it; send it; read it")) == ["read it", "send it"]


def test_what_is_no_request_stays_with_the_part_before_it():
    asked = "book a table, the big one, for friday and tell Ann"
    assert list(subqueries(asked)) == ["book a table, the big one, for friday", "tell Ann"]


@given(st.text(max_size=300) | st.text("读写发送把再，and, then send it. ", max_size=300))
def test_whatever_is_asked_has_no_part_or_several_different_ones(text: str):
    parts = subqueries(text)
    assert len(parts) == len(set(parts)) != 1
    assert all(part.strip() for part in parts)


def test_the_whole_weighs_more_the_longer_a_task_is():
    assert whole_weight("read it and send it") == whole_weight("") == 1.0
    assert 1.0 < whole_weight("read the file " * 15) < MOST_WEIGHT
    assert whole_weight("读取文件并发送" * 400) == MOST_WEIGHT
