"""A crib that follows its shared store: what failed is done again, and what was done is noted."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.gateway.tenancy import SERVER
from tests.postgres import KEY
from toolcrib import Crib, Settings
from toolcrib.crib import inventory_of
from toolcrib.crib.follower import FollowedTenant
from toolcrib.crib.inventory import Inventory
from toolcrib.errors import SourceError, StoreAway
from toolcrib.gateway.keys import Keys
from toolcrib.settings import EmbedSettings
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, ServerListing
from toolcrib.store import ReplicaStores
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)


class Replica:
    """A crib with one server, that looks at its shared store when the test says so."""

    def __init__(self, crib: Crib, others: PostgresStores) -> None:
        follower, stores = crib._stages.parts.follower, crib._stages.stores
        assert follower
        assert crib._stages._followed
        assert isinstance(stores, ReplicaStores)
        follower.leave(crib._stages._followed)
        self.crib, self.stores, self.others = crib, stores, others
        self.inventory = inventory_of(crib)
        self.followed = FollowedTenant(stores, self.inventory, stores.catch_up().generation)

    def list_elsewhere(self, *names: str) -> int:
        """Another replica lists the server; the generation after that."""
        source = self.inventory.servers["shop"]
        cache = MCPToolsCache(self.others.listings)
        memory = ServerMemory("shop", source.listing_key.config_hash, cache, source.trust)
        tools = tuple({"name": name, "inputSchema": {"type": "object"}} for name in names)
        memory.keep(ServerIntroduction(ServerFacts("2025-11-25"), ServerListing(tools)), 0.1)
        return self.others.feed.changes(0).generation

    def put_servers(self, *, disabled: bool) -> int:
        """Somebody elsewhere writes the servers; the generation after that."""
        entry = {"command": sys.executable, "args": ["-S", str(SERVER), "acme"], "trust": "open"}
        servers = {"mcpServers": {"desk": {**entry, "disabled": disabled}}}
        before = self.others.documents.document("servers.json")
        over = before.version if before else None
        self.others.documents.put_document("servers.json", json.dumps(servers).encode(), over)
        return self.others.feed.changes(0).generation

    def call(self) -> str:
        """Call a tool of the server that is written elsewhere; the code of the error."""
        outcome = asyncio.run(self.crib.call("mcp_desk_look_up"))
        return outcome.error.code if outcome.error else ""

    def look(self, generation: int) -> set[str]:
        """Take in what has changed; the names that are there then."""
        self.followed.look(time.monotonic(), generation)
        return {*self.inventory.entries()}


@pytest.fixture
def replica(
    new_address: DatabaseAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Replica]:
    monkeypatch.setenv("KEY_OF_ALL", KEY.hex())
    settings = Settings(
        store=new_address.text,
        install_key_env="KEY_OF_ALL",
        builtin_tools=False,
        embed=EmbedSettings(embedder="none"),
    ).read_from(None)
    with (
        closing(SharedDatabase(Database(new_address))) as shared,
        Crib.from_settings(settings) as crib,
    ):
        crib.add_mcp("shop", command="shop", trust="open")
        places = TenantPlaces(settings.tenant, tmp_path / "other", KEY, None)
        yield Replica(crib, PostgresStores(shared, places))


def test_what_another_replica_lists_is_there_and_noted(replica: Replica):
    first = replica.list_elsewhere("a")
    assert replica.look(first) == {"mcp_shop_a"}
    assert replica.followed.generation == first
    second = replica.list_elsewhere("a", "b")
    assert replica.look(second) == {"mcp_shop_a", "mcp_shop_b"}
    assert replica.followed.generation == second


def test_what_could_not_be_listed_is_listed_at_the_next_look(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
):
    before = replica.followed.generation
    now = replica.list_elsewhere("a")
    with monkeypatch.context() as broken:
        broken.setattr(Inventory, "relist", _out_of_memory)
        with pytest.raises(MemoryError):
            replica.look(now)
    assert replica.followed.generation == before, "the pool has not got it"
    assert replica.look(now) == {"mcp_shop_a"}
    assert replica.followed.generation == now


def _out_of_memory(_inventory: Inventory, _source: object) -> None:
    raise MemoryError


def test_a_server_that_cannot_be_listed_keeps_no_other_change_back(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
):
    now = replica.list_elsewhere("a")
    monkeypatch.setattr(Inventory, "relist", _refuse)
    assert replica.look(now) == set()
    assert replica.followed.generation == now
    assert "it cannot be read" in replica.inventory.problems


def _refuse(_inventory: Inventory, _source: object) -> None:
    raise SourceError("it cannot be read")


def test_who_is_left_takes_in_nothing(replica: Replica):
    replica.followed.leave()
    assert replica.look(replica.list_elsewhere("a")) == set()


def test_a_server_that_was_disabled_during_a_cut_is_never_called_again(replica: Replica):
    replica.look(replica.put_servers(disabled=False))
    asyncio.run(replica.crib.refresh("desk"))
    assert replica.call() == ""
    now = replica.put_servers(disabled=True)
    replica.stores._freshness._confirmed = None  # the cut was longer than `stale_s`
    assert replica.call() == "store_away"
    replica.look(now)
    replica.stores.decisions.check_current()
    assert replica.call() == "disabled"


def test_nothing_is_current_before_all_changes_hold(
    replica: Replica, monkeypatch: pytest.MonkeyPatch
):
    replica.look(replica.put_servers(disabled=False))
    told = Keys(replica.others.keys).add("ann")
    assert Keys(replica.stores.keys).good(told)
    assert replica.others.keys.remove("ann")
    now = replica.put_servers(disabled=True)
    replica.stores._freshness._confirmed = None
    take, seen = Inventory.take, list[str]()

    def watched(inventory: Inventory, settings: Settings) -> None:
        with pytest.raises(StoreAway):
            replica.stores.decisions.check_current()
        assert not Keys(replica.stores.keys).good(told), "its key is revoked before"
        take(inventory, settings)
        seen.append("taken")

    monkeypatch.setattr(Inventory, "take", watched)
    replica.look(now)
    assert seen == ["taken"]
    replica.stores.decisions.check_current()
