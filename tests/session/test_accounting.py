"""Figures add up, and say how they were obtained."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.deck import PINNED, crib_of, plenty
from toolcrib.model import JsonObject
from toolcrib.session import Prices, TokenEstimate
from toolcrib.session.accounting import break_even
from toolcrib.text import tool_definition
from toolcrib.text.tokens import EstimatingCounter, Tokenizer

SCHEMA: JsonObject = {"type": "object", "properties": {"angle": {"type": "number", "minimum": 0}}}
RICH = tuple(replace(tool, parameters=SCHEMA) for tool in plenty())


class Counting(EstimatingCounter):
    """Notes what it was asked to count."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def count(self, text: str) -> int:
        self.seen[text] += 1
        return super().count(text)


def test_a_definition_is_counted_once():
    counting = Counting()
    prices = Prices(lambda: counting)
    tools = crib_of(plenty()).session().deferred_tools()
    assert (
        prices.of(tools)
        == prices.of(tools)
        == sum(map(counting.count, map(tool_definition, tools)))
    )
    assert set(counting.seen.values()) == {2}


def test_without_a_pin_nothing_is_remembered():
    counting = Counting()
    prices = Prices(lambda: counting)
    prices.of([PINNED])
    prices.of([PINNED])
    assert set(counting.seen.values()) == {2}


def test_the_figures_of_a_session():
    crib = crib_of((*plenty(), PINNED))
    session = crib.session()
    before = session.token_estimate()
    count = Tokenizer().count
    assert before.how == "counted with o200k_base"
    assert before.tools == 31
    assert before.eager == sum(
        count(tool_definition(tool)) for tool in (*session.core_tools(), *session.deferred_tools())
    )
    assert before.deferred == sum(map(count, map(tool_definition, session.active_tools()))) + sum(
        map(count, (session.system_note(), session.deferred_summary()))
    )
    assert before.saved == before.eager - before.deferred
    session.search("select:turn_gear_3,turn_gear_4")
    after = session.token_estimate()
    assert after.revealed == sum(map(count, map(tool_definition, session.revealed_tools()))) > 0
    assert after.saved == before.saved - after.revealed
    assert after.share == pytest.approx(after.saved / after.eager)


def test_each_source_has_its_figures():
    estimate = crib_of((*plenty(80), PINNED)).session().token_estimate()
    assert [each.tools for each in estimate.sources] == [*[2] * 40, 1]
    costs = [each.eager for each in estimate.sources]
    assert costs == sorted(costs, reverse=True)
    assert sum(costs) == estimate.eager
    [builtin] = [each for each in estimate.sources if each.source == "builtin"]
    assert builtin.core == builtin.eager > 0


def test_nothing_deferred_saves_nothing():
    estimate = crib_of(plenty(3)).session().token_estimate()
    assert (estimate.deferred, estimate.saved, estimate.break_even) == (estimate.eager, 0, 0)
    assert TokenEstimate(0, 0, 0, 0, 0, "estimated").share == 0


def test_the_stubs_are_counted():
    hidden, stub = (
        crib_of(RICH, style=style).session().token_estimate() for style in ("hidden", "stub")
    )
    assert hidden.deferred < stub.deferred
    session = crib_of(RICH, style="stub").session()
    listed = sum(Tokenizer().count(tool_definition(tool)) for tool in session.active_tools())
    assert stub.deferred == listed + Tokenizer().count(session.system_note())


def test_the_index_is_counted():
    session = crib_of(RICH, style="index").session()
    listed = sum(Tokenizer().count(tool_definition(tool)) for tool in session.active_tools())
    told = Tokenizer().count(session.system_note()) + Tokenizer().count(session.deferred_summary())
    assert session.token_estimate().deferred == listed + told


@given(st.integers(1, 100), st.integers(1, 500), st.integers(0, 5_000), st.booleans())
def test_from_the_break_even_on_eager_is_cheaper(tools: int, each: int, extra: int, stub: bool):
    eager, stubs = tools * each, tools * (each // 2) if stub else 0
    reveals = break_even(eager, extra + stubs, stubs, tools)
    reveal = (eager - stubs) / tools
    assert extra + stubs + reveals * reveal >= eager
    assert not reveals or extra + stubs + (reveals - 1) * reveal <= eager
