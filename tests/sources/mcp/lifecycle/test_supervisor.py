"""The last look before a call. The rest of a server's life is in test_source."""

import pytest

from tests.plan import amount
from tests.sources.mcp.faking import fake
from toolcrib.model import Call
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop
from toolcrib.sources.mcp.lifecycle.supervisor import ServerSupervisor
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, ServerListing
from toolcrib.sources.mcp.outcome import StartFailed
from toolcrib.sources.mcp.trust import ServerTrust
from toolcrib.store import Decisions, ListingFiles


def listing(description: str) -> ServerListing:
    return ServerListing(({"name": "echo", "description": description},))


@pytest.fixture
def supervisor_of(tmp_path):
    decisions = Decisions(tmp_path / "decisions.db", bytes(32))
    loop = ServerLoop()

    def make(**config):
        server = fake(**config)
        memory = ServerMemory(
            "fake",
            "h",
            MCPToolsCache(ListingFiles(tmp_path / "mcp")),
            ServerTrust(server, decisions, ServerIdentity("h")),
        )
        memory.keep(ServerIntroduction(ServerFacts("2025-11-25"), listing("first")), 0.1)
        return ServerSupervisor(server, memory, loop)

    yield make
    loop.stop_all()
    decisions.close()


def refused(supervisor: ServerSupervisor, pin: str) -> str:
    try:
        supervisor.memory.check(Call("echo", pin=pin))
    except StartFailed as error:
        return error.code
    return ""


def pin_of(supervisor: ServerSupervisor) -> str:
    return supervisor.memory.judge().tools["echo"].pin


@pytest.mark.plan(38)
@pytest.mark.parametrize("trust", ["pinned", "open"])
def test_whatever_was_swapped_since_it_was_shown_is_not_called(supervisor_of, trust):
    supervisor = supervisor_of(trust=trust)
    for turn in range(amount(38, "swaps")):
        shown = pin_of(supervisor)
        assert refused(supervisor, shown) == (
            "definition_changed" if turn and trust == "pinned" else ""
        )
        assert supervisor.memory.keep_listing(listing(f"swap {turn}"))
        assert refused(supervisor, shown) == "definition_changed"
    assert refused(supervisor, "") == ("definition_changed" if trust == "pinned" else "")


def test_what_goes_back_to_what_was_approved_may_be_called(supervisor_of):
    supervisor = supervisor_of()
    shown = pin_of(supervisor)
    supervisor.memory.keep_listing(listing("other"))
    supervisor.memory.keep_listing(listing("first"))
    assert refused(supervisor, shown) == ""


def test_what_is_gone_is_told_so(supervisor_of):
    supervisor = supervisor_of()
    supervisor.memory.keep_listing(ServerListing(()))
    assert refused(supervisor, "") == "unknown_tool"
