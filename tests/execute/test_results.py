import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.execute.counting import ANN
from toolcrib.errors import StoreError
from toolcrib.execute import Caller, CallRefused
from toolcrib.execute.results import HELD_S, RECENT_BYTES, RECENT_S, HeldResults, is_json
from toolcrib.model import CallError, Outcome
from toolcrib.store import HandleFile, ResultStore, handle_file
from toolcrib.text import most_tokens

EVE = Caller("eve")
IMAGE: Any = {"type": "image", "mimeType": "image/png", "data": "A" * 1_000}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def paged(results: HeldResults, outcome: Outcome, caller: Caller = ANN) -> Outcome:
    return asyncio.run(results.paged(outcome, caller))


def held(results: HeldResults, text: str = "x" * 50, caller: Caller = ANN) -> str:
    return paged(results, Outcome(text), caller).handle


def refused(ask: Callable[[], Outcome]) -> CallError:
    with pytest.raises(CallRefused) as caught:
        ask()
    return caught.value.error


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("short"),
        Outcome(None),
        Outcome([{"type": "text", "text": "x"}], {"a": 1}, blocks=True),
        Outcome([{"type": "text", "text": "x" * 90}], {"content": "x" * 90}, blocks=True),
        Outcome([IMAGE], blocks=True),
        Outcome(error=CallError("x", "call", "y" * 1_000)),
    ],
)
def test_what_fits_on_a_page_is_given_as_it_is(outcome: Outcome):
    assert paged(HeldResults(30), outcome) is outcome


@given(st.text(st.characters(), min_size=1, max_size=300), st.integers(4, 40))
def test_the_pages_of_a_text_are_the_whole_of_it_and_none_is_too_long(text: str, tokens: int):
    results = HeldResults(tokens)
    first = paged(results, Outcome(text))
    pages = [first]
    while pages[-1].page and pages[-1].page.number < pages[-1].page.of:
        pages.append(results.page(first.handle, ANN, pages[-1].page.number + 1))
    assert "".join(str(page.content) for page in pages) == text
    assert all(most_tokens(str(page.content)) <= tokens for page in pages)


def test_a_page_says_how_large_the_result_is_and_which_lines_it_has():
    results = HeldResults(10)
    first = paged(results, Outcome("12345678\n" * 7))
    assert first.page == (1, 3, "63 bytes of text, 7 lines; lines 1 to 3", "")
    last = results.page(first.handle, ANN, 3)
    assert last.page == (3, 3, "63 bytes of text, 7 lines; line 7", "")


def test_of_a_single_line_a_page_says_which_characters_it_has():
    results = HeldResults(10)
    first = paged(results, Outcome("x" * 50))
    assert first.page
    assert first.page.about == "50 bytes of text, 1 line; characters 1 to 30"
    assert "characters 31 to 50" in str(results.page(first.handle, ANN, 2).page)


def test_text_that_is_structured_content_too_is_paged_once():
    said = "x" * 50
    outcome = Outcome([{"type": "text", "text": said}], {"content": said}, blocks=True)
    first = paged(HeldResults(10), outcome)
    assert (first.content, first.blocks) == ("x" * 30, False)
    assert first.page
    assert first.page.of == 2
    assert first.structured == {"content": said}


def test_images_go_with_the_first_page():
    outcome = Outcome([IMAGE, {"type": "text", "text": "x" * 50}], blocks=True, meta={"a": 1})
    first = paged(HeldResults(10), outcome)
    assert first.content == [{"type": "text", "text": "x" * 30}, IMAGE]
    assert (first.blocks, first.meta) == (True, {"a": 1})


def test_a_handle_is_for_its_caller_and_for_a_while():
    clock = Clock()
    file = HandleFile(Path(":memory:"), clock)
    results = HeldResults(5, lambda: file, clock)
    handle = held(results)
    gone = [
        refused(lambda: results.page(handle, EVE, 1)),
        refused(lambda: results.find(handle, EVE, "x")),
        refused(lambda: results.page("none", ANN, 1)),
        refused(lambda: HeldResults(5).page(handle, ANN, 1)),  # another place
    ]
    assert {error.code for error in gone} == {"unknown_handle"}
    assert "held for ten minutes" in gone[0].message
    clock.now = HELD_S - 1
    assert results.page(handle, ANN, 4).content == "xxxxx"
    clock.now = HELD_S
    assert refused(lambda: results.page(handle, ANN, 1)).code == "unknown_handle"


def test_another_process_has_it_and_no_longer_than_the_store_does():
    clock = Clock()
    file = HandleFile(Path(":memory:"), clock)
    handle = held(HeldResults(5, lambda: file, clock))
    other = HeldResults(5, lambda: file, clock)
    clock.now = HELD_S - 1
    assert other.page(handle, ANN, 4).content == "xxxxx"
    assert refused(lambda: other.page(handle, EVE, 4)).code == "unknown_handle"
    clock.now += RECENT_S
    assert refused(lambda: other.page(handle, ANN, 4)).code == "unknown_handle"


class Away:
    """A store that fails."""

    def __call__(self) -> ResultStore:
        raise StoreError("the disk is full: free some space")


def test_while_the_store_is_away_the_last_results_are_in_memory_and_it_is_said_once(
    caplog: pytest.LogCaptureFixture,
):
    caplog.set_level(logging.WARNING)
    results = HeldResults(5, Away())
    handles = [held(results), held(results)]
    assert all(results.page(handle, ANN, 4).content == "xxxxx" for handle in handles)
    assert [each.getMessage() for each in caplog.records] == [
        "long results are held in memory only: the disk is full: free some space"
    ]
    error = refused(lambda: results.page("other", ANN, 1))
    assert (error.code, "free some space" in error.message) == ("store_away", True)
    first = paged(results, Outcome("x" * (RECENT_BYTES + 1)))
    assert (first.content, first.handle) == ("x" * 15, "")


def test_what_is_in_memory_is_bounded():
    file = HandleFile(Path(":memory:"))
    results = HeldResults(5, lambda: file)
    handles = [held(results, "x" * (RECENT_BYTES // 2)) for _ in range(3)]
    file.close()
    assert results.page(handles[-1], ANN, 2).ok
    assert refused(lambda: results.page(handles[0], ANN, 2)).code == "store_away"


@pytest.mark.parametrize("number", [-1, 0, 5, 10**9])
def test_a_page_that_is_none_is_refused_with_those_there_are(number: int):
    results = HeldResults(5)
    handle = held(results)
    assert "pages 1 to 4" in refused(lambda: results.page(handle, ANN, number)).message


def test_one_that_is_too_large_to_be_held_has_a_first_page_and_no_handle(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(handle_file, "HELD_BYTES", 49)
    first = paged(HeldResults(5), Outcome("x" * 50))
    assert (first.content, first.handle) == ("x" * 15, "")
    assert first.page


def test_lines_are_found_with_their_numbers_and_pages():
    results = HeldResults(40)
    text = "\n".join(f"row {n}: {'even' if n % 2 else 'odd'}" for n in range(40))
    handle = held(results, text)
    found = results.find(handle, ANN, "ROW 30:")
    assert found.content == (
        "(page 4)\n29-row 28: odd\n30-row 29: even\n31:row 30: odd\n32-row 31: even\n33-row 32: odd"
    )
    assert found.page
    assert found.page.about == "1 match of 'ROW 30:' in 489 bytes of text, 40 lines"
    assert "row 30:" in str(results.page(handle, ANN, 4).content)


def test_matches_have_pages_of_their_own():
    results = HeldResults(40)
    handle = held(results, "a match\n" * 40)
    first = results.find(handle, ANN, "/match/")
    assert first.page
    assert (first.page.number, first.page.found, first.handle) == (1, "/match/", handle)
    assert first.page.of > 1
    second = results.find(handle, ANN, "/match/", 2)
    assert second.content != first.content
    assert "the last is" in refused(lambda: results.find(handle, ANN, "/match/", 99)).message
    assert results.find(handle, ANN, "nothing").content == ""


def test_a_pattern_that_cannot_be_used_says_what_to_do():
    results = HeldResults(5)
    handle = held(results)
    error = refused(lambda: results.find(handle, ANN, "/(?=x)/"))
    assert error.code == "bad_arguments"
    assert "without the slashes" in error.message


def test_what_is_no_json_is_known():
    loop: list[Any] = []
    loop.append(loop)
    assert is_json(Outcome({"a": [1]}, {"b": None}))
    assert not is_json(Outcome(object()))  # type: ignore[arg-type]
    assert not is_json(Outcome(loop))
    assert not is_json(Outcome("a", loop))
