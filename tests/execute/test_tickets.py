"""Approvals that are given later."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import apsw
import pytest

from tests.plan import amount
from toolcrib import Caller, Crib, Settings
from toolcrib.execute import ApprovalRequest, Tickets
from toolcrib.store import TicketFile
from toolcrib.store import tickets as store

REQUEST = ApprovalRequest("ann", "pay", "To pay", "dangerous", {"to": "bob", "sum": 5}, "pin-1")


KEY = b"k" * 32


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "tickets.db"


def opened(file: Path, clock: Clock) -> Tickets:
    return Tickets(partial(TicketFile, file, KEY, clock))


@pytest.fixture(params=["memory", "file"])
def tickets(request: pytest.FixtureRequest, file: Path, clock: Clock) -> Generator[Tickets]:
    made = opened(Path(":memory:") if request.param == "memory" else file, clock)
    yield made
    made.close()


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
        replace(REQUEST, name="mcp_live_pay"),
        replace(REQUEST, source="mcp:live"),
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
    began = clock.now
    clock.now = began + TicketFile.LIFETIME_S - 1
    assert tickets.approve(id)
    clock.now = began + TicketFile.LIFETIME_S
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


def test_those_of_one_caller_make_room_for_one_another_and_for_nobody_else(tickets: Tickets):
    approved(tickets)
    waits = tickets.ask(replace(REQUEST, arguments={"to": "bob"}))
    for number in range(store.MOST_OF_ONE + 5):
        tickets.ask(replace(REQUEST, caller="eve", arguments={"sum": number}))
    of_eve = [each.request.arguments for each in tickets.waiting() if each.request.caller == "eve"]
    assert of_eve == [{"sum": number + 5} for number in range(store.MOST_OF_ONE)]
    assert waits in tickets.waiting()
    assert tickets.spend(REQUEST)


@pytest.mark.plan(44)
def test_no_request_takes_an_approval_away(tickets: Tickets, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "MOST", 20)
    monkeypatch.setattr(store, "MOST_OF_ONE", 8)
    approved(tickets)
    for number in range(200):
        tickets.ask(replace(REQUEST, arguments={"sum": number}))
    for number in range(200):
        tickets.ask(replace(REQUEST, caller=f"c{number % 9}", arguments={"sum": number}))
    assert len(tickets.waiting()) <= 20
    assert tickets.spend(REQUEST)


def test_whoever_has_the_most_makes_room(tickets: Tickets, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "MOST", 10)
    tickets.ask(REQUEST)
    for number in range(30):
        tickets.ask(replace(REQUEST, caller="eve", arguments={"sum": number}))
    assert [each.request.caller for each in tickets.waiting()] == ["ann"] + ["eve"] * 9


def test_large_arguments_make_room_too(tickets: Tickets, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(store, "MOST_BYTES_OF_ONE", 5_000)
    for number in range(9):
        tickets.ask(replace(REQUEST, arguments={"n": number, "text": "x" * 2_000}))
    assert [each.request.arguments for each in tickets.waiting()] == [
        {"n": number, "text": "x" * 2_000} for number in (7, 8)
    ]
    vast = replace(REQUEST, arguments={"text": "x" * 9_000})
    assert approved(tickets, vast)
    assert tickets.spend(vast)


@pytest.mark.plan(44)
def test_an_approval_lasts_through_a_restart_and_is_spent_once(file: Path, clock: Clock):
    first = opened(file, clock)
    approved(first)
    waits = first.ask(replace(REQUEST, arguments={}))
    second = opened(file, clock)  # the first is still there: it was killed, or is about to end
    assert second.waiting() == [waits]
    assert second.spend(REQUEST)
    assert not first.spend(REQUEST)
    first.close()
    assert not second.spend(REQUEST)
    second.close()
    third = opened(file, clock)
    assert third.approve(waits.id)
    clock.now += TicketFile.LIFETIME_S
    assert not third.spend(waits.request)
    third.close()


def test_the_file_is_its_owners_alone(file: Path, clock: Clock):
    tickets = opened(file, clock)
    assert not file.exists()
    tickets.ask(REQUEST)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    tickets.close()


@pytest.mark.plan(44)
@pytest.mark.parametrize(
    "deed",
    [
        "UPDATE ticket SET leave = zeroblob(64)",
        "UPDATE ticket SET leave = 'yes'",
        "UPDATE ticket SET leave = (SELECT leave FROM ticket WHERE leave IS NOT NULL)",
        "UPDATE ticket SET expires = expires + 100 WHERE leave IS NOT NULL",
    ],
)
def test_a_row_that_somebody_else_has_written_is_no_leave(file: Path, clock: Clock, deed: str):
    tickets = opened(file, clock)
    given, other = replace(REQUEST, arguments={"given": 1}), replace(REQUEST, arguments={"n": 1})
    approved(tickets, given)
    tickets.ask(other)
    with apsw.Connection(str(file)) as db:
        db.execute(deed)
    assert not tickets.spend(other)
    if "expires" in deed:
        assert not tickets.spend(given)
    tickets.close()


def test_a_clock_that_is_put_back_makes_no_approval_last_longer(file: Path, clock: Clock):
    tickets = opened(file, clock)
    approved(tickets)
    clock.now -= 900.0
    assert not tickets.spend(REQUEST)
    assert tickets.ask(REQUEST).expires == clock.now + TicketFile.LIFETIME_S
    tickets.close()


def test_a_file_that_is_damaged_approves_nothing(file: Path, clock: Clock):
    tickets = opened(file, clock)
    approved(tickets)
    tickets.close()
    file.write_bytes(b"no database" * 1_000)
    again = opened(file, clock)
    assert not again.spend(REQUEST)
    assert again.ask(REQUEST)
    again.close()


ASKING = """
import asyncio, os, signal, sys
from toolcrib import Caller, Crib, Settings
crib = Crib(Settings(store=sys.argv[1]))
crib.add(os.getpid, name="act", description="Act", approval="ask")
asked = asyncio.run(crib.call("act", {}, caller=Caller("ann")))
assert asked.error.code == "approval_needed", asked
assert crib.operator.tickets.approve(asked.error.ticket)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.plan(44)
def test_what_was_approved_before_a_kill_is_approved_after_it_and_once(tmp_path: Path):
    store = str(tmp_path / "catalog.db")
    killed = subprocess.run([sys.executable, "-c", ASKING, store], check=False)
    assert killed.returncode == -signal.SIGKILL
    with Crib(Settings(store=store)) as crib:
        crib.add(os.getpid, name="act", description="Act", approval="ask")
        done, again = (asyncio.run(crib.call("act", {}, caller=Caller("ann"))) for _ in range(2))
        assert done.content == os.getpid()
        assert again.error
        assert again.error.code == "approval_needed"
