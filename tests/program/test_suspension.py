"""Programs that wait for a person, and go on later: once, in any process, and nothing twice."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.execute.counting import CountingSource, offered
from tests.program.conftest import NUMBER, QUIET, TEXT, takes
from tests.waiting import let_pass
from toolcrib import Caller, Crib, ProgramOutcome, Scope, Settings
from toolcrib.crib import inventory_of, stores_in
from toolcrib.model import Outcome
from toolcrib.program import ProgramCall
from toolcrib.wiring import program_limits_of

ANN = Caller("ann")
PROGRAM = """
found = await shop.look(at=3)
print('looked')
sold = await shop.sell(what=found['what'])
again = await shop.look(at=4)
[sold, again['what']]
"""


def opened(folder: Path) -> tuple[Crib, CountingSource]:
    """A crib on files, as each process has it; its `sell` needs a person."""
    settings = {**QUIET, "store": str(folder / "catalog.db"), "approval": {}, "index": "memory"}
    shop = CountingSource(
        offered("look", schema=takes(at=NUMBER)), offered("sell", "write", schema=takes(what=TEXT))
    )
    shop.answer = lambda call: Outcome({"what": f"{call.name} {[*call.arguments.values()]}"})
    crib = Crib(Settings(**settings))
    crib.add_source(shop)
    return crib, shop


@pytest.fixture
def place(tmp_path: Path) -> Generator[tuple[Crib, CountingSource]]:
    crib, shop = opened(tmp_path)
    with crib:
        yield crib, shop


def suspended(crib: Crib, program: str = PROGRAM, caller: Caller = ANN) -> ProgramOutcome:
    outcome = asyncio.run(crib.run(program, caller=caller))
    assert outcome.suspended, outcome.error
    return outcome


def resumed(crib: Crib, handle: str, caller: Caller = ANN) -> ProgramOutcome:
    return asyncio.run(crib.resume(handle, caller=caller))


def names(shop: CountingSource) -> list[str]:
    return [call.name for call in shop.reached]


def test_a_program_waits_and_goes_on_where_it_was(place: tuple[Crib, CountingSource]):
    crib, shop = place
    waiting = suspended(crib)
    assert waiting.error
    assert waiting.error.code == "approval_needed"
    assert waiting.suspended in waiting.error.message
    assert waiting.printed == "looked\n"
    assert [call.effect for call in waiting.calls] == ["done", "waiting"]
    [ticket] = crib.operator.tickets.waiting()
    assert ticket.id == waiting.error.ticket
    assert ticket.request.arguments == {"what": "look [3]"}

    assert resumed(crib, waiting.suspended).suspended == waiting.suspended, "nobody has answered"
    assert names(shop) == ["look"]
    crib.operator.tickets.approve(ticket.id)
    done = resumed(crib, waiting.suspended)
    assert done.value == [{"what": "sell ['look [3]']"}, "look [4]"]
    assert done.printed == "looked\n"
    assert [call.effect for call in done.calls] == ["done", "done", "done"]
    assert names(shop) == ["look", "sell", "look"], "what was done is not repeated"

    spent = resumed(crib, waiting.suspended).error
    assert spent
    assert spent.code == "unknown_handle"
    assert names(shop) == ["look", "sell", "look"]


def test_a_call_that_is_denied_raises_in_the_program(place: tuple[Crib, CountingSource]):
    crib, shop = place
    program = "try:\n  await shop.sell(what='x')\nexcept RuntimeError as error:\n  print(error)"
    waiting = suspended(crib, program)
    [ticket] = crib.operator.tickets.waiting()
    crib.operator.tickets.reject(ticket.id)
    done = resumed(crib, waiting.suspended)
    assert "this call was not approved" in done.printed
    assert done.calls == (ProgramCall("mcp_shop_sell", "refused", code="approval_denied"),)
    assert not shop.reached


def test_an_approver_can_answer_when_it_is_resumed(place: tuple[Crib, CountingSource]):
    crib, shop = place
    waiting = suspended(crib)

    async def yes(request: object, /) -> bool:
        del request
        return True

    done = asyncio.run(crib.resume(waiting.suspended, caller=ANN, approver=yes))
    assert done.ok
    assert names(shop) == ["look", "sell", "look"]


def test_calls_side_by_side_wait_each_for_their_own_answer(place: tuple[Crib, CountingSource]):
    crib, shop = place
    program = """
import asyncio
await asyncio.gather(*[shop.sell(what=each) for each in 'ab'], shop.look(at=1))
"""
    waiting = suspended(crib, program)
    assert sorted(call.effect for call in waiting.calls) == ["done", "waiting", "waiting"]
    first, second = crib.operator.tickets.waiting()
    crib.operator.tickets.approve(second.id)
    half = resumed(crib, waiting.suspended)
    assert half.suspended not in {"", waiting.suspended}
    assert names(shop) == ["look", "sell"]
    crib.operator.tickets.approve(first.id)
    assert resumed(crib, half.suspended).ok
    assert names(shop) == ["look", "sell", "sell"]


def test_of_two_who_resume_at_once_one_wins(place: tuple[Crib, CountingSource]):
    crib, shop = place
    waiting = suspended(crib)
    [ticket] = crib.operator.tickets.waiting()
    crib.operator.tickets.approve(ticket.id)

    async def both() -> list[ProgramOutcome]:
        again = [crib.resume(waiting.suspended, caller=ANN) for _ in range(4)]
        return await asyncio.gather(*again)

    codes = sorted(each.error.code if each.error else "" for each in asyncio.run(both()))
    assert codes == ["", *["unknown_handle"] * 3]
    assert names(shop) == ["look", "sell", "look"]


@pytest.mark.parametrize(
    "change", ["caller", "flip", "handle", "tenant", "key", "foreign", "engine", "expired"]
)
def test_nothing_is_loaded_that_is_not_ours(
    place: tuple[Crib, CountingSource], change: str, monkeypatch: pytest.MonkeyPatch
):
    """Altered, of another caller, handle, tenant, installation or engine, or kept for too long."""
    crib, shop = place
    waiting = suspended(crib)
    [ticket] = crib.operator.tickets.waiting()
    crib.operator.tickets.approve(ticket.id)
    handle, caller, store = waiting.suspended, ANN, stores_in(crib).suspensions
    content = store.take_suspension(handle, "ann")
    assert content
    suspensions = crib._stages.programs._programs._host.suspensions
    match change:
        case "caller":
            caller = Caller("bob")
            store.keep_suspension(handle, "bob", content, 600)
        case "flip":
            store.keep_suspension(handle, "ann", content[:-1] + bytes([content[-1] ^ 1]), 600)
        case "handle":
            handle = "another"
            store.keep_suspension(handle, "ann", content, 600)
        case "tenant":
            monkeypatch.setattr(suspensions, "_tenant", "other")
            store.keep_suspension(handle, "ann", content, 600)
        case "key":
            monkeypatch.setattr(suspensions, "_key", lambda: bytes(32))
            store.keep_suspension(handle, "ann", content, 600)
        case "foreign":
            store.keep_suspension(handle, "ann", b"\x80" * 300, 600)
        case "engine":
            monkeypatch.setattr("toolcrib.program.suspension.engine_version", lambda: "0.1")
            store.keep_suspension(handle, "ann", content, 600)
        case _:
            monkeypatch.setattr(suspensions, "_clock", lambda: 9e12)
            store.keep_suspension(handle, "ann", content, 600)
    error = resumed(crib, handle, caller).error
    assert error
    assert error.code == "unknown_handle"
    assert names(shop) == ["look"]


def test_pins_and_rights_are_looked_at_again(place: tuple[Crib, CountingSource]):
    crib, shop = place
    first, second = suspended(crib), suspended(crib, "await shop.sell(what='other')")
    for ticket in crib.operator.tickets.waiting():
        crib.operator.tickets.approve(ticket.id)
    fewer = Caller("ann", Scope(allowed=frozenset({"shop/look"})))
    refused = resumed(crib, second.suspended, fewer)
    assert refused.calls[-1] == ProgramCall("mcp_shop_sell", "refused", code="not_allowed")
    shop.tools["sell"] = replace(shop.tools["sell"], description="Sell the whole shop")
    inventory_of(crib).relist(shop)
    changed = resumed(crib, first.suspended)
    assert changed.calls[-1] == ProgramCall("mcp_shop_sell", "refused", code="definition_changed")
    assert names(shop) == ["look"]


def test_a_program_that_nobody_resumes_expires(place: tuple[Crib, CountingSource]):
    crib, _shop = place
    limits = replace(program_limits_of(Settings()), suspended_s=0.001)
    waiting = asyncio.run(crib.run(PROGRAM, caller=ANN, limits=limits))
    let_pass()
    error = resumed(crib, waiting.suspended).error
    assert error
    assert error.code == "unknown_handle"


def test_a_ticket_waits_as_long_as_its_program(place: tuple[Crib, CountingSource]):
    crib, _shop = place
    suspended(crib)
    plain = asyncio.run(crib.call("mcp_shop_sell", {"what": "y"}, caller=ANN))
    assert plain.error
    of_program, of_call = crib.operator.tickets.waiting()
    assert of_program.expires - of_call.expires > 80_000


def test_where_nothing_can_be_kept_the_call_raises(
    place: tuple[Crib, CountingSource], monkeypatch: pytest.MonkeyPatch
):
    crib, shop = place
    store = stores_in(crib).suspensions
    monkeypatch.setattr(store, "keep_suspension", lambda *_: False)
    outcome = asyncio.run(crib.run(PROGRAM, caller=ANN))
    assert not outcome.suspended
    assert outcome.calls[-1].code == "approval_denied"
    assert names(shop) == ["look"]


def test_a_call_that_waits_when_its_program_ends_is_refused(place: tuple[Crib, CountingSource]):
    crib, shop = place
    outcome = asyncio.run(crib.run("f = shop.sell(what='x')\n5", caller=ANN))
    assert (outcome.value, outcome.suspended) == (5, "")
    assert outcome.calls[0].effect == "refused"
    assert not shop.reached


FIRST = """
import asyncio, sys, time
from pathlib import Path
from tests.program.test_suspension import ANN, PROGRAM, opened
crib, shop = opened(Path(sys.argv[1]))
outcome = asyncio.run(crib.run(PROGRAM, caller=ANN))
print("suspended", outcome.suspended, len(shop.reached), flush=True)
time.sleep(600)
"""


def test_a_killed_process_loses_nothing_and_repeats_nothing(tmp_path: Path):
    """Suspended by a process that is killed; approved and resumed by another one."""
    command = [sys.executable, "-c", FIRST, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout
        said = re.fullmatch(r"suspended (\S+) 1\n", first.stdout.readline())
        os.kill(first.pid, signal.SIGKILL)
    assert said
    crib, shop = opened(tmp_path)
    with crib:
        [ticket] = crib.operator.tickets.waiting()
        crib.operator.tickets.approve(ticket.id)
        done = resumed(crib, said[1])
    assert done.value == [{"what": "sell ['look [3]']"}, "look [4]"]
    assert names(shop) == ["sell", "look"], "the first look was in the other process"
