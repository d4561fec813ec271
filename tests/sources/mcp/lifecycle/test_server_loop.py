import asyncio
import threading

import pytest

from tests.waiting import HANG_S, until_async
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop


@pytest.fixture
def loop():
    loop = ServerLoop()
    yield loop
    loop.stop_all()


async def where():
    return threading.current_thread().name


def engines():
    return [one for one in threading.enumerate() if one.name == "toolcrib-mcp"]


def test_nothing_runs_before_it_is_needed(loop):
    assert not engines()


def test_work_runs_on_one_thread_whoever_asks(loop):
    assert loop.submit(where()).result() == "toolcrib-mcp"
    assert asyncio.run(loop.run(where())) == "toolcrib-mcp"
    assert asyncio.run(loop.run(where())) == "toolcrib-mcp"
    assert len(engines()) == 1


def test_cancelling_here_cancels_there(loop):
    begun, ended = threading.Event(), threading.Event()

    async def sleep():
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def ask():
        task = asyncio.create_task(loop.run(sleep()))
        await until_async(begun.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    assert ended.wait(HANG_S)


def test_what_fails_there_fails_here(loop):
    async def fail():
        raise LookupError("x")

    with pytest.raises(LookupError):
        asyncio.run(loop.run(fail()))


def test_closing_calls_who_asked_for_it_and_ends_the_thread(loop):
    closed = []

    async def close():
        closed.append(await where())

    loop.on_stop.append(close)
    loop.submit(where()).result()
    loop.stop_all()
    assert closed == ["toolcrib-mcp"]
    assert not engines()
    with pytest.raises(RuntimeError, match="closed"):
        loop.submit(where())
    loop.stop_all()
