import asyncio
import threading
from contextvars import ContextVar

import pytest

from tests.waiting import HANG_S, until_async
from toolcrib.system import BackgroundLoop

WORD: ContextVar[str] = ContextVar("word")


async def here() -> str:
    return threading.current_thread().name


async def nothing() -> None:
    pass


def test_work_runs_in_one_thread_and_ends_with_it():
    loop = BackgroundLoop("toolcrib-apps")
    assert loop.submit(here()).result() == asyncio.run(loop.run(here())) == "toolcrib-apps"
    hanging = loop.submit(asyncio.sleep(60))
    loop.close(nothing)
    assert hanging.cancelled()
    assert "toolcrib-apps" not in [thread.name for thread in threading.enumerate()]
    with pytest.raises(RuntimeError, match="make a new crib"):
        loop.submit(here())


def test_a_loop_that_was_never_needed_closes_too():
    BackgroundLoop("toolcrib-apps").close(nothing)


def test_cancelling_here_cancels_there():
    loop = BackgroundLoop("toolcrib-apps")
    begun, ended = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def cancelled() -> None:
        task = asyncio.ensure_future(loop.run(wait()))
        await until_async(begun.is_set)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(cancelled())
    assert ended.wait(HANG_S)
    loop.close(nothing)


def test_work_has_the_context_of_whoever_asks_and_what_it_raises_comes_back():
    async def word() -> str:
        return WORD.get()

    loop = BackgroundLoop("toolcrib-calls")
    with pytest.raises(LookupError):
        loop.submit(word()).result()
    WORD.set("here")
    assert loop.submit(word()).result() == "here"
    loop.close(nothing)


def test_no_thread_starts_before_it_is_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threading.Thread, "start", lambda _self: pytest.fail("started"))
    BackgroundLoop("toolcrib-calls").end_soon()


def test_it_can_be_told_to_end_from_its_own_thread():
    loop = BackgroundLoop("toolcrib-calls")

    async def end() -> threading.Thread:
        loop.end_soon()
        return threading.current_thread()

    thread = loop.submit(end()).result()
    thread.join(HANG_S)
    assert not thread.is_alive()
    with pytest.raises(RuntimeError):
        loop.submit(nothing())


def test_on_a_loop_that_is_given_nothing_changes_threads():
    async def where() -> int:
        return threading.get_ident()

    async def run() -> None:
        here = BackgroundLoop("toolcrib-mcp", asyncio.get_running_loop())
        assert await here.run(where()) == threading.get_ident()
        assert await asyncio.wrap_future(here.submit(where())) == threading.get_ident()
        closed: list[int] = []

        async def last() -> None:
            closed.append(await where())

        await asyncio.to_thread(here.close, last)
        assert closed == [threading.get_ident()]
        with pytest.raises(RuntimeError, match="closed"):
            here.submit(where())
        await asyncio.sleep(0)  # the loop goes on: it is not ours to end

    before = {*threading.enumerate()}
    asyncio.run(run())
    new = {*threading.enumerate()} - before
    assert not [each for each in new if each.name == "toolcrib-mcp"]
