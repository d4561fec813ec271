"""Tools that become others: between search and call, while a person is asked, after approval."""

import asyncio
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.defaults import POLICY, rulebook
from tests.execute.counting import ANN, Shop, offered
from tests.plan import amount
from toolcrib.execute import ApprovalRequest, Rule
from toolcrib.model import Call, Outcome, ToolInfo

NAME = "mcp_shop_pay"
FIELDS: dict[str, list[Any]] = {
    "description": ["To pay", "To pay twice"],
    "title": ["", "Pay"],
    "parameters": [{"type": "object"}, {"type": "object", "properties": {"to": {}}}],
    "output_schema": [None, {"type": "object"}],
    "annotations": [{}, {"readOnlyHint": True}, {"destructiveHint": True}],
    "search_hint": ["", "money"],
    "tags": [(), ("money",)],
}
CHANGES = st.sampled_from([(name, value) for name, values in FIELDS.items() for value in values])


def tool_of(shop: Shop) -> ToolInfo:
    tool = shop.pool.entries[NAME].capability
    assert isinstance(tool, ToolInfo)
    return tool


def call(shop: Shop, pin: str = "", **options: Any) -> Outcome:
    return asyncio.run(shop.door.execute(Call(NAME, pin=pin), ANN, **options))


class Approvals(RuleBasedStateMachine):
    """A tool whose definition moves while an operator approves calls of it."""

    def __init__(self) -> None:
        super().__init__()
        self.shop = Shop(offered("pay", "dangerous"))
        self.approved: Counter[str] = Counter()

    @rule(change=CHANGES)
    def change(self, change: tuple[str, Any]) -> None:
        self.shop.change("pay", **dict([change]))

    @rule()
    def approve(self) -> None:
        for ticket in self.shop.door.tickets.waiting():
            assert self.shop.door.tickets.approve(ticket.id)
            self.approved[ticket.request.pin] += 1

    @rule()
    def call(self) -> None:
        """Goes through exactly if this very definition has an approval left."""
        pin, before = tool_of(self.shop).pin, len(self.shop.reached)
        outcome = call(self.shop)
        assert outcome.ok == (self.approved[pin] > 0)
        assert len(self.shop.reached) == before + outcome.ok
        self.approved[pin] -= outcome.ok


Approvals.TestCase.settings = settings(
    max_examples=amount(37, "runs"), stateful_step_count=50, deadline=None
)


@pytest.mark.plan(37)
class TestApprovals(Approvals.TestCase):
    pass


def swapped(shop: Shop, chance: random.Random) -> None:
    """Let one field of the tool be another."""
    tool = tool_of(shop)
    changes = [
        (name, value)
        for name, values in FIELDS.items()
        for value in values
        if getattr(tool, name) != value
    ]
    name, value = chance.choice(changes)
    shop.change("pay", **{name: value})


@pytest.mark.plan(38)
def test_a_tool_that_is_swapped_after_it_was_shown_is_not_called():
    shop, chance = (
        Shop(offered("pay"), policy=replace(POLICY, rulebook=rulebook(Rule("allow")))),
        random.Random(38),
    )
    for _ in range(amount(38, "swaps")):
        shown = tool_of(shop).pin
        swapped(shop, chance)
        error = call(shop, shown).error
        assert error
        assert (error.code, error.effect) == ("definition_changed", "not_sent")
    assert not shop.reached
    assert call(shop, tool_of(shop).pin).ok


@pytest.mark.plan(38)
def test_a_tool_that_is_swapped_while_a_person_is_asked_is_not_called():
    shop, chance = Shop(offered("pay", "dangerous")), random.Random(38)

    async def slow(_request: ApprovalRequest, /) -> bool:
        swapped(shop, chance)
        return True

    for _ in range(amount(38, "swaps")):
        error = call(shop, approver=slow).error
        assert error
        assert error.code == "definition_changed"
    assert not shop.reached


@pytest.mark.plan(38)
def test_a_tool_that_is_gone_while_a_person_is_asked_is_not_called():
    shop = Shop(offered("pay", "dangerous"))

    async def slow(_request: ApprovalRequest, /) -> bool:
        shop.source.tools.clear()
        shop.pool.refresh(shop.source)
        return True

    error = call(shop, approver=slow).error
    assert error
    assert error.code == "definition_changed"
    assert not shop.reached


def test_the_fields_are_those_of_a_tool():
    assert all(replace(offered(), **{name: values[0]}) for name, values in FIELDS.items())
