import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.evaluate.phrasing import MOST_WORDS, plain_request
from toolcrib.model import Entry, ToolInfo

REQUESTS = [
    (
        "create_issue",
        "Create a new issue in a GitLab project",
        "make a new issue in a GitLab project",
    ),
    ("create_issue", "Creates a new issue.", "make a new issue"),
    (
        "list_pods",
        "This tool lists all pods of a given cluster by name.",
        "show me all pods",
    ),
    ("get_file", "Use this tool to retrieve a file from the disk.", "show me a file from the disk"),
    ("x", "A tool for deleting an existing row (see https://x.y) from a table", "get rid of a row"),
    (
        "find",
        "Find places near you, including parks",
        "look for places near you",
    ),
    ("wait", "Waits for the given duration.", "wait for the duration"),
    ("scan", "Search your library", "look for my library"),
    ("scan", "Search for notes by topic", "look for notes by topic"),
    ("apex", "Apex Code Scan", "apex Code Scan"),
    ("read_note", "", "show me note"),
    ("sms", "用于发送短信，支持多个号码", "帮我发送短信"),
    ("sms", "该工具可以查询天气。", "帮我查询天气"),
]


def entry(name: str, description: str, title: str = "") -> Entry:
    return Entry(name, name, ToolInfo(name=name, description=description, title=title))


@pytest.mark.parametrize(("name", "description", "request_"), REQUESTS)
def test_a_description_becomes_what_somebody_asks(name: str, description: str, request_: str):
    assert request_ in plain_request(entry(name, description))


def test_what_is_no_verb_gets_one():
    asked = plain_request(entry("scan_class", "Apex Code Scan"))
    assert "with apex" in asked or "about apex" in asked


def test_the_verb_of_the_tool_is_put_into_another_word():
    assert "list" not in plain_request(entry("list_buckets", "List buckets.")).split()


def test_the_same_tool_is_always_asked_for_alike():
    asked = {plain_request(entry("list_buckets", "List buckets.")) for _ in range(3)}
    assert len(asked) == 1


def test_markup_and_code_are_left_out():
    text = "**MUST** read [this](http://x)\n```\nrm -rf\n```"
    asked = plain_request(entry("x", f"# Get `rows` of a table\n{text}"))
    assert "show me rows of a table" in asked


def test_a_title_stands_in_for_a_description():
    assert "make a chart" in plain_request(entry("x1", "", "Create a chart"))


@given(st.text(max_size=40), st.text(max_size=300), st.text(max_size=40))
def test_whatever_a_tool_says_it_is_one_short_line(name: str, description: str, title: str):
    asked = plain_request(entry(name or "x", description, title))
    assert asked.strip()
    assert "\n" not in asked
    assert len(asked.split()) <= MOST_WORDS + len("I need help with _ of it".split())
