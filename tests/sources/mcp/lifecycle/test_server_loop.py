import asyncio
import threading
from typing import Any

import pytest

from tests.sources.mcp.faking import fake
from tests.waiting import HANG_S, until_async
from toolcrib.sources.mcp.lifecycle.server_loop import CallSlots, ServerLoop


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


def slots_used(*steps: float, idle_s: float = 10.0) -> list[float]:
    """When a server was found idle, of one that is left at each of these times.

    The clock is the loop's, and jumps from one timer to the next.
    """
    found: list[float] = []

    base: Any = asyncio.SelectorEventLoop

    class Jumping(base):
        now = 0.0

        def time(self) -> float:
            return self.now

        def _run_once(self) -> None:
            if not self._ready and self._scheduled:
                self.now = max(self.now, self._scheduled[0].when())
            super()._run_once()

    async def run() -> None:
        slots = CallSlots(fake(), lambda: found.append(loop.time()), lambda: idle_s)
        for at in steps:
            await asyncio.sleep(at - loop.time())
            await slots.enter()
            slots.leave()
        await asyncio.sleep(100)

    loop = Jumping()
    try:
        loop.run_until_complete(run())
    finally:
        loop.close()
    return found


def test_a_server_is_idle_so_long_after_it_was_used_last():
    assert slots_used(0, 4, 8) == [18]
    assert slots_used(0, 30) == [10, 40]


def test_a_slot_that_is_taken_keeps_a_server_from_being_idle():
    found: list[str] = []

    async def run() -> None:
        slots = CallSlots(fake(), lambda: found.append("idle"), lambda: 0.01)
        slots.restart_idle_timer()
        await slots.enter()
        await asyncio.sleep(0.05)
        assert found == []
        slots.leave()
        await until_async(lambda: found == ["idle"])

    asyncio.run(run())


def test_another_time_of_idleness_counts_from_the_next_call_on():
    found: list[str] = []
    idle_s = 1_000.0

    async def run() -> None:
        nonlocal idle_s
        slots = CallSlots(fake(), lambda: found.append("idle"), lambda: idle_s)
        slots.restart_idle_timer()
        idle_s = 0.01
        slots.restart_idle_timer()
        await until_async(lambda: found == ["idle"])

    asyncio.run(run())
