"""Whom a question on a connection is for."""

import asyncio
from contextvars import copy_context

import pytest

from toolcrib.model import CallContext, Deadline
from toolcrib.sources.mcp.client.active_calls import ActiveCalls, mark_context

ANN, BOB = CallContext(Deadline(1), caller="ann"), CallContext(Deadline(1), caller="bob")


async def under_way(calls, running, until):
    with calls.active(running):
        await until.wait()


async def several(calls, *running):
    """Tasks that stay until they are cancelled, and all have begun."""
    never = asyncio.Event()
    tasks = [asyncio.create_task(under_way(calls, each, never)) for each in running]
    await asyncio.sleep(0)
    return tasks


def test_it_is_for_the_only_call_under_way():
    async def test():
        calls, done = ActiveCalls(), asyncio.Event()
        before = calls.find()
        task = asyncio.create_task(under_way(calls, ANN, done))
        await asyncio.sleep(0)
        meanwhile = calls.find()
        done.set()
        await task
        return before, meanwhile, calls.find()

    assert asyncio.run(test()) == (None, ANN, None)


def test_of_several_it_is_for_none_unless_the_context_says_so():
    async def test():
        calls = ActiveCalls()
        await several(calls, ANN, BOB)
        context = copy_context()
        context.run(mark_context, BOB)
        return calls.find(), calls.find(context)

    assert asyncio.run(test()) == (None, BOB)


@pytest.mark.parametrize(("left", "now", "is_heard"), [(ANN, ANN, True), (ANN, BOB, False)])
def test_what_was_abandoned_may_still_speak_to_its_own_caller(left, now, is_heard):
    async def test():
        calls = ActiveCalls()
        (task,) = await several(calls, left)
        task.cancel()
        await asyncio.wait({task})
        await several(calls, now)
        return calls.find()

    assert asyncio.run(test()) == (now if is_heard else None)
