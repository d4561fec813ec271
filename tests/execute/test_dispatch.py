"""One source, a deadline, at most one more try."""

import asyncio
import random
from contextlib import suppress
from typing import get_args

import pytest

from tests.execute.counting import CountingSource, offered
from tests.plan import amount
from tests.waiting import until_async
from tests.workshop import soon
from toolcrib.errors import BadArguments, UnknownTool
from toolcrib.execute.dispatch import LONGEST_MESSAGE, dispatch
from toolcrib.model import Call, CallContext, CallError, Effect, Outcome, PermissionKind, ToolInfo

TOOL = offered()
OTHER_KINDS: list[PermissionKind] = ["write", "execute", "network", "dangerous"]


def sent(
    source: CountingSource, tool: ToolInfo = TOOL, running: CallContext | None = None
) -> Outcome:
    return asyncio.run(dispatch(Call("look"), tool, source, running or soon()))


def failing(error: CallError, times: int = 1) -> CountingSource:
    source = CountingSource()
    left = [error] * times
    source.answer = lambda _call: Outcome(error=left.pop()) if left else Outcome("done")
    return source


def fault(effect: Effect = "failed", *, retryable: bool = True) -> CallError:
    return CallError("gone", "call", "", retryable=retryable, effect=effect)


@pytest.mark.parametrize("effect", get_args(Effect))
def test_a_read_that_failed_or_was_cut_is_tried_once_more(effect: Effect):
    source = failing(fault(effect))
    assert sent(source) == Outcome("done")
    assert len(source.reached) == 2


def test_a_read_that_fails_twice_has_failed():
    source = failing(fault(), times=2)
    assert sent(source).error
    assert len(source.reached) == 2


@pytest.mark.parametrize("effect", get_args(Effect))
def test_what_cannot_be_tried_again_is_not(effect: Effect):
    source = failing(fault(effect, retryable=False))
    assert sent(source).error
    assert len(source.reached) == 1


@pytest.mark.parametrize("kind", get_args(PermissionKind))
@pytest.mark.parametrize("effect", get_args(Effect))
def test_only_what_did_nothing_may_be_tried_again(kind: PermissionKind, effect: Effect):
    error = sent(failing(fault(effect), times=2), offered(kind=kind)).error
    assert error
    assert error.retryable == (kind == "read" or effect != "unknown")


@pytest.mark.parametrize("kind", OTHER_KINDS)
@pytest.mark.parametrize("effect", get_args(Effect))
def test_every_other_kind_is_sent_once_at_most(kind: PermissionKind, effect: Effect):
    source = failing(fault(effect))
    assert sent(source, offered(kind=kind)).error
    assert len(source.reached) == 1


def test_nothing_is_tried_again_when_the_time_is_over():
    source = failing(fault())
    assert sent(source, running=soon(-1)).error
    assert len(source.reached) == 1


@pytest.mark.plan(25)
def test_no_effect_comes_twice_however_calls_are_cut():
    """Calls cut after dispatch, of every kind, by a server that says how."""
    chance = random.Random(25)
    for _ in range(amount(25, "calls")):
        tool = offered(kind=chance.choice(["read", *OTHER_KINDS]))
        source = failing(fault("unknown"), times=2)
        outcome = sent(source, tool)
        assert outcome.error
        assert outcome.error.effect == "unknown"
        assert len(source.reached) == (2 if tool.permission_kind == "read" else 1)


class Odd(CountingSource):
    """A source that breaks its promises."""

    def __init__(self, behave) -> None:
        super().__init__()
        self._behave = behave

    async def call(self, call: Call, context: CallContext) -> Outcome:  # noqa: ARG002 - it is odd
        self.reached.append(call)
        return await self._behave()


class Obedient(Odd):
    """One that ends when it is cancelled, and says so: no task is made for its calls."""

    ends_when_cancelled = True


async def deaf() -> Outcome:
    """Does not keep to the deadline, nor listen when it is cancelled, until the loop is closed."""
    for _ in range(2):
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(600)
    return Outcome()


async def breaking() -> Outcome:
    raise RuntimeError("secret at 10.0.0.1")


async def giving_up() -> Outcome:
    raise asyncio.CancelledError


async def refusing() -> Outcome:
    raise BadArguments("'n' is missing; give it a value")


async def gone() -> Outcome:
    raise UnknownTool("no tool 'look' here")


def test_a_source_that_does_not_keep_to_the_deadline_is_left_behind():
    outcome = asyncio.run(dispatch(Call("look"), TOOL, Odd(deaf), soon(0.1)))
    assert outcome.error
    assert (outcome.error.code, outcome.error.effect) == ("deadline", "unknown")


@pytest.mark.parametrize("kind", [Odd, Obedient])
def test_a_source_that_is_late_is_cancelled(kind: type[Odd]):
    cancelled: list[bool] = []

    async def late() -> Outcome:
        try:
            await asyncio.sleep(600)
        finally:
            cancelled.append(True)
        return Outcome()

    async def calling() -> Outcome:
        outcome = await dispatch(Call("look"), TOOL, kind(late), soon(0.1))
        await until_async(lambda: cancelled)
        return outcome

    error = asyncio.run(calling()).error
    assert error
    assert (error.code, error.effect) == ("deadline", "unknown")


@pytest.mark.parametrize("kind", [Odd, Obedient])
@pytest.mark.parametrize(
    ("behave", "code", "effect"),
    [
        (breaking, "source_failed", "unknown"),
        (giving_up, "tool_cancelled", "unknown"),
        (refusing, "bad_arguments", "not_sent"),
        (gone, "unknown_tool", "not_sent"),
    ],
)
def test_whatever_a_source_raises_is_an_outcome(behave, code: str, effect: Effect, kind: type[Odd]):
    source = kind(behave)
    error = sent(source).error
    assert error
    assert (error.code, error.effect, error.server) == (code, effect, "shop")
    assert "secret" not in error.message
    assert len(source.reached) == 1


def test_the_words_of_a_stranger_are_fit_to_be_shown():
    source = failing(
        CallError("x", "call", "\x1b[31mred\u202e\x00\U000e0141\r" + "y" * 10_000, effect="failed")
    )
    error = sent(source).error
    assert error
    assert error.message.startswith("red yy")
    assert len(error.message) <= LONGEST_MESSAGE


def test_arguments_that_the_source_refuses_come_back_with_the_schema():
    error = sent(Odd(refusing)).error
    assert error
    assert error.schema == TOOL.parameters


@pytest.mark.parametrize("kind", [Odd, Obedient])
def test_cancelling_a_call_cancels_the_tool(kind: type[Odd]):
    heard: list[str] = []

    async def waiting() -> Outcome:
        heard.append("begun")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        return Outcome()

    async def cancelling() -> None:
        task = asyncio.ensure_future(dispatch(Call("look"), TOOL, kind(waiting), soon()))
        await until_async(lambda: heard)
        task.cancel()
        await asyncio.wait({task})
        await asyncio.sleep(0)
        assert task.cancelled()

    asyncio.run(cancelling())
    assert heard == ["begun", "cancelled"]
