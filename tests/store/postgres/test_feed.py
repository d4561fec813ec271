"""A replica hears of every change, whoever writes, and whatever becomes of its connection."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.postgres import KEY, PostgresServer
from tests.store.postgres.proxy import TcpProxy
from tests.waiting import HANG_S, let_pass, until
from toolcrib.store import Decision, KeyHash, StoredKey
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)
from toolcrib.store.source_protocol import Changes, ListingHead, ListingKey, StoredListing

LISTED = StoredListing(ListingHead("1", 1.0, 1.0), b"{}")
LISTENERS = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND query LIKE 'LISTEN%%'"


@pytest.fixture
def shared(database: Database) -> Iterator[SharedDatabase]:
    with closing(SharedDatabase(database)) as shared:
        yield shared


def stores_of(shared: SharedDatabase, folder: Path, tenant: str = "one") -> PostgresStores:
    return PostgresStores(shared, TenantPlaces(tenant, folder / tenant, KEY, None))


@pytest.fixture
def stores(shared: SharedDatabase, tmp_path: Path) -> PostgresStores:
    return stores_of(shared, tmp_path)


def generation_of(stores: PostgresStores) -> int:
    return stores.tenants_feed.generations([stores.tenant]).get(stores.tenant, 0)


def put(stores: PostgresStores, name: str) -> None:
    stores.listings.put_listing(ListingKey(name, "hash"), LISTED)


def name_of(address: DatabaseAddress) -> str:
    return address.text.rpartition("/")[2]


def test_changes_say_what_to_fetch_again(stores: PostgresStores):
    feed, first = stores.feed, ListingKey("a", "hash")
    assert feed.changes(0) == Changes(0)
    put(stores, "a")
    stores.documents.put_document("rules.json", b"{}", None)
    seen = feed.changes(0)
    assert (seen.documents, seen.listings) == (("rules.json",), (first,))
    assert seen.generation == generation_of(stores)
    assert feed.changes(seen.generation) == Changes(seen.generation)
    stores.listings.forget_listing(first)
    removed = feed.changes(seen.generation)
    assert removed.listings == (first,)
    assert stores.listings.listing(first) is None
    stores.keys.add(StoredKey("id", "x", (), (), KeyHash("s", "h"), 1.0, "one"))
    stores.decisions.approve(Decision("mcp:x#1", "a", "approved", "p", "operator", 1.0, "{}"))
    both = feed.changes(removed.generation)
    assert (both.keys, both.decisions, both.listings) == (True, True, ())


def test_what_nobody_follows_makes_no_generation(stores: PostgresStores):
    before = generation_of(stores)
    stores.catalog.add_reveals("ann", "session", ["a"])
    stores.sets.add_to_set("ann", "", {}, "h")
    stores.listings.put_failure(ListingKey("a", "hash"), b"{}")
    assert generation_of(stores) == before


def test_a_change_of_another_tenant_is_none(shared: SharedDatabase, tmp_path: Path):
    one, two = stores_of(shared, tmp_path, "one"), stores_of(shared, tmp_path, "two")
    put(one, "a")
    assert generation_of(two) == 0
    assert two.feed.changes(0).listings == ()


def test_a_writer_that_is_slow_is_not_overtaken(stores: PostgresStores, shared: SharedDatabase):
    """The order of the numbers is that of the commits, so no reader goes past a number."""
    began, go_on = Event(), Event()

    def write_slowly() -> None:
        with stores.documents._tenant.change("documents") as (db, generation):
            began.set()
            go_on.wait()
            sql = "INSERT INTO document (name, content, generation) VALUES ('rules.json', '', %s)"
            db.execute(sql, (generation,))

    slow = Thread(target=write_slowly)
    slow.start()
    began.wait()
    quick = Thread(target=put, args=(stores, "quick"))
    quick.start()
    let_pass()
    first = stores.feed.changes(0)
    assert first.listings == (), "it waits for its turn"
    go_on.set()
    slow.join()
    quick.join()
    second = stores.feed.changes(first.generation)
    assert (second.documents, second.listings) == (("rules.json",), (ListingKey("quick", "hash"),))


def test_numbers_of_a_sequence_would_lose_what_is_committed_late(
    postgres_server: PostgresServer, new_address: DatabaseAddress
):
    """Why the generation is counted in a row: this is the same story with a sequence."""
    name = name_of(new_address)
    postgres_server.execute("CREATE TABLE change (id bigserial, what text)", name)
    postgres_server.execute("GRANT ALL ON change, change_id_seq TO toolcrib", name)
    put_one = "INSERT INTO public.change (what) VALUES (%s)"
    newer = "SELECT id, what FROM change WHERE id > %s ORDER BY id"
    with (
        closing(Database(new_address)) as database,
        database.transaction("one", "durable") as slow,
    ):
        slow.execute(put_one, ("slow",))
        with database.transaction("one", "durable") as quick:
            quick.execute(put_one, ("quick",))
        seen = postgres_server.execute(newer, name, 0)
    later = postgres_server.execute(newer, name, seen[-1][0])
    assert [what for _, what in (*seen, *later)] == ["quick"]


def test_nothing_is_missed_under_concurrent_writers(shared: SharedDatabase, tmp_path: Path):
    stores = [stores_of(shared, tmp_path) for _ in range(6)]
    expected = {f"{writer}-{turn}" for writer in range(6) for turn in range(20)}

    def write(writer: int) -> None:
        for turn in range(20):
            put(stores[writer], f"{writer}-{turn}")

    threads = [Thread(target=write, args=(writer,)) for writer in range(6)]
    for each in threads:
        each.start()
    feed, seen, generation = stores[0].feed, list[str](), 0
    while any(each.is_alive() for each in threads) or generation_of(stores[0]) > generation:
        changes = feed.changes(generation)
        generation = changes.generation
        seen += [key.server for key in changes.listings]
    assert sorted(seen) == sorted(expected), "each once, and none is missing"


def settle(shared: SharedDatabase) -> None:
    """Listen: from now on all that is heard is new."""
    assert shared.listener.wait(HANG_S)


def test_a_change_of_whatever_tenant_ends_the_wait(
    shared: SharedDatabase, tmp_path: Path, postgres_server: PostgresServer
):
    one, two = (stores_of(shared, tmp_path, tenant) for tenant in ("one", "two"))
    settle(shared)
    assert not shared.listener.wait(0)
    put(one, "a")
    assert shared.listener.wait(HANG_S)
    put(two, "b")
    assert shared.listener.wait(HANG_S)
    name = name_of(shared.database.address)
    [(listener,)] = postgres_server.execute(LISTENERS, "postgres", name)
    postgres_server.execute("SELECT pg_terminate_backend(%s)", "postgres", listener)
    settle(shared)
    put(one, "c")
    assert shared.listener.wait(HANG_S), "it listens again"


def test_the_generations_of_many_tenants_are_one_question(shared: SharedDatabase, tmp_path: Path):
    for tenant in ("one", "two", "three"):
        put(stores_of(shared, tmp_path, tenant), "a")
    put(stores_of(shared, tmp_path, "two"), "b")
    found = shared.listener.generations(["one", "two", "nobody"])
    assert found == {"one": 1, "two": 2}


def test_a_listener_in_a_black_hole_is_opened_again(
    new_address: DatabaseAddress, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.store.postgres.feed.LISTEN_S", 0.2)
    with (
        TcpProxy(new_address) as proxy,
        closing(SharedDatabase(Database(proxy.address))) as shared,
        closing(SharedDatabase(Database(new_address))) as others,
    ):
        settle(shared)
        proxy.swallow()
        until(lambda: shared.listener._held is None, "the watchdog has ended it")
        put(stores_of(others, tmp_path), "a")
        proxy.restore()
        assert shared.listener.wait(HANG_S)


def test_who_waits_can_be_woken(shared: SharedDatabase):
    settle(shared)
    waiting = Thread(target=shared.listener.wait, args=(HANG_S,))
    waiting.start()
    shared.listener.wake()
    waiting.join(HANG_S)
    assert not waiting.is_alive()
