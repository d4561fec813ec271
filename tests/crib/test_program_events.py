"""What is told of a program that ran: names and figures, and nothing that it has written."""

import asyncio
from collections.abc import Generator
from dataclasses import replace

import pytest

from tests.execute.counting import ANN, CountingSource
from tests.program.conftest import QUIET, made_shop
from toolcrib import Crib, Settings
from toolcrib.crib import events_of
from toolcrib.model import Event, EventOrigin, Outcome
from toolcrib.store import EventFilter
from toolcrib.wiring import opened_events

SECRET = "tell-nobody"
CALLER = replace(ANN, origin=EventOrigin("claude", "talk"))


@pytest.fixture
def crib(tmp_path_factory: pytest.TempPathFactory) -> Generator[Crib]:
    folder = tmp_path_factory.mktemp("events")
    settings = {**QUIET, "store": str(folder / "catalog.db"), "index": "memory"}
    shop: CountingSource = made_shop()
    shop.answer = lambda _call: Outcome("x" * 500)
    with Crib(Settings(**settings)) as crib:
        crib.add_source(shop)
        crib.add(pay, approval="ask")
        yield crib


def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"


def programs(crib: Crib) -> list[Event]:
    events_of(crib).close()
    with opened_events(crib.settings) as file:
        assert file
        return list(file.after(0, 100, EventFilter(("program",))).values())


def test_a_program_is_one_event_with_its_calls_and_what_came_back(crib: Crib):
    program = (
        f"# {SECRET}\nawait shop.look(at=1)\nawait shop.sell(what='{SECRET}')\n"
        f"await shop.sell(what='b')\n'{SECRET}' * 4"
    )
    asyncio.run(crib.run(f"{SECRET} +", caller=CALLER))
    asyncio.run(crib.run(program, caller=CALLER))
    refused, ran = programs(crib)
    assert (refused.code, refused.facts["calls"]) == ("bad_program", 0)
    assert (ran.code, ran.caller, ran.client, ran.conversation) == ("", "ann", "claude", "talk")
    assert ran.seconds > 0
    assert ran.facts["calls"] == 3
    assert ran.facts["failed"] == 0
    assert ran.facts["tools"] == ["mcp_shop_look", "mcp_shop_sell"]
    assert ran.facts["kept"] == 1500
    tokens = ran.facts["tokens"]
    assert isinstance(tokens, int)
    assert 5 < tokens < 40, "of what came back, not of what stayed"
    assert SECRET not in str(ran)
    assert SECRET not in str(refused)


def test_one_that_waits_and_goes_on_is_two(crib: Crib):
    waits = asyncio.run(crib.run("await tools.pay(to='ann')", caller=CALLER))
    assert waits.error
    crib.operator.tickets.approve(waits.error.ticket)
    assert asyncio.run(crib.resume(waits.suspended, caller=CALLER)).ok
    first, second = programs(crib)
    assert (first.code, first.facts["failed"]) == ("approval_needed", 1)
    assert (second.code, second.facts["failed"]) == ("", 0)
    assert [each.facts["resumed"] for each in (first, second)] == [False, True]


def test_a_name_that_no_tool_has_is_not_told(crib: Crib):
    """It is a word of the program."""
    word = SECRET.replace("-", "_")
    outcome = asyncio.run(crib.run(f"await shop.{word}()  # type: ignore", caller=CALLER))
    assert [call.tool for call in outcome.calls] == [f"shop.{word}"]
    [event] = programs(crib)
    assert (event.facts["calls"], event.facts["tools"]) == (1, [])
    assert word not in str(event)
