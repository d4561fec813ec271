"""Clients of other people search, call and get the result, in both eras and by every way in."""

import pytest

from tests.e2e.gateway.conftest import SEARCH, Twelve
from tests.e2e.gateway.visits import ERAS, VISITORS, Called, Door, by_python

FIXED = ["tool_search", "tool_describe", "tool_call_read", "tool_call", "tool_result"]


def door(twelve: Twelve, way: str) -> Door:
    """The door that a client is shown."""
    match way:
        case "connect":
            return twelve.gateway.connect("--profile", SEARCH)
        case "http":
            return twelve.gateway.http(SEARCH)
        case _:
            return twelve.gateway.stdio("--profile", SEARCH)


def run_errand(visitor: str, era: str, door: Door, twelve: Twelve) -> None:
    errand = twelve.errands[0]
    search = Called("tool_search", {"queries": [errand.query]})
    call = Called("tool_call", {"name": errand.tool, "arguments": errand.arguments})
    visit = VISITORS[visitor](door, era, [search, call])
    assert visit.tools == FIXED
    assert visit.version in {"", era}
    found, said = visit.texts
    assert errand.tool in found
    assert errand.words in said


@pytest.mark.plan(63)
@pytest.mark.clients
@pytest.mark.parametrize("way", ["connect", "http"])
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("visitor", VISITORS)
def test_search_and_call(visitor: str, era: str, way: str, twelve: Twelve):
    run_errand(visitor, era, door(twelve, way), twelve)


@pytest.mark.parametrize("era", ERAS)
def test_a_process_of_its_own_serves_alike(era: str, twelve: Twelve):
    run_errand("python", era, door(twelve, "stdio"), twelve)


@pytest.mark.parametrize("way", ["connect", "http", "stdio"])
def test_every_real_server_is_found_and_called(way: str, twelve: Twelve):
    calls: list[Called] = []
    for errand in twelve.errands:
        calls += [
            Called("tool_search", {"queries": [errand.query]}),
            Called("tool_call", {"name": errand.tool, "arguments": errand.arguments}),
        ]
    said = iter(by_python(door(twelve, way), ERAS[0], calls).texts)
    for errand in twelve.errands:
        assert errand.tool in next(said), errand.query
        assert errand.words in next(said), errand.tool
