"""What `KeyStore` promises, held by every store of keys."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TypeAlias

import pytest

from tests.postgres import KEY, emptied_database
from toolcrib.errors import StoreError
from toolcrib.settings import DEFAULT_TENANT
from toolcrib.store import KeyFile, KeyHash, KeyStore, StoredKey
from toolcrib.store.postgres import PostgresStores, TenantPlaces

OpenStore: TypeAlias = Callable[[], KeyStore]

ENGINES = ["file", "postgresql"]


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens the same store again, as another process would."""
    made: list[KeyStore] = []
    shared = emptied_database() if request.param == "postgresql" else None

    def open_store() -> KeyStore:
        places = TenantPlaces(DEFAULT_TENANT, tmp_path, KEY, None)
        file = tmp_path / "keys.db"
        made.append(PostgresStores(shared, places).keys if shared else KeyFile(file))
        return made[-1]

    yield open_store
    for each in made:
        each.close()


@pytest.fixture
def store(opened: OpenStore) -> KeyStore:
    return opened()


def key(name: str = "laptop", id: str = "", **others: object) -> StoredKey:
    made = StoredKey(
        id or f"{name:.12}".ljust(12, "0"),
        name,
        ("default", "reading"),
        ("call", "metrics"),
        KeyHash(f"salt of {name}", f"hash of {name}"),
        1.5,
    )
    return replace(made, **others)  # type: ignore[arg-type]


def test_a_key_comes_back_as_it_was_kept(store: KeyStore):
    full = key(
        expires_at=7.25,
        rate=60,
        at_once=3,
        former=KeyHash("s", "h", has_id=False),
        former_until=9.5,
        used_at=2.0,
    )
    bare = key("bare", profiles=(), scopes=())
    assert store.add(full)
    assert store.add(bare)
    assert store.find(full.id) == full
    assert store.find(bare.id) == bare
    assert store.all() == [bare, full]  # by name


def test_an_unknown_id_is_none_and_an_empty_store_has_none(store: KeyStore):
    assert store.find("nobody") is None
    assert store.find("") is None
    assert store.all() == []
    assert store.without_id() == []


def test_a_name_and_an_id_are_given_once(store: KeyStore):
    first = key()
    assert store.add(first)
    assert not store.add(key(id="another", profiles=("other",)))
    assert not store.add(key("phone", id=first.id))
    assert store.all() == [first]


def test_a_key_that_was_removed_is_gone_and_its_name_is_free(store: KeyStore):
    store.add(key())
    assert store.remove("laptop")
    assert not store.remove("laptop")
    assert store.find(key().id) is None
    assert store.add(key(id="another"))


def test_after_a_rotation_both_secrets_are_known_and_a_third_is_not(store: KeyStore):
    store.add(key(used_at=3.0))
    one = store.rotate("laptop", KeyHash("s1", "h1"), 50.0, 70.0)
    expected = key(
        secret=KeyHash("s1", "h1"),
        former=key().secret,
        former_until=50.0,
        expires_at=70.0,
        used_at=3.0,
    )
    assert one == store.find(key().id) == expected
    two = store.rotate("laptop", KeyHash("s2", "h2"), 60.0, None)
    assert two
    assert (two.secret.hashed, two.former) == ("h2", KeyHash("s1", "h1"))
    assert two.expires_at is None


def test_a_rotation_at_once_forgets_the_former_secret(store: KeyStore):
    store.add(key(secret=KeyHash("s", "h", has_id=False)))
    rotated = store.rotate("laptop", KeyHash("s1", "h1"), 0.0, None)
    assert rotated
    assert rotated.former is None
    assert store.without_id() == []


def test_no_key_is_rotated_where_there_is_none(store: KeyStore):
    assert store.rotate("laptop", KeyHash("s", "h"), 1.0, None) is None
    assert store.all() == []


def test_keys_of_before_are_found_apart_also_after_a_rotation(store: KeyStore):
    store.add(key("new"))
    store.add(key("old", secret=KeyHash("s", "h", has_id=False)))
    assert [each.name for each in store.without_id()] == ["old"]
    store.rotate("old", KeyHash("s1", "h1"), 9.0, None)
    assert [each.name for each in store.without_id()] == ["old"]
    store.rotate("old", KeyHash("s2", "h2"), 9.0, None)
    assert store.without_id() == []


def test_every_change_and_no_look_is_another_version(opened: OpenStore):
    one, other = opened(), opened()
    seen = [one.version()]
    for change in (
        lambda: other.add(key()),
        lambda: other.rotate("laptop", KeyHash("s", "h"), 1.0, None),
        lambda: other.remove("laptop"),
        lambda: other.replace([key("phone")]),
    ):
        change()
        seen.append(one.version())
    assert seen == sorted(set(seen))
    one.all()
    one.find(key("phone").id)
    one.note_used({key("phone").id: 5.0})
    assert one.version() == seen[-1]


def test_others_see_a_change_at_once(opened: OpenStore):
    one, other = opened(), opened()
    one.add(key())
    assert other.find(key().id) == key()
    other.remove("laptop")
    assert one.find(key().id) is None


def test_all_of_it_is_replaced(store: KeyStore):
    store.add(key())
    store.replace([key("phone"), key("tablet")])
    assert [each.name for each in store.all()] == ["phone", "tablet"]
    store.replace([])
    assert store.all() == []


def test_the_latest_use_counts(store: KeyStore):
    store.add(key())
    store.note_used({key().id: 9.0, "nobody": 10.0})
    store.note_used({key().id: 4.0})
    found = store.find(key().id)
    assert found
    assert found.used_at == 9.0


def test_of_one_name_that_many_want_one_gets_it(opened: OpenStore):
    got: list[bool] = []
    stores = [opened() for _ in range(6)]
    threads = [
        Thread(target=lambda at=at, each=each: got.append(each.add(key(id=f"id-{at}"))))
        for at, each in enumerate(stores)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 5 + [True]
    assert len(stores[0].all()) == 1


def test_what_comes_after_closing_raises(opened: OpenStore):
    store = opened()
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.find("x")
