"""What a server has beside tools: listed, remembered, read."""

import asyncio
import hashlib
import json

import pytest

from tests.sources.mcp.conftest import acall, call
from tests.sources.mcp.faking import error, fake, text
from tests.waiting import HANG_S, let_pass, until, until_async
from toolcrib.model import CallContext, Deadline
from toolcrib.sources.mcp.client import list_requests
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.listing import (
    KnownServer,
    ServerFacts,
    ServerListing,
    client_capabilities,
)
from toolcrib.sources.mcp.offers import read_offers
from toolcrib.store import ListingFiles, ListingKey

BACKS = ("", "modern")


def soon():
    return CallContext(Deadline(HANG_S))


def keys(source, kind):
    return [each.key for each in source.offers.listed(kind)]


@pytest.mark.parametrize("back", BACKS)
def test_they_are_known_while_the_server_sleeps_and_read_from_it(shop, back):
    source = shop.listed(fake("offers", back))
    assert source.status().state == "asleep"
    assert keys(source, "resources") == ["fake://a", "fake://shared"]
    assert keys(source, "templates") == ["fake://item/{id}"]
    assert keys(source, "prompts") == ["greet"]
    read = asyncio.run(source.offers.read("fake://a", soon()))
    assert read.content["contents"][0]["uri"] == "fake://a"
    got = asyncio.run(source.offers.prompt("greet", {"who": "Ann"}, soon()))
    assert got.content["messages"][0]["content"]["text"] == "Hello, Ann!"
    assert source.status().state == "ready"


def test_a_server_that_does_not_say_that_it_has_any_is_not_asked(shop):
    source = shop.listed(fake())
    assert keys(source, "resources") == keys(source, "prompts") == []


def test_one_that_never_lists_them_lists_its_tools(shop, monkeypatch):
    monkeypatch.setattr(list_requests, "OFFERS_S", 0.2)
    source = shop.listed(fake("offers", "hang-offers"))
    assert keys(source, "resources") == []
    assert len(source.capabilities()) > 3


def test_what_cannot_be_listed_this_time_stays_as_it_was(shop):
    source = shop.listed(fake("offers"))
    memory = source._memory
    assert not memory.keep_listing(ServerListing(memory.known.listing.tools, offers={}))
    assert memory.keep_listing(ServerListing(memory.known.listing.tools, offers={"prompts": ()}))
    assert keys(source, "prompts") == []
    assert keys(source, "resources") == ["fake://a", "fake://shared"]


def test_nothing_is_shown_or_read_of_a_server_that_nobody_trusts(shop):
    source = shop.listed(fake("offers", trust="strict"))
    assert keys(source, "resources") == keys(source, "prompts") == []
    failed = error(asyncio.run(source.offers.read("fake://a", soon())))
    assert (failed.code, failed.effect) == ("unreviewed", "not_sent")
    assert "toolcrib review fake" in failed.message


def test_what_the_server_refuses_keeps_its_code(shop):
    source = shop.listed(fake("offers"))
    failed = asyncio.run(source.offers.read("fake://gone", soon()))
    assert error(failed).code == "server_error"
    assert failed.meta == {"code": -32002}


def test_every_server_is_told_the_same_of_us_and_that_is_remembered(shop):
    source = shop.listed(fake("asks"))
    heard = json.loads(text(asyncio.run(acall(source, "heard"))))
    assert heard[0] == client_capabilities(source.config) == source._memory.known.declared


def test_what_was_remembered_before_there_were_any_still_reads(tmp_path):
    files = ListingFiles(tmp_path)
    cache = MCPToolsCache(files)
    known = KnownServer("s", "h", ServerFacts("2025-11-25"), ServerListing(({"name": "t"},)), 1.0)
    cache.write(known)
    path = files.path(ListingKey("s", "h"))
    file = json.loads(path.read_text())
    assert file["entry"]["listing"].pop("offers") == {}
    entry = json.dumps({**file["entry"], "fetched": 1.0, "start_s": 0.0})
    checksum = hashlib.sha256(entry.encode()).hexdigest()
    path.write_text(f'{{"checksum":"{checksum}","entry":{entry}}}\n')
    assert cache.read("s", "h").known == known


def test_of_each_there_is_one_with_a_usable_key_and_nothing_hidden_in_it():
    listed = [
        {"uri": "a://1", "name": "one\u200b"},
        {"uri": "a://1", "name": "again"},
        {"uri": "a://\u200b2"},
        {"uri": "x" * 5000},
        {"uri": 7},
        {},
    ]
    (only,) = read_offers("resources", listed)
    assert (only.key, only.raw) == ("a://1", {"uri": "a://1", "name": "one"})


@pytest.mark.parametrize("back", BACKS)
def test_whoever_watches_a_resource_hears_of_it_and_keeps_the_server_up(shop, back):
    source = shop.listed(fake("offers", back, idle_timeout_s=0.3))
    heard = []

    def hear():
        heard.append(1)

    watched = asyncio.run(source.offers.watch("fake://a", hear, soon()))
    assert watched.ok, watched
    let_pass(0.6)
    assert source.status().state == "ready"
    call(source, "touch", uri="fake://a")
    call(source, "touch", uri="fake://shared")
    source.offers.unwatch("fake://a", hear)
    until(lambda: source.status().state == "asleep")
    assert heard == [1]
    assert text(call(source, "touch", uri="fake://a")) == "[]"


def test_a_server_that_starts_anew_is_told_what_is_watched(shop):
    source = shop.listed(fake("offers"))
    heard = []

    async def test():
        await source.offers.watch("fake://a", lambda: heard.append(1), soon())
        await acall(source, "crash")

        async def touched():
            await acall(source, "touch", uri="fake://a")
            return heard

        await until_async(touched)

    asyncio.run(test())
