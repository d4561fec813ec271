"""What `TicketStore` promises, on every engine."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.contracts.conftest import Engine
from toolcrib.errors import StoreError
from toolcrib.execute import ApprovalRequest, Tickets
from toolcrib.store import Stores, TicketBinding, TicketFile, TicketStore

ANN = TicketBinding("ann", "pin", "digest")
BOB = TicketBinding("bob", "pin", "digest")


@pytest.fixture
def tickets(stores: Stores) -> TicketStore:
    return stores.tickets


def approved(tickets: TicketStore, binding: TicketBinding = ANN) -> str:
    id = tickets.ask(binding, "{}").row.id
    assert tickets.approve(id)
    return id


def test_a_call_has_one_ticket(tickets: TicketStore):
    first, again = tickets.ask(ANN, "one"), tickets.ask(ANN, "two")
    assert (first.is_new, again.is_new) == (True, False)
    assert again.row == first.row
    assert first.row.request == "one"


def test_nothing_waits_at_first(tickets: TicketStore):
    assert not tickets.waiting()
    assert not tickets.take_expired()
    assert tickets.state("none") == "gone"
    assert tickets.approve("none") is None
    assert tickets.reject("none") is None


def test_those_that_wait_come_in_order_until_they_are_decided_on(tickets: TicketStore):
    ids = [tickets.ask(ANN._replace(digest=str(n)), str(n)).row.id for n in range(4)]
    assert [each.id for each in tickets.waiting()] == ids
    assert tickets.approve(ids[1])
    assert tickets.reject(ids[2])
    assert [each.request for each in tickets.waiting()] == ["0", "3"]
    assert [*map(tickets.state, ids)] == ["waiting", "approved", "gone", "waiting"]
    assert tickets.approve(ids[1]) is None
    assert tickets.reject(ids[1]) is None


def test_an_approval_for_one_server_is_not_spent_on_another(tickets: TicketStore):
    desk = Tickets(lambda: tickets)
    test = ApprovalRequest("ann", "mcp_test_pay", "Pay", "write", {"sum": 5}, "pin", "mcp:test")
    assert desk.approve(desk.ask(test).id)
    for live in ({"name": "mcp_live_pay"}, {"source": "mcp:live"}):
        assert not desk.spend(replace(test, **live))
    assert desk.spend(test)


def test_an_approval_is_spent_by_the_first_call_that_fits(tickets: TicketStore):
    id = approved(tickets)
    assert not any(
        tickets.spend(each) for each in (BOB, ANN._replace(pin="x"), ANN._replace(digest="x"))
    )
    assert tickets.spend(ANN)
    assert not tickets.spend(ANN)
    assert tickets.state(id) == "gone"


def test_what_nobody_approved_is_not_spent(tickets: TicketStore):
    tickets.ask(ANN, "{}")
    assert not tickets.spend(ANN)
    assert len(tickets.waiting()) == 1


def test_a_ticket_lasts_for_a_while_and_is_told_of_once_when_it_has_expired(place: Engine):
    tickets = place.open().tickets
    waits, has_leave = tickets.ask(ANN, "waits").row, approved(tickets, BOB)
    place.pass_time(TicketFile.LIFETIME_S + 1)
    assert {tickets.state(waits.id), tickets.state(has_leave)} == {"gone"}
    assert not tickets.waiting()
    assert not tickets.spend(BOB)
    assert tickets.approve(waits.id) is None
    assert [each.request for each in tickets.take_expired()] == ["waits"]
    assert not tickets.take_expired()


def test_of_one_caller_the_oldest_makes_room_and_nobody_else(tickets: TicketStore):
    other = tickets.ask(BOB, "{}").row.id
    leave = approved(tickets, ANN._replace(digest="leave"))
    ids = [tickets.ask(ANN._replace(digest=str(n)), "{}").row.id for n in range(101)]
    assert [*map(tickets.state, (ids[0], ids[1], other, leave))] == [
        "gone",
        "waiting",
        "waiting",
        "approved",
    ]


def test_it_lasts_longer_than_a_process(engine: Engine):
    before = engine.open()
    id = approved(before.tickets)
    waits = before.tickets.ask(BOB, "{}").row
    before.close()
    after = engine.open().tickets
    assert after.state(id) == "approved"
    assert after.waiting() == [waits]
    assert after.spend(ANN)


def test_it_is_spent_once_by_many_at_once(engine: Engine):
    stores = [engine.open().tickets for _ in range(4)]
    for turn in range(10):
        binding = ANN._replace(digest=str(turn))
        approved(stores[turn % 4], binding)
        with ThreadPoolExecutor(8) as threads:
            spent = [*threads.map(lambda each, b=binding: each.spend(b), stores * 2)]
        assert spent.count(True) == 1


def test_many_who_ask_at_once_wait_for_one_ticket(engine: Engine):
    stores = [engine.open().tickets for _ in range(4)]
    with ThreadPoolExecutor(8) as threads:
        asked = [*threads.map(lambda each: each.ask(ANN, "{}"), stores * 2)]
    assert len({each.row.id for each in asked}) == 1
    assert [each.is_new for each in asked].count(True) == 1


def test_what_is_closed_says_so(tickets: TicketStore):
    tickets.close()
    with pytest.raises(StoreError):
        tickets.waiting()
