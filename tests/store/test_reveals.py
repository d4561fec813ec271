"""The session that was used longest ago is the first to be forgotten."""

from collections.abc import Iterator

import pytest

from toolcrib.store import SqliteStore, reveals


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    monkeypatch.setattr(reveals, "MOST_SESSIONS", 4)
    monkeypatch.setattr(reveals, "FRESH", 1)
    with SqliteStore.open(":memory:") as store:
        yield store


def known(store: SqliteStore) -> set[str]:
    with store.read() as db:
        return {session for (session,) in db.execute("SELECT session FROM reveals")}


def test_the_oldest_goes(store: SqliteStore):
    for session in "abcde":
        store.add_reveals("ann", session, ["x"])
    assert known(store) == set("bcde")


def test_to_write_is_to_use(store: SqliteStore):
    for session in "abcd":
        store.add_reveals("ann", session, ["x"])
    store.add_reveals("ann", "a", ["y"])
    store.add_reveals("ann", "e", ["x"])
    assert known(store) == set("acde")
    assert store.reveals("ann", "a") == ("x", "y")


def test_to_read_is_to_use(store: SqliteStore):
    for session in "abcd":
        store.add_reveals("ann", session, ["x"])
    assert store.reveals("ann", "a") == ("x",)
    store.add_reveals("ann", "e", ["x"])
    assert known(store) == set("acde")


def test_a_fresh_session_is_read_without_a_write(store: SqliteStore):
    store.add_reveals("ann", "a", ["x"])
    with store.read() as db:
        before = db.execute("SELECT used FROM reveals").get
    store.reveals("ann", "a")
    with store.read() as db:
        assert db.execute("SELECT used FROM reveals").get == before


def test_what_has_nothing_left_takes_no_place(store: SqliteStore):
    store.add_reveals("ann", "a", ["x"])
    store.keep_reveals("ann", "a", [])
    store.keep_reveals("ann", "b", ["x"])
    assert not known(store)
    assert store.reveals("ann", "nobody") == ()
    assert not known(store)
