"""The last look before a call. The rest of a server's life is in test_source."""

import pytest

from tests.plan import amount
from tests.sources.mcp.faking import fake
from toolcrib.model import Call
from toolcrib.sources.mcp.cache import MCPToolsCache
from toolcrib.sources.mcp.engine_room import EngineRoom
from toolcrib.sources.mcp.keeper import Keeper
from toolcrib.sources.mcp.known import Greeting, Listing, ServerFacts
from toolcrib.sources.mcp.memory import Memory
from toolcrib.sources.mcp.start import StartFailed
from toolcrib.sources.mcp.trust import Identity, Trust
from toolcrib.store import Decisions


def listing(description: str) -> Listing:
    return Listing(({"name": "echo", "description": description},))


@pytest.fixture
def keeper_of(tmp_path):
    decisions = Decisions(tmp_path / "decisions.db", bytes(32))
    room = EngineRoom()

    def make(**config):
        server = fake(**config)
        memory = Memory(
            "fake", "h", MCPToolsCache(tmp_path / "mcp"), Trust(server, decisions, Identity("h"))
        )
        memory.keep(Greeting(ServerFacts("2025-11-25"), listing("first")), 0.1)
        return Keeper(server, memory, room)

    yield make
    room.close()
    decisions.close()


def refused(keeper: Keeper, pin: str) -> str:
    try:
        keeper.memory.check(Call("echo", pin=pin))
    except StartFailed as error:
        return error.code
    return ""


def pin_of(keeper: Keeper) -> str:
    return keeper.memory.judgement.tools["echo"].pin


@pytest.mark.plan(38)
@pytest.mark.parametrize("trust", ["pinned", "open"])
def test_whatever_was_swapped_since_it_was_shown_is_not_called(keeper_of, trust):
    keeper = keeper_of(trust=trust)
    for turn in range(amount(38, "swaps")):
        shown = pin_of(keeper)
        assert refused(keeper, shown) == (
            "definition_changed" if turn and trust == "pinned" else ""
        )
        assert keeper.memory.keep_listing(listing(f"swap {turn}"))
        assert refused(keeper, shown) == "definition_changed"
    assert refused(keeper, "") == ("definition_changed" if trust == "pinned" else "")


def test_what_goes_back_to_what_was_approved_may_be_called(keeper_of):
    keeper = keeper_of()
    shown = pin_of(keeper)
    keeper.memory.keep_listing(listing("other"))
    keeper.memory.keep_listing(listing("first"))
    assert refused(keeper, shown) == ""


def test_what_is_gone_is_told_so(keeper_of):
    keeper = keeper_of()
    keeper.memory.keep_listing(Listing(()))
    assert refused(keeper, "") == "unknown_tool"
