"""Programs that run: their calls, their values, and what became of each."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace

import psutil
import pytest

from tests.execute.counting import CountingSource, offered
from tests.program.conftest import QUIET, TEXT, Run, made_shop, takes
from tests.waiting import let_pass_async, until_async
from toolcrib import Caller, Crib, ProgramOutcome, Settings
from toolcrib.crib import inventory_of
from toolcrib.execute import ApprovalRequest, DenyingApprover
from toolcrib.model import (
    Call,
    CallContext,
    CallError,
    Deadline,
    InputRequest,
    Json,
    JsonObject,
    Outcome,
)
from toolcrib.program import ProgramCall, ProgramListeners, sandbox
from toolcrib.wiring import program_limits_of

LIMITS = program_limits_of(Settings())


def test_only_the_last_value_and_what_is_printed_go_back(run: Run, shop: CountingSource):
    outcome = run("found = await shop.look(at=3)\nprint('at', found['at'])\nfound['price'] + 1")
    assert outcome.content == "at 3\n8"
    assert (outcome.value, outcome.printed) == (8, "at 3\n")
    assert outcome.calls == (ProgramCall("mcp_shop_look", "done", 21),)
    assert [call.arguments for call in shop.reached] == [{"at": 3}]


@pytest.mark.parametrize(
    ("outcome", "value"),
    [
        (Outcome("text"), "text"),
        (Outcome("12"), "12"),
        (Outcome('[1, {"a": null}]'), [1, {"a": None}]),
        (Outcome("[not json"), "[not json"),
        (Outcome([{"type": "text", "text": '{"a": 1}'}], blocks=True), {"a": 1}),
        (Outcome([{"type": "text", "text": "x"}], {"b": 2}, blocks=True), {"b": 2}),
        (Outcome([{"type": "image", "data": ""}], blocks=True), [{"type": "image", "data": ""}]),
        (Outcome("half \ud800"), "half ?"),
        (Outcome(10**40), 10**40),
    ],
)
def test_a_result_is_a_value(run: Run, shop: CountingSource, outcome: Outcome, value: Json):
    shop.answer = lambda _call: outcome
    assert run("await shop.list_all()").value == value


@pytest.mark.parametrize(
    ("last", "value"),
    [
        ("(1, {2})", [1, [2]]),
        ("{1: 'a'}", {"1": "a"}),
        ("float('nan')", "nan"),
        ("None", None),
        ("x = 1", None),
        ("b'ab'", "b'ab'"),
    ],
)
def test_a_value_is_json(run: Run, last: str, value: Json):
    outcome = run(last)
    assert outcome.value == value
    json.dumps(outcome.content, allow_nan=False)


def test_calls_go_side_by_side_as_many_as_may(crib: Crib, shop: CountingSource):
    at_once: list[int] = []
    under_way = 0

    async def look(call: Call, context: CallContext) -> Outcome:
        nonlocal under_way
        del context
        under_way += 1
        at_once.append(under_way)
        await let_pass_async(0.02)
        under_way -= 1
        return Outcome(call.arguments["at"])

    shop.call = look
    program = "import asyncio\nawait asyncio.gather(*[shop.look(at=n) for n in range(9)])"
    try:
        limits = replace(LIMITS, calls_at_once=3)
        outcome = asyncio.run(crib.run(program, limits=limits))
    finally:
        del shop.call
    assert outcome.value == list(range(9))
    assert max(at_once) == 3


def test_a_failed_call_is_an_error_that_a_program_may_catch(run: Run, shop: CountingSource):
    lost = CallError("deadline", "call", "no answer in time", effect="unknown")
    shop.answer = lambda _call: Outcome(error=lost)
    caught = run("try:\n  await shop.sell(what='x')\nexcept RuntimeError as error:\n  print(error)")
    assert caught.ok
    assert caught.printed == "mcp_shop_sell: no answer in time (deadline)\n"
    assert caught.calls == (ProgramCall("mcp_shop_sell", "unknown", code="deadline"),)
    error = run("1\nawait shop.sell(what='x')").error
    assert error
    assert (error.code, error.effect) == ("program_failed", "unknown")
    assert error.message.startswith("line 2: RuntimeError: mcp_shop_sell: no answer in time")


def test_the_door_has_the_last_word(run: Run, shop: CountingSource):
    """What no type checker can know passes the check, and is refused like any other call."""
    outcome = run("import json\nawait shop.look(at=json.loads('[1]'))")
    assert outcome.calls == (ProgramCall("mcp_shop_look", "refused", code="bad_arguments"),)
    assert not shop.reached


def test_a_definition_that_changes_on_the_way_is_not_called(crib: Crib, shop: CountingSource):
    before = dict(shop.tools)

    def change(call: Call) -> Outcome:
        shop.tools["sell"] = replace(before["sell"], description="Sell something else")
        inventory_of(crib).relist(shop)
        return Outcome(call.name)

    shop.answer = change
    try:
        outcome = asyncio.run(crib.run("await shop.look(at=1)\nawait shop.sell(what='x')"))
    finally:
        shop.tools.update(before)
        inventory_of(crib).relist(shop)
    assert outcome.calls[1] == ProgramCall("mcp_shop_sell", "refused", code="definition_changed")
    assert [call.name for call in shop.reached] == ["look"]


def test_calls_beyond_the_limit_are_not_made(crib: Crib, shop: CountingSource):
    program = "for n in range(9):\n  await shop.look(at=n)"
    outcome = asyncio.run(crib.run(program, limits=replace(LIMITS, calls=4)))
    assert outcome.error
    assert "a program may make 4 calls" in outcome.error.message
    assert len(shop.reached) == 4
    assert [call.effect for call in outcome.calls] == ["done"] * 4 + ["refused"]


def test_a_program_ends_when_its_time_is_over(crib: Crib, shop: CountingSource):
    async def never(call: Call, context: CallContext) -> Outcome:
        del call, context
        await asyncio.Event().wait()
        raise AssertionError

    shop.call = never
    try:
        limits = replace(LIMITS, timeout_s=0.2)
        outcome = asyncio.run(crib.run("await shop.look(at=1)", limits=limits))
    finally:
        del shop.call
    assert outcome.error
    assert outcome.error.code in {"program_limit", "program_failed"}
    assert outcome.calls[0].effect == "unknown"


def test_a_call_that_nobody_awaits_is_told_of(run: Run, shop: CountingSource):
    outcome = run("f = shop.look(at=1)\n5")
    assert outcome.value == 5
    assert outcome.calls[0].effect == "done"
    assert len(shop.reached) == 1


def test_a_long_result_comes_by_pages(crib: Crib, shop: CountingSource):
    del shop
    program = "print('first')\n'\\n'.join(str(n) for n in range(20000))"
    session = crib.session(caller=Caller("ann"))
    outcome = asyncio.run(session.run(program))
    assert outcome.page
    assert outcome.handle
    assert str(outcome.content).startswith("first\n0\n1\n")
    found = crib.result(outcome.handle, find="19999", caller=Caller("ann"))
    assert "19999" in str(found.content)
    assert session.search_tool, "to read on with"


def test_who_waits_no_longer_leaves_nothing_behind(crib: Crib, shop: CountingSource):
    began = asyncio.Event()

    async def wait(call: Call, context: CallContext) -> Outcome:
        del call, context
        began.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def cancelled() -> None:
        task = asyncio.ensure_future(crib.run("await shop.look(at=1)"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await crib.run("1 + 1")).value == 2

    shop.call = wait
    try:
        asyncio.run(cancelled())
    finally:
        del shop.call


def workers() -> set[int]:
    return {child.pid for child in psutil.Process().children() if "monty" in child.name()}


def test_a_worker_that_dies_harms_one_program():
    """Its call is told of as it ended, nothing is repeated, and another program goes on."""
    shop = made_shop()
    release = asyncio.Event()

    async def wait(call: Call, context: CallContext) -> Outcome:
        del context
        shop.reached.append(call)
        await release.wait()
        return Outcome("sold")

    async def two(crib: Crib) -> list[ProgramOutcome]:
        others = workers()
        first = asyncio.ensure_future(crib.run("await shop.sell(what='x')\n'one'"))
        await until_async(lambda: len(shop.reached) == 1)
        [mine] = workers() - others
        second = asyncio.ensure_future(crib.run("await shop.sell(what='y')\n'two'"))
        await until_async(lambda: len(shop.reached) == 2)
        psutil.Process(mine).kill()
        release.set()
        return [*await asyncio.gather(first, second), await crib.run("'three'")]

    shop.call = wait
    with Crib(Settings(**QUIET)) as crib:
        crib.add_source(shop)
        died, second, third = asyncio.run(two(crib))
    assert died.error
    assert (died.error.code, died.error.effect) == ("program_died", "failed")
    assert died.calls == (ProgramCall("mcp_shop_sell", "done", 4),)
    assert (second.value, third.value) == ("two", "three")
    assert len(shop.reached) == 2


def test_closing_ends_the_workers():
    others = workers()
    with Crib(Settings(**QUIET)) as crib:
        assert asyncio.run(crib.run("1")).value == 1
        assert workers() - others
    assert not workers() - others


@pytest.mark.parametrize("after_s", [0.0, 30.0])
def test_the_time_of_a_program_stands_still_while_a_person_is_asked(after_s: float):
    """An approver that takes longer than the program may; then the call, with time or without."""
    shop = CountingSource(offered("sell", "write", schema=takes(what=TEXT)))
    shop.answer = lambda _call: Outcome("sold")
    asked: list[float] = []

    async def slow(request: ApprovalRequest, /) -> bool:
        asked.append(0.0)
        await let_pass_async(1.5)
        return request.name == "mcp_shop_sell"

    async def look(call: Call, context: CallContext) -> Outcome:
        del call, context
        await let_pass_async(after_s)
        return Outcome("sold")

    limits = replace(LIMITS, timeout_s=1.0)
    with Crib(Settings(**{**QUIET, "approval": {}})) as crib:
        crib.add_source(shop)
        shop.call = look
        outcome = asyncio.run(crib.run("await shop.sell(what='x')", limits=limits, approver=slow))
    assert len(asked) == 1
    if after_s:
        assert outcome.error
        assert outcome.error.effect == "unknown", "the clock goes on again after the answer"
    else:
        assert outcome.value == "sold"


def test_the_time_stands_still_while_a_tool_asks_its_person():
    deadline = Deadline(60.0)
    seen: list[float] = []

    async def ask(requests: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        before = deadline.left_s
        await let_pass_async(0.05)
        seen.append(before - deadline.left_s)
        return {key: {} for key in requests}

    listeners = ProgramListeners(ask=ask).pausing(deadline)
    assert listeners.ask
    asked = listeners.ask

    async def answered() -> Mapping[str, JsonObject]:
        return await asked({"a": InputRequest("roots/list", {})})

    assert asyncio.run(answered()) == {"a": {}}
    assert seen == [0.0]


def test_a_no_stays_what_it_is():
    no = DenyingApprover()
    assert ProgramListeners(no).pausing(Deadline(1.0)).approver is no


def test_one_caller_takes_not_all_places(shop: CountingSource):
    """Four programs of one caller wait for a tool; the program of another runs meanwhile."""
    with Crib(Settings(**QUIET, program={"at_once": 2})) as crib:
        crib.add_source(shop)

        async def go() -> tuple[bool, int]:
            freed, reached = asyncio.Event(), 0

            async def look(call: Call, context: CallContext) -> Outcome:
                nonlocal reached
                del call, context
                reached += 1
                await freed.wait()
                return Outcome(1)

            shop.call = look
            greedy = [
                asyncio.create_task(crib.run("await shop.look(at=1)", caller=Caller("greedy")))
                for _ in range(4)
            ]
            await until_async(lambda: reached)
            other = await crib.run("1 + 1", caller=Caller("other"))
            under_way = reached
            freed.set()
            await asyncio.gather(*greedy)
            return other.ok, under_way

        try:
            assert asyncio.run(go()) == (True, 1)
        finally:
            del shop.call


def test_the_type_check_has_a_deadline_of_its_own(
    crib: Crib, run: Run, monkeypatch: pytest.MonkeyPatch
):
    """Types that grow in loops take the checker minutes; the time of the program is not meant."""
    monkeypatch.setattr(sandbox, "TYPE_CHECK_S", 0.2)
    names = range(150)
    begun = [f"x{n} = 0" for n in names]
    looped = [f"    if x{n}: x{(n + 1) % 150} = [x{(n + 1) % 150}, x{n}]" for n in names]
    program = "\n".join([*begun, "for k in range(9):", *looped])
    check = crib.check_program(program)
    assert "its types could not be checked in" in check.text
    outcome = run(program)
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("bad_program", "not_sent")
    monkeypatch.undo()
    assert run("1 + 1").value == 2
