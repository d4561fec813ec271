import asyncio
from typing import Any

from toolcrib.gateway.call_channel import MOST_WAITING, ProgressRelay
from toolcrib.gateway.tool_results import error_result, outcome_result
from toolcrib.model import CallError, Outcome, Page


def text_of(result: dict[str, Any]) -> str:
    return result["content"][0]["text"]


def test_a_value_is_text_and_an_object_is_structured_too():
    assert outcome_result(Outcome("a"), modern=False) == {
        "content": [{"type": "text", "text": "a"}]
    }
    shown = outcome_result(Outcome({"a": "ü"}), modern=False)
    assert (text_of(shown), shown["structuredContent"]) == ('{"a": "ü"}', {"a": "ü"})
    assert text_of(outcome_result(Outcome([1, 2]), modern=False)) == "[1, 2]"
    assert text_of(outcome_result(Outcome(None), modern=False)) == "null"


def test_structured_content_that_is_no_object_is_for_the_modern_era():
    outcome = Outcome([{"type": "text", "text": "[1]"}], [1], blocks=True)
    assert "structuredContent" not in outcome_result(outcome, modern=False)
    assert outcome_result(outcome, modern=True)["structuredContent"] == [1]


def test_an_empty_result_stays_empty():
    assert outcome_result(Outcome([], blocks=True), modern=True)["content"] == []
    assert text_of(outcome_result(Outcome([]), modern=True)) == "[]"


def test_what_was_put_right_and_the_page_are_told_beside():
    page = Page(2, 3, "1 KB of text")
    outcome = Outcome("abc", handle="h", repaired=("$: read",), meta={"m": 1}, page=page)
    shown = outcome_result(outcome, modern=True)
    assert shown["_meta"] == {
        "m": 1,
        "toolcrib/handle": "h",
        "toolcrib/page": 2,
        "toolcrib/pages": 3,
        "toolcrib/repaired": ["$: read"],
    }
    note, text = (block["text"] for block in shown["content"])
    assert text == "abc"
    assert note.startswith("[1 KB of text. Page 2 of 3. Read on:")
    assert 'handle "h", page 3' in note


def test_the_note_of_a_page_says_what_can_be_done():
    def note(outcome: Outcome) -> str:
        return text_of(outcome_result(outcome, modern=True))

    assert "Read on" not in note(Outcome("a", handle="h", page=Page(3, 3, "1 KB of text")))
    assert "and the same find" in note(Outcome("a", handle="h", page=Page(1, 2, "", "x")))
    lost = note(Outcome("a", page=Page(1, 3, "100.0 MB of text")))
    assert "too large to be held" in lost
    assert "tool_result" not in lost


def test_of_a_long_result_structured_content_is_sent_only_if_it_was_promised():
    outcome = Outcome("a", {"content": "abc"}, page=Page(1, 3, ""))
    assert "structuredContent" not in outcome_result(outcome, modern=True)
    promised = outcome_result(outcome, modern=True, promised=True)
    assert promised["structuredContent"] == {"content": "abc"}


def test_an_error_says_what_became_of_the_call():
    def told(effect: Any) -> str:
        return text_of(error_result(CallError("deadline", "call", "late", "git", effect=effect)))

    assert told("not_sent") == "deadline: late\nNothing was sent."
    assert told("failed") == "deadline: late"
    assert "look before you call again" in told("unknown")
    shown = error_result(CallError("deadline", "call", "late", "git", retryable=True))
    assert shown["structuredContent"]["error"] == {
        "code": "deadline",
        "phase": "call",
        "message": "late",
        "effect": "not_sent",
        "retryable": True,
        "server": "git",
    }


def test_progress_is_handed_on_in_order_and_not_after_the_end():
    heard: list[float] = []

    async def report(done: float, _every: float | None, _message: str | None) -> None:
        await asyncio.sleep(0)
        heard.append(done)

    async def run() -> None:
        relay = ProgressRelay(report)
        relay(1, None, "")
        await asyncio.sleep(0)
        relay(2, None, "")
        await relay.end()
        relay(3, None, "")
        await asyncio.sleep(0)

    asyncio.run(run())
    assert heard == [1, 2]


def test_a_client_that_does_not_read_misses_the_oldest_and_one_that_is_gone_costs_nothing():
    heard: list[float] = []

    async def report(done: float, _every: float | None, _message: str | None) -> None:
        heard.append(done)
        raise ConnectionResetError

    async def run() -> None:
        relay = ProgressRelay(report)
        for done in range(MOST_WAITING + 5):
            relay(done, None, "")
        await relay.end()

    asyncio.run(run())
    assert heard == [5]
