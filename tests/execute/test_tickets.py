"""Approvals that are given later."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.plan import amount
from toolcrib.execute import tickets as tickets_
from toolcrib.execute.tickets import TICKET_S, ApprovalRequest, Tickets

REQUEST = ApprovalRequest("ann", "pay", "To pay", "dangerous", {"to": "bob", "sum": 5}, "pin-1")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tickets(clock: Clock) -> Tickets:
    return Tickets(clock)


def approved(tickets: Tickets, request: ApprovalRequest = REQUEST) -> str:
    id = tickets.ask(request).id
    assert tickets.approve(id)
    return id


@pytest.mark.plan(44)
def test_a_call_that_was_approved_may_be_made_once(tickets: Tickets):
    approved(tickets)
    spent = [tickets.spend(REQUEST) for _ in range(amount(44, "replays"))]
    assert spent == [True] + [False] * (len(spent) - 1)


def test_a_ticket_that_nobody_approved_is_no_leave(tickets: Tickets):
    tickets.ask(REQUEST)
    assert not tickets.spend(REQUEST)
    assert [ticket.request for ticket in tickets.waiting()] == [REQUEST]


@pytest.mark.plan(44)
@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, caller="eve"),
        replace(REQUEST, pin="pin-2"),
        replace(REQUEST, arguments={"to": "bob", "sum": 5.0}),
        replace(REQUEST, arguments={"to": "eve", "sum": 5}),
        replace(REQUEST, arguments={"to": "bob", "sum": 5, "": None}),
        replace(REQUEST, arguments={}),
    ],
)
def test_a_ticket_is_for_one_caller_one_definition_and_these_arguments(tickets, other):
    approved(tickets)
    assert not tickets.spend(other)
    assert tickets.spend(REQUEST)


def test_the_order_of_the_arguments_is_no_edit(tickets: Tickets):
    approved(tickets)
    assert tickets.spend(replace(REQUEST, arguments={"sum": 5, "to": "bob"}))


@pytest.mark.plan(44)
def test_a_ticket_expires_approved_or_not(tickets: Tickets, clock: Clock):
    id = tickets.ask(REQUEST).id
    clock.now = TICKET_S - 1
    assert tickets.approve(id)
    clock.now = TICKET_S
    assert not tickets.spend(REQUEST)
    assert not tickets.approve(id)
    assert tickets.ask(REQUEST).id != id


def test_a_call_that_waits_has_one_ticket(tickets: Tickets):
    assert tickets.ask(REQUEST) == tickets.ask(REQUEST)


@pytest.mark.parametrize("id", ["", "0" * 16, "../x", "None"])
def test_a_ticket_that_is_not_there_cannot_be_decided_on(tickets: Tickets, id: str):
    tickets.ask(REQUEST)
    assert not tickets.approve(id)
    assert not tickets.reject(id)


def test_a_decision_is_made_once(tickets: Tickets):
    id = approved(tickets)
    assert not tickets.approve(id)
    assert not tickets.reject(id)
    assert tickets.spend(REQUEST)
    assert not tickets.approve(id)


def test_a_rejected_ticket_is_gone(tickets: Tickets):
    id = tickets.ask(REQUEST).id
    assert tickets.reject(id)
    assert not tickets.approve(id)
    assert not tickets.waiting()


@pytest.mark.plan(44)
def test_two_hundred_at_once_spend_one_ticket_once(tickets: Tickets):
    for _ in range(amount(44, "rounds")):
        approved(tickets)
        with ThreadPoolExecutor(20) as threads:
            spent = list(threads.map(lambda _: tickets.spend(REQUEST), range(200)))
        assert sum(spent) == 1


def test_there_are_never_too_many(tickets: Tickets, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tickets_, "MOST_TICKETS", 3)
    for number in range(10):
        tickets.ask(replace(REQUEST, arguments={"sum": number}))
    assert [ticket.request.arguments for ticket in tickets.waiting()] == [
        {"sum": 7},
        {"sum": 8},
        {"sum": 9},
    ]
