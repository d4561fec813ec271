"""What `ListingStore` promises, on every engine."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contracts.conftest import Engine
from toolcrib.store import ListingHead, ListingKey, ListingStore, StoredListing

KEY, OTHER = ListingKey("git", "h1"), ListingKey("git", "h2")


def listing(number: int = 1, size: int = 10) -> StoredListing:
    body = b'{"number": %d, "text": "%s"}' % (number, b"x" * size)
    return StoredListing(ListingHead(f"{number:064x}", 1_800_000_000.25, 0.5), body)


@pytest.fixture
def listings(engine: Engine) -> ListingStore:
    return engine.open().listings


def test_a_server_that_was_never_listed_has_nothing(listings: ListingStore):
    assert listings.listing(KEY) is None
    assert listings.listing_head(KEY) is None
    assert listings.failure(KEY) is None
    listings.forget_listing(KEY)
    listings.put_failure(KEY, None)


@pytest.mark.parametrize("size", [0, 10, 1_000_000])
def test_what_is_put_is_read_to_the_byte_with_its_head(listings: ListingStore, size: int):
    listings.put_listing(KEY, listing(size=size))
    assert listings.listing(KEY) == listing(size=size)
    assert listings.listing_head(KEY) == listing().head


def test_a_configuration_has_its_own(listings: ListingStore):
    listings.put_listing(KEY, listing(1))
    assert listings.listing(OTHER) is None
    assert listings.listing(ListingKey("other", "h1")) is None
    listings.put_listing(OTHER, listing(2))
    assert listings.listing(KEY) == listing(1)


def test_the_last_one_takes_the_place_of_the_one_before(listings: ListingStore):
    for number in (1, 2):
        listings.put_listing(KEY, listing(number))
    assert listings.listing(KEY) == listing(2)
    assert listings.listing_head(KEY) == listing(2).head


@pytest.mark.parametrize("server", ["../../etc/x", "a/b", "ü", "x" * 300, "'; --"])
def test_a_server_may_have_any_name(listings: ListingStore, server: str):
    key = ListingKey(server, "h")
    listings.put_listing(key, listing())
    listings.put_failure(key, b"no")
    assert listings.listing(key) == listing()
    assert listings.failure(key) == b"no"


def test_a_failure_is_kept_until_all_is_well(listings: ListingStore):
    listings.put_failure(KEY, b'{"code": "start_failed"}')
    assert listings.failure(KEY) == b'{"code": "start_failed"}'
    assert listings.failure(OTHER) is None
    assert listings.listing(KEY) is None
    listings.put_failure(KEY, None)
    assert listings.failure(KEY) is None


def test_what_is_forgotten_is_gone_and_nothing_else(listings: ListingStore):
    for key in (KEY, OTHER):
        listings.put_listing(key, listing())
        listings.put_failure(key, b"no")
    listings.forget_listing(KEY)
    assert (listings.listing(KEY), listings.listing_head(KEY)) == (None, None)
    assert listings.failure(KEY) is None
    assert listings.listing(OTHER) == listing()
    assert listings.failure(OTHER) == b"no"


def test_two_processes_have_the_same_and_a_restart_ends_nothing(engine: Engine):
    one, other = engine.open(), engine.open()
    one.listings.put_listing(KEY, listing())
    assert other.listings.listing(KEY) == listing()
    one.close()
    other.close()
    assert engine.open().listings.listing(KEY) == listing()


def test_whoever_reads_while_others_write_has_one_of_them_whole(engine: Engine):
    places = [engine.open().listings for _ in range(3)]
    whole = [listing(number, size=50_000) for number in range(20)]
    places[0].put_listing(KEY, whole[0])
    with ThreadPoolExecutor(3) as threads:
        written = [threads.submit(places[n % 2].put_listing, KEY, whole[n]) for n in range(20)]
        read = [threads.submit(places[2].listing, KEY) for _ in range(40)]
        assert all(each.result() in whole for each in read)
    for each in written:
        each.result()
