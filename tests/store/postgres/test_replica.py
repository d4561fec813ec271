"""Replicas of one shared store: what one commits the others have, and each goes on alone."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from tests.postgres import KEY
from tests.store.postgres.proxy import TcpProxy
from tests.waiting import until
from toolcrib.errors import StoreAway, StoreError
from toolcrib.gateway.keys import Keys
from toolcrib.store import (
    Changes,
    Decision,
    FileStores,
    ListingHead,
    ListingKey,
    ReplicaStores,
    StoredListing,
    StorePlaces,
)
from toolcrib.store.followed_decisions import Freshness
from toolcrib.store.postgres import (
    Database,
    DatabaseAddress,
    PostgresStores,
    SharedDatabase,
    TenantPlaces,
)

SERVER = ListingKey("github", "1234")
SOURCE = "mcp:github#1234"


class Site:
    """One database, and replicas that reach it through a network which can fail."""

    def __init__(self, address: DatabaseAddress, folder: Path, stack: ExitStack) -> None:
        self._address, self._folder, self._stack = address, folder, stack
        self.proxy = stack.enter_context(TcpProxy(address))

    def replica(self, name: str, *, behind_proxy: bool = False) -> ReplicaStores:
        address = self.proxy.address if behind_proxy else self._address
        shared = SharedDatabase(Database(address))
        folder = self._folder / name
        places = TenantPlaces("acme", folder / "state", KEY, None)
        documents = {"servers.json": self.file(name)}
        places_here = StorePlaces(folder / "state", None, None, documents, are_copies=True)  # type: ignore[arg-type]
        local = FileStores(places_here)
        remote = PostgresStores(shared, places)
        stores = ReplicaStores(remote, local, 15.0, "the database", on_close=shared.close)
        return self._stack.enter_context(closing(stores))

    def file(self, name: str) -> Path:
        return self._folder / name / "servers.json"


@pytest.fixture
def site(new_address: DatabaseAddress, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        yield Site(new_address, tmp_path, stack)


def listing(text: bytes, fetched: float) -> StoredListing:
    return StoredListing(ListingHead("ab" * 32, fetched, 0.5), b'{"entry": "%s"}' % text)


def _sent(stores: ReplicaStores) -> bool:
    try:
        stores.listings.send_rest()
    except StoreAway:
        return False
    return True


def _refreshed(stores: ReplicaStores) -> bool:
    try:
        stores.keys.refresh()
    except StoreAway:
        return False
    return True


def approved(name: str, pin: str = "p1") -> Decision:
    return Decision(SOURCE, name, "approved", pin, "operator", 1.0, "{}")


def test_what_one_replica_lists_the_others_have(site: Site):
    one, other = site.replica("one"), site.replica("other")
    one.listings.put_listing(SERVER, listing(b"tools", 1.0))
    assert other.listings.listing(SERVER) is None
    assert other.catch_up().listings == (SERVER,)
    assert other.listings.listing(SERVER) == listing(b"tools", 1.0)
    assert other.catch_up().listings == ()
    one.listings.forget_listing(SERVER)
    other.catch_up()
    assert other.listings.listing(SERVER) is None


def test_after_a_restart_only_what_is_new_is_fetched(site: Site):
    one = site.replica("one")
    one.listings.put_listing(SERVER, listing(b"tools", 1.0))
    before = site.replica("other")
    assert before.catch_up().listings == (SERVER,)
    before.settle()
    again = site.replica("other")
    assert again.catch_up().listings == ()
    assert again.listings.listing(SERVER) == listing(b"tools", 1.0)


def test_what_was_settled_is_on_the_disk_before_the_generation_that_says_so(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    one, other = site.replica("one"), site.replica("other")
    one.listings.put_listing(SERVER, listing(b"tools", 1.0))
    synced: list[str] = []

    def noted(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr("os.fsync", noted)
    other.catch_up()
    assert synced == []  # nobody waits for the disk before a change is searchable
    other.settle()
    names = [each.partition("-")[0].strip(".") for each in synced]
    assert len(names[0]) == 64  # the file of a listing
    assert names[1] == "mcp"
    assert names[2].startswith("generation")
    other.settle()
    assert len(synced) == 4  # with the folder of the generation: nothing was left to do


@pytest.mark.parametrize("keeps", [0, 200])
def test_what_a_loss_of_power_has_cut_off_is_fetched_again(site: Site, keeps: int):
    one, other = site.replica("one"), site.replica("other")
    one.listings.put_listing(SERVER, listing(b"tools", 1.0))
    other.catch_up()
    [file] = (other.folder / "mcp").glob("*.json")
    file.write_bytes(file.read_bytes()[:keeps])  # the head of it is in the first 200
    again = site.replica("other")
    assert again.catch_up().listings == (SERVER,)
    assert again.listings.listing(SERVER) == listing(b"tools", 1.0)


def test_a_replica_that_ends_has_settled(site: Site):
    one, other = site.replica("one"), site.replica("other")
    one.listings.put_listing(SERVER, listing(b"tools", 1.0))
    other.catch_up()
    other.close()
    assert site.replica("other").catch_up().listings == ()


def test_what_could_not_be_applied_is_told_again(site: Site):
    one, other = site.replica("one"), site.replica("other")
    one.listings.put_listing(SERVER, listing(b"tools", 1.0))

    def fail(changes: Changes) -> None:
        assert other.listings.listing(SERVER)  # the files have it already
        raise LookupError(*changes.listings)

    for _ in range(2):
        with pytest.raises(LookupError, match="github"):
            other.catch_up(fail)
    assert other.catch_up().listings == (SERVER,)
    assert other.catch_up().listings == ()


def test_a_document_takes_the_place_of_the_file_which_is_kept(site: Site):
    one, other = site.replica("one"), site.replica("other")
    site.file("other").parent.mkdir(parents=True, exist_ok=True)
    site.file("other").write_bytes(b"of this machine alone")
    first = one.documents.put_document("servers.json", b"of all", None)
    assert other.catch_up().documents == ("servers.json",)
    assert site.file("other").read_bytes() == b"of all"
    aside = other.folder / "servers.json.before-shared"
    assert aside.read_bytes() == b"of this machine alone"
    one.documents.put_document("servers.json", b"of all, later", first.version)
    other.catch_up()
    assert site.file("other").read_bytes() == b"of all, later"
    assert aside.read_bytes() == b"of this machine alone"


def test_decisions_are_followed_and_hold_while_the_database_is_away(site: Site):
    one, other = site.replica("one"), site.replica("other", behind_proxy=True)
    other.catch_up()
    one.decisions.approve(approved("read"))
    assert other.catch_up().decisions
    assert [*other.decisions.of(SOURCE)] == ["read"]
    before = other.decisions.version()
    site.proxy.swallow()
    assert [*other.decisions.of(SOURCE)] == ["read"]
    assert other.decisions.version() == before
    with pytest.raises(StoreAway):
        other.decisions.of("mcp:never#read")
    with pytest.raises(StoreAway):
        other.decisions.approve(approved("write"))
    assert [*other.decisions.of(SOURCE)] == ["read"]  # it is shown, and no call is made by it
    with pytest.raises(StoreAway, match="no call is made"):
        other.decisions.check_current()


def test_a_verdict_of_another_replica_counts_once_it_is_heard_of(site: Site):
    one, other = site.replica("one"), site.replica("other")
    one.decisions.approve(approved("read"))
    other.catch_up()
    assert other.decisions.of(SOURCE)["read"].approved
    one.decisions.reject(approved("read")._replace(verdict="rejected"))
    other.catch_up()
    assert other.decisions.of(SOURCE)["read"].approved is None


def test_a_replica_that_hears_nothing_makes_no_call():
    now = 0.0
    freshness = Freshness(15.0, lambda: now)
    with pytest.raises(StoreAway, match="more than 15 s"):
        freshness.check()
    freshness.confirm(now)
    now = 14.0
    freshness.check()
    now = 15.1
    with pytest.raises(StoreAway):
        freshness.check()


def test_a_listing_that_comes_while_the_database_is_away_is_sent_later(site: Site):
    one, other = site.replica("one", behind_proxy=True), site.replica("other")
    one.catch_up()
    site.proxy.swallow()
    one.listings.put_listing(SERVER, listing(b"tools", 2.0))
    assert one.listings.listing(SERVER) == listing(b"tools", 2.0)
    with pytest.raises(StoreError):
        one.listings.send_rest()
    site.proxy.restore()
    until(lambda: _sent(one), "the database answers again")
    other.catch_up()
    assert other.listings.listing(SERVER) == listing(b"tools", 2.0)


def test_a_key_that_was_removed_works_until_the_replica_asks_again(site: Site):
    one, other = site.replica("one"), site.replica("other", behind_proxy=True)
    keys, seen = Keys(one.keys), Keys(other.keys)
    shown, unseen = keys.add("ann"), keys.add("ben")
    assert seen.good(shown)
    before = seen.version()
    site.proxy.swallow()
    assert seen.good(shown)
    with pytest.raises(StoreError):
        seen.good(unseen)
    site.proxy.restore()
    keys.remove("ann")
    until(lambda: _refreshed(other), "the database answers again")
    assert seen.good(shown) is None
    assert seen.version() > before
