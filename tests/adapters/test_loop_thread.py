"""Coroutines for threads that cannot await."""

import asyncio
from contextvars import ContextVar
from threading import Thread

import pytest

from toolcrib.adapters.loop_thread import LoopThread

WORD: ContextVar[str] = ContextVar("word")


async def loop_and_word():
    return asyncio.get_running_loop(), WORD.get("")


def test_all_run_on_one_loop_in_the_context_of_who_asks():
    thread = LoopThread()
    first, _ = thread.run(loop_and_word())
    WORD.set("here")
    assert thread.run(loop_and_word()) == (first, "here")


def test_what_is_raised_comes_back():
    async def fail():
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        LoopThread().run(fail())


def test_none_starts_before_it_is_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Thread, "start", lambda _self: pytest.fail("started"))
    LoopThread()
