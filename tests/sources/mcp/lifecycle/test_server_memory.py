from dataclasses import replace

import pytest

from toolcrib.sources.mcp import ServerCommand, ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, ServerListing
from toolcrib.sources.mcp.outcome import StartFailure
from toolcrib.sources.mcp.trust import ServerTrust
from toolcrib.store import ListingFiles

WHOLE = ServerListing(({"name": "a"}, {"name": "b"}, {"x": 1}))
CUT = ServerListing(({"name": "c"},), complete=False)
HELLO = ServerIntroduction(ServerFacts("2025-11-25"), WHOLE)


def memory_of(server, config_hash, cache):
    config = ServerConfig(server, ServerCommand("x"), trust="open")
    identity = ServerIdentity(config_hash)
    trust = ServerTrust(config, None, identity)  # type: ignore[arg-type] - nobody asks
    return ServerMemory(server, config_hash, cache, trust)


def names(memory):
    return set(memory.judge().tools)


@pytest.fixture
def cache(tmp_path):
    return MCPToolsCache(ListingFiles(tmp_path))


def test_nothing_is_known_at_first(cache):
    memory = memory_of("git", "h", cache)
    assert (memory.known, memory.facts, names(memory)) == (None, None, set())
    assert not memory.keep_listing(WHOLE)


def test_what_is_kept_is_there_the_next_time(cache):
    memory_of("git", "h", cache).keep(HELLO, 0.5)
    memory = memory_of("git", "h", cache)
    assert memory.known is not None
    assert (memory.known.listing, memory.known.start_s) == (WHOLE, 0.5)
    assert memory.facts == HELLO.facts
    assert names(memory) == {"a", "b"}


def test_a_listing_is_news_only_if_it_is_another(cache):
    memory = memory_of("git", "h", cache)
    memory.keep(HELLO, 0.5)
    assert not memory.keep_listing(WHOLE)
    assert memory.keep_listing(ServerListing(({"name": "z"},)))
    assert names(memory_of("git", "h", cache)) == {"z"}


def test_of_what_another_process_has_listed_only_what_is_new_is_another_object(cache):
    """So only that is judged, defined and indexed again."""
    memory, other = memory_of("git", "h", cache), memory_of("git", "h", cache)
    memory.keep(HELLO, 0.5)
    before = memory.known
    assert before
    other.keep_listing(ServerListing(({"name": "a"}, {"name": "b", "title": "B"}, {"name": "c"})))
    memory.reread()
    assert memory.look().changed_names() == {"b", "c"}
    now = memory.known
    assert now
    assert now.listing.named.tools["a"] is before.listing.named.tools["a"]


def test_a_listing_that_is_known_is_not_read_again(cache, monkeypatch):
    memory = memory_of("git", "h", cache)
    memory.keep(HELLO, 0.5)
    monkeypatch.setattr(cache, "read", None)
    memory.reread()
    assert names(memory) == {"a", "b"}


def test_a_list_that_was_cut_replaces_none_that_was_whole(cache):
    memory = memory_of("git", "h", cache)
    memory.keep(replace(HELLO, listing=CUT), 0.5)
    assert names(memory) == {"c"}
    memory.keep(HELLO, 0.5)
    memory.keep(replace(HELLO, listing=CUT), 0.5)
    assert names(memory) == {"a", "b"}
    assert "without end" in memory.problem


def test_a_failure_is_kept_until_all_is_well(cache):
    failure = StartFailure("start_failed", "no", 1.0)
    memory_of("git", "h", cache).note(failure)
    memory = memory_of("git", "h", cache)
    assert memory.failure == failure
    memory.note(None)
    assert memory_of("git", "h", cache).failure is None


def test_a_folder_that_cannot_be_written_is_a_problem_and_no_loss(tmp_path):
    (tmp_path / "file").write_text("")
    memory = memory_of("git", "h", MCPToolsCache(ListingFiles(tmp_path / "file" / "mcp")))
    memory.keep(HELLO, 0.5)
    assert names(memory) == {"a", "b"}
    assert "cannot be written" in memory.problem
