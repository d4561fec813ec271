"""Suspended programs and the tickets that wait with them, on every engine."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contracts.conftest import Engine
from toolcrib.store import HELD_BYTES, Stores, SuspensionStore, TicketBinding

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def kept(stores: Stores) -> SuspensionStore:
    assert stores.suspensions.keep_suspension("h", "ann", CONTENT, 600)
    return stores.suspensions


def test_what_is_kept_is_there_until_it_is_taken(kept: SuspensionStore):
    assert kept.suspension("h", "ann") == kept.suspension("h", "ann") == CONTENT
    assert kept.take_suspension("h", "ann") == CONTENT
    assert kept.suspension("h", "ann") is None
    assert kept.take_suspension("h", "ann") is None


@pytest.mark.parametrize(
    ("handle", "caller"), [("h", "bob"), ("H", "ann"), ("", ""), ("\0", "ann")]
)
def test_nobody_else_has_it(kept: SuspensionStore, handle: str, caller: str):
    assert kept.suspension(handle, caller) is None
    assert kept.take_suspension(handle, caller) is None
    assert kept.take_suspension("h", "ann") == CONTENT


def test_it_is_gone_when_its_time_is_over(place: Engine):
    suspensions = place.open().suspensions
    suspensions.keep_suspension("short", "ann", b"x", 60)
    suspensions.keep_suspension("long", "ann", b"x", 7_200)
    place.pass_time(61)
    assert suspensions.suspension("short", "ann") is None
    assert suspensions.take_suspension("short", "ann") is None
    assert suspensions.take_suspension("long", "ann") == b"x"


def test_one_of_many_gets_it(engine: Engine):
    engine.open().suspensions.keep_suspension("h", "ann", CONTENT, 600)
    places = [engine.open().suspensions for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        taken = list(threads.map(lambda each: each.take_suspension("h", "ann"), places))
    assert sorted(map(bool, taken)) == [False, False, False, True]


def test_a_restart_ends_none_and_brings_none_back(engine: Engine):
    first = engine.open()
    first.suspensions.keep_suspension("h", "ann", CONTENT, 600)
    first.close()
    second = engine.open()
    assert second.suspensions.take_suspension("h", "ann") == CONTENT
    second.close()
    assert engine.open().suspensions.suspension("h", "ann") is None


def test_who_holds_most_makes_room(kept: SuspensionStore):
    half = bytes(HELD_BYTES // 2)
    kept.keep_suspension("1", "bob", half, 600)
    kept.keep_suspension("2", "bob", half, 600)
    assert kept.suspension("1", "bob") is None
    assert kept.suspension("h", "ann") == CONTENT
    assert not kept.keep_suspension("3", "bob", bytes(HELD_BYTES + 1), 600)


def test_a_ticket_waits_as_long_as_it_is_told(place: Engine):
    tickets = place.open().tickets
    binding = TicketBinding("ann", "pin", "digest")
    asked = tickets.ask(binding, "{}").row
    assert tickets.extend(asked.id, 7_200)
    place.pass_time(3_600)
    assert tickets.state(asked.id) == "waiting"
    assert [row.id for row in tickets.waiting()] == [asked.id]
    assert tickets.approve(asked.id)
    assert not tickets.extend(asked.id, 7_200), "it waits no longer"
    assert tickets.spend(binding)
    assert tickets.state(asked.id) == "gone"


def test_a_ticket_that_was_extended_expires_too(place: Engine):
    tickets = place.open().tickets
    asked = tickets.ask(TicketBinding("ann", "pin", "digest"), "{}").row
    tickets.extend(asked.id, 3_600)
    place.pass_time(3_601)
    assert tickets.state(asked.id) == "gone"
    assert tickets.approve(asked.id) is None
