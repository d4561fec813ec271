import asyncio
import threading
from contextvars import ContextVar

import pytest

from tests.waiting import HANG_S, until_async
from toolcrib.system import run_in_thread

WHO: ContextVar[str] = ContextVar("who")


def test_what_it_returns_and_raises_arrives():
    assert asyncio.run(run_in_thread(lambda: 5)) == 5
    with pytest.raises(ZeroDivisionError):
        asyncio.run(run_in_thread(lambda: 1 // 0))


@pytest.mark.parametrize("error", [StopIteration(), SystemExit(3)])
def test_what_would_end_the_loop_arrives_as_a_failure(error: BaseException):
    def run() -> None:
        raise error

    with pytest.raises(RuntimeError, match="the tool"):
        asyncio.run(run_in_thread(run))


def test_the_context_goes_along():
    WHO.set("ann")
    assert asyncio.run(run_in_thread(WHO.get)) == "ann"


def test_many_that_hang_hold_up_nobody():
    release = threading.Event()

    async def go() -> object:
        hanging = [asyncio.ensure_future(run_in_thread(release.wait)) for _ in range(64)]
        await asyncio.sleep(0)
        result = await asyncio.wait_for(run_in_thread(lambda: "through"), HANG_S)
        for each in hanging:
            each.cancel()
        return result

    assert asyncio.run(go()) == "through"
    release.set()


def test_a_thread_that_ends_after_its_loop_is_no_trouble():
    release, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        release.wait(HANG_S)
        ended.set()

    async def go() -> None:
        asyncio.ensure_future(run_in_thread(run)).cancel()
        task = asyncio.ensure_future(run_in_thread(run))
        await until_async(begun.is_set)
        task.cancel()

    asyncio.run(go())
    release.set()
    assert ended.wait(HANG_S)
