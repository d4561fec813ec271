import asyncio
import threading

import pytest

from tests.waiting import HANG_S, until_async
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop


@pytest.fixture
def room():
    room = ServerLoop()
    yield room
    room.close()


async def where():
    return threading.current_thread().name


def engines():
    return [one for one in threading.enumerate() if one.name == "toolcrib-mcp"]


def test_nothing_runs_before_it_is_needed(room):
    assert not engines()


def test_work_runs_on_one_thread_whoever_asks(room):
    assert room.submit(where()).result() == "toolcrib-mcp"
    assert asyncio.run(room.run(where())) == "toolcrib-mcp"
    assert asyncio.run(room.run(where())) == "toolcrib-mcp"
    assert len(engines()) == 1


def test_cancelling_here_cancels_there(room):
    begun, ended = threading.Event(), threading.Event()

    async def sleep():
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def ask():
        task = asyncio.create_task(room.run(sleep()))
        await until_async(begun.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(ask())
    assert ended.wait(HANG_S)


def test_what_fails_there_fails_here(room):
    async def fail():
        raise LookupError("x")

    with pytest.raises(LookupError):
        asyncio.run(room.run(fail()))


def test_closing_calls_who_asked_for_it_and_ends_the_thread(room):
    closed = []

    async def close():
        closed.append(await where())

    room.closing.append(close)
    room.submit(where()).result()
    room.close()
    assert closed == ["toolcrib-mcp"]
    assert not engines()
    with pytest.raises(RuntimeError, match="closed"):
        room.submit(where())
    room.close()
