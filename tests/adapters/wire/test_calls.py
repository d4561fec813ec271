"""The calls of one reply: at once, and in the model's order."""

import asyncio

import pytest

from tests.adapters.weather import FORECAST, NOW, weather_crib
from tests.waiting import HANG_S
from toolcrib import Crib
from toolcrib.adapters.wire.calls import ToolCall, make_calls
from toolcrib.model import Outcome

FIND = ToolCall("1", "tool_search", {"query": "weather forecast"})
OSLO = ToolCall("2", FORECAST, {"city": "Oslo"})


@pytest.fixture(scope="module")
def crib() -> Crib:
    return weather_crib()[0]


def codes(outcomes: list[Outcome]) -> list[str]:
    return [outcome.error.code if outcome.error else "" for outcome in outcomes]


def test_a_call_after_a_search_finds_revealed_what_it_found(crib: Crib):
    assert codes(asyncio.run(make_calls(crib.session(), [FIND, OSLO], None))) == ["", ""]


def test_a_call_before_a_search_does_not(crib: Crib):
    outcomes = asyncio.run(make_calls(crib.session(), [OSLO, FIND, OSLO], None))
    assert codes(outcomes) == ["not_revealed", "", ""]


def test_calls_run_at_once():
    crib, meeting = Crib(), asyncio.Barrier(2)

    async def meet(place: int) -> int:
        """Wait for the other one."""
        await meeting.wait()
        return place

    crib.add(meet, permission_kind="read")
    calls = [ToolCall(str(place), "meet", {"place": place}) for place in range(2)]

    async def both() -> list[Outcome]:
        return await asyncio.wait_for(make_calls(crib.session(), calls, None), HANG_S)

    assert [outcome.content for outcome in asyncio.run(both())] == [0, 1]


def test_who_stops_waiting_stops_the_calls():
    crib, begun, ended = Crib(), asyncio.Event(), asyncio.Event()

    async def wait_long() -> str:
        """Wait for a long time."""
        begun.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()
        return "never"

    crib.add(wait_long, permission_kind="read")

    async def give_up() -> None:
        calls = [ToolCall("1", "wait_long", {}), ToolCall("2", NOW, {})]
        making = asyncio.create_task(make_calls(crib.session(), calls, None))
        await asyncio.wait_for(begun.wait(), HANG_S)
        making.cancel()
        await asyncio.wait_for(ended.wait(), HANG_S)

    asyncio.run(give_up())
