from collections import Counter
from importlib import resources

import pytest

from toolcrib.text import Mention, fold, our_products, simplified
from toolcrib.text.products import LONGEST_TEXT, OURS, parse_products


def certain(request: str) -> list[str]:
    return [each.product for each in our_products().mentions(request) if each.certain]


def perhaps(request: str) -> list[str]:
    return [each.product for each in our_products().mentions(request) if not each.certain]


@pytest.mark.parametrize(
    ("request_text", "product"),
    [
        ("add milk to my todoist list", "todoist"),
        ("list the k8s pods", "kubernetes"),
        ("run this on pg", "postgresql"),
        ("the psql prompt", "postgresql"),
        ("new event in gcal", "google calendar"),
        ("a Google-Calendar event", "google calendar"),
        ("GoogleCalendar: new event", "google calendar"),
        ("open a git hub issue", "github"),
        ("open draw.io", "draw.io"),
        ("what's on my google calendar", "google calendar"),
        ("在飞书上建个日程", "飞书"),
        ("use Lark for it", "飞书"),
        ("用谷歌日曆約個會", "google calendar"),
        ("放首QQ音乐里的歌", "qq音乐"),
        ("ＧｉｔＨｕｂ的仓库", "github"),
        ("post a tweet", "twitter"),
    ],
)
def test_a_product_is_found_by_each_of_its_names(request_text: str, product: str):
    assert certain(request_text) == [product]


@pytest.mark.parametrize(
    "request_text",
    [
        "write to bob@gmail.com",
        "clone https://github.com/x/y",
        "read www.reddit.com/r/x",
        "open /home/me/slack/notion.md",
        "open C:\\slack\\trello",
        "delete todoist.csv",
        "star facebook/react",
        'search for "trello and jira"',
        "把“钉钉和飞书”翻译成英文",
        "run git_hub_sync --github=1",
        "fix #github",
        "ask @github",
        "meet on monday and make it quick",
        "gmails",
        "",
        "   ",
    ],
)
def test_arguments_and_other_words_name_nothing(request_text: str):
    assert our_products().mentions(request_text) == ()


def test_names_with_signs_in_them_are_no_arguments():
    assert certain("search gmail/trello") == ["gmail", "trello"]
    assert certain('put it in "Trello"') == ["trello"]


@pytest.mark.parametrize(
    ("meant", "not_meant"),
    [
        ("ping the team on slack", "cut me some slack"),
        ("create a Linear issue", "fit a linear regression"),
        ("put this into my Notion please", "what a notion"),
        ("start a zoom call", "zoom in on the map"),
        ("send it to teams", "split them in teams of five"),
        ("search notion for the plan", "the notion of time"),
        ("用notion建个页面", "notion 是什么"),
        ("发到Teams群里", "two teams 比赛"),
        ("upload it to drive", "how long to drive to work"),
        ("count rows in pg", "nothing above pg 13"),
        ("在去哪儿订酒店", "周末去哪儿玩"),
    ],
)
def test_an_everyday_word_needs_a_sign(meant: str, not_meant: str):
    assert len(certain(meant)) == 1
    assert certain(not_meant) == []


def test_an_everyday_word_without_a_sign_is_a_perhaps():
    assert perhaps("cut me some slack") == ["slack"]


@pytest.mark.parametrize(
    "request_text",
    [
        "who is the ceo of spotify",
        "what's spotify",
        "write a post about spotify",
        "spotify's logo",
        "latest spotify news",
        "find an MCP server for spotify",
        "spotify股价多少",
        "spotify是什么",
    ],
)
def test_a_question_about_a_product_is_no_request_to_it(request_text: str):
    assert perhaps(request_text) == ["spotify"]


def test_the_longest_name_wins_and_a_shorter_one_where_the_longer_is_torn():
    assert certain("put it in google cloud storage") == ["google cloud storage"]
    assert certain("百度网盘") == ["百度网盘"]
    assert certain("put it in google cloud; storage is full") == ["google cloud"]
    assert certain("用企业微信发给他") == ["企业微信"]


def test_a_product_is_there_once_by_its_surest_mention():
    found = our_products().mentions("slack off, then post it on slack")
    assert found == (Mention("slack", certain=True),)


def test_a_server_is_named_by_everyday_words_and_a_tool_is_not():
    listed = our_products()
    assert listed.in_name(["monday"], everyday=True) == {"monday.com"}
    assert listed.in_name(["linear", "fit"], everyday=False) == frozenset()
    assert listed.in_name(["slack", "post", "gmail"], everyday=False) == {"gmail"}


def test_a_description_speaks_of_products_in_examples_too():
    text = "Reads https://github.com/x. The news of Trello boards. Draws a line, linear or not."
    assert our_products().spoken_of(text) == {"github", "trello"}


@pytest.mark.parametrize(
    "unit", ["a", "slack ", '"a', "微信", "a.", "google ", "/", "'", "x@", "「"]
)
def test_only_the_beginning_of_a_huge_text_is_read(unit: str):
    huge = unit * LONGEST_TEXT
    assert our_products().mentions(huge + " trello") == our_products().mentions(huge)
    assert our_products().spoken_of(huge + " trello") == our_products().spoken_of(huge)


def test_the_list_is_large_and_each_name_stands_once():
    listed = our_products()
    assert len(listed.products) >= 1000
    assert sum(not name.isascii() for name in listed.folded) >= 200
    said = Counter(
        simplified(fold(spelling.strip(" ~=")))
        for line in _our_lines()
        for spelling in dict.fromkeys(line.strip("[]?* ").split(" > ")[0].split("|"))
    )
    joined_and_apart = {fold(name) for name in _joined_names()}
    assert {name for name, times in said.items() if times > 1} <= joined_and_apart


def test_every_product_that_is_reached_is_in_the_list():
    listed = our_products().products
    assert {other for each in listed.values() for other in each.reaches} <= set(listed)


def test_a_list_of_ones_own_is_read():
    listed = parse_products("# mine\n[suite | s-1]\n? one | uno~ > two\n[]\n* two=\n")
    assert listed.members == {"suite": {"one"}}
    assert (listed.products["one"].soft, listed.products["one"].broad) == (True, False)
    assert (listed.products["two"].soft, listed.products["two"].broad) == (True, True)
    assert listed.mentions("with s1 and two") == (Mention("suite", certain=True),)


def _our_lines() -> list[str]:
    text = (resources.files("toolcrib.text") / "wordlists" / OURS).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and line[0] != "#" and line != "[]"]


def _joined_names() -> list[str]:
    """Products whose name is one word or two: github and git hub."""
    return [line.strip("[]?* ").split("|")[0].strip(" ~=") for line in _our_lines()]
