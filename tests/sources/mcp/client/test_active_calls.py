"""Whom a question on a connection is for."""

import asyncio
from contextvars import copy_context

import pytest

from toolcrib.model import CallContext, Deadline
from toolcrib.sources.mcp.client.active_calls import ActiveCalls

ANN, BOB = CallContext(Deadline(1), caller="ann"), CallContext(Deadline(1), caller="bob")


async def under_way(listeners, running, until):
    with listeners.hearing(running):
        await until.wait()


async def several(listeners, *running):
    """Tasks that stay until they are cancelled, and all have begun."""
    never = asyncio.Event()
    tasks = [asyncio.create_task(under_way(listeners, each, never)) for each in running]
    await asyncio.sleep(0)
    return tasks


def test_it_is_for_the_only_call_under_way():
    async def test():
        listeners, done = ActiveCalls(), asyncio.Event()
        before = listeners.who()
        task = asyncio.create_task(under_way(listeners, ANN, done))
        await asyncio.sleep(0)
        meanwhile = listeners.who()
        done.set()
        await task
        return before, meanwhile, listeners.who()

    assert asyncio.run(test()) == (None, ANN, None)


def test_of_several_it_is_for_none_unless_the_context_says_so():
    async def test():
        listeners = ActiveCalls()
        await several(listeners, ANN, BOB)
        context = copy_context()
        context.run(lambda: listeners.hearing(BOB).__enter__())
        return listeners.who(), listeners.who(context)

    assert asyncio.run(test()) == (None, BOB)


@pytest.mark.parametrize(("left", "now", "is_heard"), [(ANN, ANN, True), (ANN, BOB, False)])
def test_what_was_abandoned_may_still_speak_to_its_own_caller(left, now, is_heard):
    async def test():
        listeners = ActiveCalls()
        (task,) = await several(listeners, left)
        task.cancel()
        await asyncio.wait({task})
        await several(listeners, now)
        return listeners.who()

    assert asyncio.run(test()) == (now if is_heard else None)
