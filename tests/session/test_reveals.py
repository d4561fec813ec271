from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.session import RequestReveals
from toolcrib.session.reveals import Reveals
from toolcrib.store import SqliteStore, StoredReveals

NAMES = st.lists(st.sampled_from("abcdef"), max_size=6)
STEPS = st.lists(st.tuples(st.sampled_from(["add", "keep"]), NAMES), max_size=8)


@pytest.fixture(params=["request", "kept"])
def reveals(request: pytest.FixtureRequest) -> Iterator[Reveals]:
    if request.param == "request":
        yield RequestReveals()
    else:
        with SqliteStore.open(":memory:") as store:
            yield StoredReveals(store, "ann", "1")


def test_the_order_is_that_of_the_first_reveal(reveals: Reveals):
    assert reveals.names() == ()
    assert reveals.add(["b", "a", "b"]) == ("b", "a")
    assert reveals.add(["a", "c"]) == ("c",)
    assert reveals.names() == ("b", "a", "c")
    reveals.keep({"c", "b", "z"})
    assert reveals.names() == ("b", "c")
    assert reveals.add(["a"]) == ("a",)
    assert reveals.names() == ("b", "c", "a")
    reveals.keep(())
    assert reveals.names() == ()


@given(STEPS)
def test_both_kinds_do_the_same(steps: list[tuple[str, list[str]]]):
    with SqliteStore.open(":memory:") as store:
        one, other = RequestReveals(), StoredReveals(store, "ann", "1")
        for step, names in steps:
            if step == "add":
                before = one.names()
                assert one.add(names) == other.add(names)
                assert one.names()[: len(before)] == before
            else:
                one.keep(names)
                other.keep(names)
            assert one.names() == other.names()
            assert len(set(one.names())) == len(one.names())


def test_they_outlast_the_process_that_kept_them(tmp_path: Path):
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        StoredReveals(store, "ann", "1").add(["a", "b"])
    with SqliteStore.open(tmp_path / "catalog.db") as store:
        assert StoredReveals(store, "ann", "1").names() == ("a", "b")
