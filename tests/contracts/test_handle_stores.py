"""What `RevealSetStore` and `ResultStore` promise, on every engine."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from tests.contracts.conftest import ENGINES, Engine
from tests.plan import amount
from toolcrib.store import (
    HELD_BYTES,
    MOST_SET_TOOLS,
    MOST_SETS,
    UNUSED_S,
    ResultStore,
    RevealSetStore,
    Stores,
)

ODD = ("", "\0", "\ud800", "ünï", "x" * 10_000, "'; --")
"""What a model may say for a handle."""
HOUR_S = 3_600.0


@pytest.fixture
def sets(stores: Stores) -> RevealSetStore:
    return stores.sets


@pytest.fixture
def results(stores: Stores) -> ResultStore:
    return stores.results


def test_a_set_has_what_was_shown_in_that_order_with_the_newest_pins(sets: RevealSetStore):
    assert sets.add_to_set("ann", "", {"b": "1", "a": "1"}, "h") == "h"
    assert sets.add_to_set("ann", "h", {"c": "1", "b": "2"}, "other") == "h"
    pins = sets.set_pins("ann", "h")
    assert pins is not None
    assert [*pins.items()] == [("b", "2"), ("a", "1"), ("c", "1")]


def test_a_set_may_be_empty(sets: RevealSetStore):
    assert sets.add_to_set("ann", "", {}, "h") == "h"
    assert sets.set_pins("ann", "h") == {}


@pytest.mark.parametrize("handle", ODD)
def test_a_handle_that_is_not_known_makes_a_new_set(sets: RevealSetStore, handle: str):
    assert sets.set_pins("ann", handle) is None
    assert sets.add_to_set("ann", handle, {"a": "1"}, "new") == "new"
    assert sets.set_pins("ann", handle) is None


def test_names_and_pins_are_any_text(sets: RevealSetStore):
    shown = {"\ud800": "\0", "ü": ""}
    sets.add_to_set("ann@ü", "", shown, "h")
    assert sets.set_pins("ann@ü", "h") == shown


def test_no_owner_has_the_set_of_another(sets: RevealSetStore):
    sets.add_to_set("ann", "", {"a": "1"}, "h")
    assert sets.set_pins("bob", "h") is None
    assert sets.add_to_set("bob", "h", {"b": "1"}, "his") == "his"
    assert sets.set_pins("ann", "h") == {"a": "1"}
    assert [each.handle for each in sets.sets("bob")] == ["his"]
    assert not sets.sets("eve")


def test_of_too_many_tools_the_one_shown_longest_ago_goes(sets: RevealSetStore):
    sets.add_to_set("ann", "", {str(n): "1" for n in range(MOST_SET_TOOLS)}, "h")
    sets.add_to_set("ann", "h", {"new": "1"}, "")
    assert [*(sets.set_pins("ann", "h") or ())] == [
        *map(str, range(1, MOST_SET_TOOLS)),
        "new",
    ]


def test_of_too_many_sets_the_one_used_longest_ago_goes_and_none_of_another(
    sets: RevealSetStore,
):
    sets.add_to_set("bob", "", {}, "his")
    for number in range(MOST_SETS):
        sets.add_to_set("ann", "", {}, str(number))
    assert sets.set_pins("ann", "0") is not None
    sets.add_to_set("ann", "", {}, "new")
    assert sets.set_pins("ann", "1") is None
    assert sets.set_pins("ann", "0") is not None
    assert len(sets.sets("ann")) == MOST_SETS
    assert sets.set_pins("bob", "his") is not None


def test_a_set_that_nobody_uses_is_gone_after_an_hour(place: Engine):
    sets = place.open().sets
    for handle in ("used", "unused"):
        sets.add_to_set("ann", "", {"a": "1"}, handle)
    place.pass_time(UNUSED_S - 10)
    assert sets.set_pins("ann", "used") == {"a": "1"}
    place.pass_time(20)
    assert [each.handle for each in sets.sets("ann")] == ["used"]
    assert sets.set_pins("ann", "unused") is None
    assert sets.add_to_set("ann", "unused", {}, "new") == "new"


def test_sets_are_told_of_the_one_used_last_first_and_are_not_used_by_that(place: Engine):
    sets = place.open().sets
    for handle in ("one", "two", "three"):
        sets.add_to_set("ann", "", {"a": "1", "b": "2"}, handle)
    sets.set_pins("ann", "one")
    found = sets.sets("ann")
    assert [each.handle for each in found] == ["one", "three", "two"]
    assert {each.names for each in found} == {("a", "b")}
    place.pass_time(UNUSED_S - 10)
    assert len(sets.sets("ann")) == 3
    place.pass_time(20)
    assert not sets.sets("ann")


def test_two_processes_have_the_same_sets_and_a_restart_ends_none(engine: Engine):
    one, other = engine.open(), engine.open()
    one.sets.add_to_set("ann", "", {"a": "1"}, "h")
    assert other.sets.add_to_set("ann", "h", {"b": "1"}, "new") == "h"
    assert one.sets.set_pins("ann", "h") == {"a": "1", "b": "1"}
    one.close()
    other.close()
    assert engine.open().sets.set_pins("ann", "h") == {"a": "1", "b": "1"}


def test_of_what_many_add_at_once_nothing_is_lost(engine: Engine):
    places = [engine.open().sets for _ in range(4)]
    places[0].add_to_set("ann", "", {}, "h")
    with ThreadPoolExecutor(8) as threads:
        for each in [
            threads.submit(places[n % 4].add_to_set, "ann", "h", {str(n): "1"}, "new")
            for n in range(MOST_SET_TOOLS)
        ]:
            assert each.result() == "h"
    assert {*(places[0].set_pins("ann", "h") or ())} == {*map(str, range(MOST_SET_TOOLS))}


def test_a_result_is_kept_to_the_character(results: ResultStore):
    text = "a\0b\r\n\ud800 ü 漢字 😀\x7f" + "x" * 100_000
    assert results.keep_result("h", "ann", text, 600)
    assert results.result("h", "ann") == text
    assert results.keep_result("empty", "ann", "", 600)
    assert results.result("empty", "ann") == ""


@pytest.mark.parametrize("handle", ODD)
def test_a_handle_that_is_not_known_has_no_result(results: ResultStore, handle: str):
    assert results.result(handle, "ann") is None


def test_no_caller_has_the_result_of_another(results: ResultStore):
    results.keep_result("h", "ann", "hers", 600)
    assert results.result("h", "bob") is None
    assert results.result("h", "") is None
    assert results.result("h", "ann") == "hers"


def test_a_result_is_kept_for_as_long_as_it_says(place: Engine):
    results = place.open().results
    results.keep_result("short", "ann", "x", 60)
    results.keep_result("long", "ann", "x", HOUR_S)
    place.pass_time(61)
    assert results.result("short", "ann") is None
    assert results.result("long", "ann") == "x"


def test_who_holds_most_makes_room_with_the_oldest(results: ResultStore):
    quarter = "x" * (HELD_BYTES // 4)
    results.keep_result("his", "bob", quarter, 600)
    for handle in ("1", "2", "3"):
        results.keep_result(handle, "ann", quarter, 600)
    assert results.result("1", "ann") is not None
    results.keep_result("4", "ann", "one more", 600)
    assert results.result("1", "ann") is None
    assert all(results.result(each, "ann") for each in ("2", "3", "4"))
    assert results.result("his", "bob") is not None


def test_one_that_is_larger_than_all_there_may_be_is_not_kept(results: ResultStore):
    results.keep_result("h", "ann", "x", 600)
    assert not results.keep_result("large", "ann", "ü" * (HELD_BYTES // 2 + 1), 600)
    assert results.result("large", "ann") is None
    assert results.result("h", "ann") == "x"


def test_two_processes_have_the_same_results_and_a_restart_ends_none(engine: Engine):
    one, other = engine.open(), engine.open()
    one.results.keep_result("h", "ann", "x", 600)
    assert other.results.result("h", "ann") == "x"
    one.close()
    other.close()
    assert engine.open().results.result("h", "ann") == "x"


NAMES = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from("123"), max_size=4)
OWNERS = ("ann", "bob")


class RevealSetMachine(RuleBasedStateMachine):
    """Two owners, two processes that share a place, a clock, and a plain model of it all."""

    handles = Bundle("handles")

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory(ignore_cleanup_errors=True)
        self.scope = ENGINES[self.engine_name](Path(self.folder.name))
        self.engine = self.scope.__enter__()
        self.stores = [self.engine.open().sets for _ in range(2)]
        self.turn = self.now = 0.0
        self.model: dict[str, dict[str, tuple[float, dict[str, str]]]] = {o: {} for o in OWNERS}

    engine_name = "files"

    def teardown(self) -> None:
        self.scope.__exit__(None, None, None)
        self.folder.cleanup()

    def any_store(self) -> RevealSetStore:
        self.turn += 1
        return self.stores[int(self.turn) % 2]

    def known(self, owner: str, handle: str) -> dict[str, str] | None:
        """What the model has of a handle; what has expired it has not."""
        mine = self.model[owner]
        for old in [each for each, (expires, _) in mine.items() if expires <= self.now]:
            del mine[old]
        return mine[handle][1] if handle in mine else None

    def used(self, owner: str, handle: str, pins: dict[str, str]) -> None:
        self.model[owner].pop(handle, None)
        self.model[owner][handle] = self.now + UNUSED_S, pins

    @rule(target=handles, owner=st.sampled_from(OWNERS), handle=st.just(""), pins=NAMES)
    def make(self, owner: str, handle: str, pins: dict[str, str]) -> str:
        return self.add(owner, handle, pins)

    @rule(target=handles, owner=st.sampled_from(OWNERS), handle=handles, pins=NAMES)
    def add_more(self, owner: str, handle: str, pins: dict[str, str]) -> str:
        return self.add(owner, handle, pins)

    def add(self, owner: str, handle: str, pins: dict[str, str]) -> str:
        known, new = self.known(owner, handle), f"h{self.turn}"
        given = self.any_store().add_to_set(owner, handle, pins, new)
        assert given == (new if known is None else handle)
        self.used(owner, given, {**(known or {}), **pins})
        return given

    @rule(owner=st.sampled_from(OWNERS), handle=handles)
    def look(self, owner: str, handle: str) -> None:
        known, found = self.known(owner, handle), self.any_store().set_pins(owner, handle)
        assert found == known
        if known is not None:
            assert list(found or ()) == list(known)
            self.used(owner, handle, known)

    @rule(owner=st.sampled_from(OWNERS))
    def look_at_all(self, owner: str) -> None:
        self.known(owner, "")
        found = self.any_store().sets(owner)
        assert [each.handle for each in found] == [*reversed(self.model[owner])]

    @rule(seconds=st.sampled_from([1.0, UNUSED_S / 2 + 30, UNUSED_S + 30]))
    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.engine.pass_time(seconds)


@pytest.mark.plan(58)
@pytest.mark.parametrize("engine_name", ENGINES)
def test_reveal_sets_keep_what_they_promise(engine_name: str):
    from hypothesis import settings  # noqa: PLC0415 - its name is that of our own
    from hypothesis.stateful import run_state_machine_as_test  # noqa: PLC0415

    machine = type("Machine", (RevealSetMachine,), {"engine_name": engine_name})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=amount(58, "histories"), stateful_step_count=40, deadline=None
        ),
    )
