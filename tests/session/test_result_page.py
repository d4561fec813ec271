"""Long results in a session: what the model reads, and how it reads on."""

import asyncio

import pytest

from toolcrib import Caller, Crib, Settings
from toolcrib.model import Outcome, Page
from toolcrib.session import Session, begins_with_page_note, page_note
from toolcrib.session.result_page import read_page_request
from toolcrib.settings import CallSettings

LONG = "".join(f"line {n}\n" for n in range(1, 1_001))


def read_book() -> str:
    """Read the whole book."""
    return LONG


def book_crib(mode: str) -> Crib:
    crib = Crib(Settings(store=":memory:", tool_search=mode, call=CallSettings(page_tokens=1_000)))
    crib.add(read_book, permission_kind="read", defer="always")
    return crib


def called(session: Session, name: str, **arguments: str) -> Outcome:
    return asyncio.run(session.call(name, dict(arguments)))


def names(session: Session) -> list[str]:
    return [tool.name for tool in session.active_tools()]


@pytest.mark.parametrize("mode", ["on", "off"])
def test_a_model_reads_a_long_result_page_by_page_with_the_search_tool(mode: str):
    session = book_crib(mode).session("1")
    session.search("select:read_book")
    first = called(session, "read_book")
    assert "tool_search" in names(session)
    assert first.page
    pages = [
        str(called(session, "tool_search", read=f"result:{first.handle}/{number}").content)
        for number in range(1, first.page.of + 1)
    ]
    assert (pages[0], "".join(pages)) == (first.content, LONG)
    found = called(session, "tool_search", read=f"result:{first.handle}/find/LINE 77")
    assert "77:line 77\n78-line 78" in str(found.content)


def test_where_nothing_waits_the_search_tool_comes_with_the_first_long_result():
    crib = book_crib("off")
    session = crib.session("1")
    assert names(session) == ["read_book"]
    outcome = called(session, "read_book")
    assert names(session) == names(crib.session("1")) == ["read_book", "tool_search"]
    derived = crib.session()
    derived.see(["tool_search"])
    assert names(derived) == ["read_book", "tool_search"]
    assert begins_with_page_note(page_note(outcome))
    session.compacted(["read_book"])
    assert names(session) == ["read_book"]


def test_a_program_can_have_it_whole_and_nobody_has_anothers():
    crib = book_crib("off")
    whole = asyncio.run(crib.session("1").call("read_book", paged=False))
    assert (whole.content, whole.handle) == (LONG, "")
    handle = called(crib.session("1"), "read_book").handle
    theirs = called(crib.session("1", caller=Caller("eve")), "tool_search", read=f"result:{handle}")
    assert theirs.error
    assert theirs.error.code == "unknown_handle"


@pytest.mark.parametrize(
    ("read", "asked"),
    [
        ("skill_a/b", None),
        ("result:h", ("h", 1, "")),
        ("result:h/2", ("h", 2, "")),
        ("result:h/two", ("h", 1, "")),
        ("result:h/find/a/b", ("h", 1, "a/b")),
        ("result:h/3/find//a.*b/", ("h", 3, "/a.*b/")),
        ("result:h/find/find/x", ("h", 1, "find/x")),
    ],
)
def test_what_is_asked_for_is_read(read: str, asked: object):
    assert read_page_request(read) == asked


def test_what_the_note_says_can_be_asked_for():
    note = page_note(Outcome("a", handle="h", page=Page(1, 2, "1 match of 'x/y'", "x/y")))
    assert 'Read on: `tool_search` with read "result:h/2/find/x/y".' in note
    assert read_page_request("result:h/2/find/x/y") == ("h", 2, "x/y")
    assert page_note(Outcome("a")) == ""
