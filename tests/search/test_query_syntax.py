from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcrib.search import FreeQuery, SelectQuery, parse_query
from toolcrib.search.query_syntax import (
    LONGEST_QUERY,
    MOST_SELECTED,
    BrowseQuery,
    PatternQuery,
    QueryForm,
    RequiredQuery,
    unwrapped,
)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u3000", "select:", "select: , ,", "SELECT:"])
def test_nothing_asked_is_browsing(text: str):
    assert parse_query(text) == BrowseQuery()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("select:read_file", ("read_file",)),
        ("select:read_file,write_file", ("read_file", "write_file")),
        ("Select : b , a,, b", ("b", "a")),
        ('  select:`read_file`, "write_file".', ("read_file", "write_file")),
        ("select:read file", ("read file",)),
    ],
)
def test_names_to_select_come_in_order_each_once(text: str, names: tuple[str, ...]):
    assert parse_query(text) == SelectQuery(names)


def test_only_so_many_names_can_be_selected():
    form = parse_query("select:" + ",".join(f"n{number}" for number in range(MOST_SELECTED + 5)))
    assert form == SelectQuery(tuple(f"n{number}" for number in range(MOST_SELECTED)))


@pytest.mark.parametrize(
    ("text", "parts", "rest"),
    [
        ("+slack send", ("slack",), "send"),
        ("send +Slack now", ("slack",), "send now"),
        ("+slack", ("slack",), ""),
        ("+slack +send_message it", ("slack", "send_message"), "it"),
        ("+slack +SLACK", ("slack",), ""),
        ("+日历 添加", ("日历",), "添加"),
    ],
)
def test_a_plus_requires_a_word_of_the_name(text: str, parts: tuple[str, ...], rest: str):
    assert parse_query(text) == RequiredQuery(parts, rest)


@pytest.mark.parametrize("text", ["+1 for this", "C++ compiler", "a + b", "1+2", "+", "++x", "+_x"])
def test_other_pluses_are_text(text: str):
    assert parse_query(text) == FreeQuery(text)


def test_slashes_make_a_pattern():
    assert parse_query(" /create.*issue/ ") == PatternQuery("create.*issue")


@pytest.mark.parametrize("text", ["//", "/", "/etc/passwd", "read /etc/", "and/or"])
def test_other_slashes_are_text(text: str):
    assert parse_query(text) == FreeQuery(text)


@pytest.mark.parametrize("text", ["read a file", "读取文件", "selection: all", "write_file", "?"])
def test_the_rest_is_free_text(text: str):
    assert parse_query(f"  {text}\n") == FreeQuery(text)


@given(st.text())
@example("\0")
@example("\ud800")
@example("select:\ud800")
@example("+é\u0301")
def test_whatever_is_asked_has_a_form(text: str):
    assert isinstance(parse_query(text), get_args(QueryForm))


@pytest.mark.parametrize("opening", ["", "select:", "+a ", "/"])
def test_what_is_too_long_is_cut(opening: str):
    cut = (opening + "word " * LONGEST_QUERY)[:LONGEST_QUERY]
    assert parse_query(opening + "word " * LONGEST_QUERY) == parse_query(cut)


@pytest.mark.parametrize(
    "text",
    [
        "write_file",
        '"write_file"',
        "`write_file`",
        "'write_file'.",
        "“write_file”",
        "「write_file」？",
    ],
)
def test_a_name_is_taken_out_of_its_wrapping(text: str):
    assert unwrapped(text) == "write_file"


def test_what_is_only_wrapping_stays():
    assert unwrapped("...") == "..."
    assert unwrapped("") == ""


@given(st.text())
def test_unwrapping_takes_from_the_ends_alone(text: str):
    assert unwrapped(text) in text
    assert bool(unwrapped(text)) == bool(text)
