"""What was decided about a tool is asked once a call, and is never an answer from before."""

import asyncio
import sys
from collections.abc import Iterator

import pytest

from tests.sources.mcp.faking import FAKE, nothing_left, text
from toolcrib import Crib, Settings
from toolcrib.crib import inventory_of
from toolcrib.model import Outcome
from toolcrib.review import Desk
from toolcrib.store import Decisions


@pytest.fixture
def crib() -> Iterator[Crib]:
    with nothing_left(), Crib(Settings(store=":memory:")) as crib:
        crib.add_mcp("fake", command=[sys.executable, "-S", str(FAKE)], permission={"*": "read"})
        asyncio.run(crib.refresh())
        yield crib


@pytest.fixture
def questions(crib: Crib, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one with each question to the file of decisions."""
    asked: list[object] = []
    mark = Decisions.mark

    def counting(self: Decisions, source: str) -> str:
        asked.append(self)
        return mark(self, source)

    monkeypatch.setattr(Decisions, "mark", counting)
    return asked


def echo(crib: Crib) -> Outcome:
    return asyncio.run(crib.call("echo", {"text": "hi"}))


def test_a_call_asks_once(crib: Crib, questions: list[object]):
    assert text(echo(crib)) == "hi"
    questions.clear()
    assert text(echo(crib)) == "hi"
    assert len(questions) == 1


def test_a_list_of_all_tools_asks_once(crib: Crib, questions: list[object]):
    source = inventory_of(crib).servers["fake"]
    inventory_of(crib).pool.refresh(source)
    assert len(crib.entries()) == 12
    assert len(questions) == 1


def test_a_decision_between_two_calls_is_seen_by_the_next(crib: Crib):
    assert text(echo(crib)) == "hi"
    source = inventory_of(crib).servers["fake"]
    desk = Desk([source], source.trust._decisions)
    (item,) = [each for each in desk.every() if each.tool == "echo"]
    desk.reject(item)
    error = echo(crib).error
    assert error
    assert (error.code, error.effect) == ("unknown_tool", "not_sent")
    desk.approve(item)
    assert text(echo(crib)) == "hi"
