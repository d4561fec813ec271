"""What keeps a call to its deadline, and what it is when that has passed.

A person takes longer than a program. So the deadline of a call is paused while it asks
(`CallQuestions`), and each question has a limit of its own instead. A call that asks without end is
not heard any more.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from toolcrib.model import CallError, Deadline, InputHandler, InputRequest, JsonObject

REPLY_S = 300.0
MOST_QUESTIONS = 20
LOOK_AGAIN_S = 0.05

_log = logging.getLogger(__name__)


def deadline_passed(deadline: Deadline) -> CallError:
    """What a call comes to that has had no answer by its deadline."""
    return CallError("deadline", "call", deadline.passed, effect="unknown")


class CallQuestions:
    """What one call asks of whoever made it. While a question is open, its deadline is paused.

    Questions are asked on one loop.
    """

    def __init__(self, ask: InputHandler, deadline: Deadline) -> None:
        self._ask = ask
        self._deadline = deadline
        self._count = 0
        self._open: set[asyncio.Future[Mapping[str, JsonObject]]] = set()

    async def ask(self, requests: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        """The replies. Nothing if nobody replies in time, or after too many questions."""
        self._count += 1
        if self._count > MOST_QUESTIONS:
            return {}
        task = asyncio.ensure_future(self._ask(requests))
        self._open.add(task)
        try:
            with self._deadline.pause():
                await asyncio.wait({task}, timeout=REPLY_S)
        finally:
            self._open.discard(task)
            task.cancel()
        return _reply(task)

    def close(self) -> None:
        """Take back what was asked: nobody waits for it any more."""
        for task in self._open:
            task.cancel()


def _reply(task: "asyncio.Future[Mapping[str, JsonObject]]") -> Mapping[str, JsonObject]:
    if not task.done() or task.cancelled():
        return {}
    with suppress(Exception):
        return task.result()
    _log.error("nobody could be asked", exc_info=task.exception())
    return {}


class DeadlineTimer:
    """Cancels what is awaited in it at the deadline, and raises `TimeoutError` instead.

    The deadline may be paused meanwhile. This is for work that ends when it is cancelled, and takes
    no task; see `done_in_time` for other work.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._has_passed = False

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task  # noqa: S101 - whatever is awaited runs in one
        self._task, self._cancelled_before = task, task.cancelling()
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(self._deadline.left_s, self._look)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._timer.cancel()
        if self._has_passed:
            others = self._task.uncancel() > self._cancelled_before
            if kind is asyncio.CancelledError and not others:
                raise TimeoutError from error

    def _look(self) -> None:
        if (seconds := self._deadline.left_s) > 0:
            self._timer = self._loop.call_later(max(seconds, LOOK_AGAIN_S), self._look)
        else:
            self._has_passed = True
            self._task.cancel()


async def done_in_time(task: "asyncio.Future[Any]", deadline: Deadline) -> bool:
    """Whether the task is done by the deadline, which may be paused meanwhile."""
    while not task.done() and (seconds := deadline.left_s) > 0:
        await asyncio.wait({task}, timeout=max(seconds, LOOK_AGAIN_S))
    return task.done()
