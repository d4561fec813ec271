"""The deadline of a call: how long it has, and what it is when that is over.

A person takes longer than a program. So the clock of a call (`CallClock`) stands still while it
asks, and each question has a limit of its own instead. A call that asks without end is not heard
any more. The clock may also be stopped for what has a limit elsewhere, such as the install of a
server.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from toolcrib.model import CallContext, CallError, InputHandler, InputRequest, JsonObject

DEADLINE_PASSED = CallError(
    "deadline",
    "call",
    "no answer by the deadline, so nobody knows whether it took effect; "
    "look before you call again, or allow it more time",
    effect="unknown",
)


def seconds_left(running: CallContext) -> float:
    """The seconds until the deadline, never below zero."""
    return max(0.0, running.deadline - time.monotonic())


# Waiting in the middle of a call: time that its own deadline does not count.

REPLY_S = 300.0
MOST_QUESTIONS = 20
LOOK_AGAIN_S = 0.05

_log = logging.getLogger(__name__)


class CallClock:
    """What one call waits for, and how long. `spent_s` goes on while a question is open.

    Questions are asked on one loop; `pause` may be entered on any thread.
    """

    def __init__(self, ask: InputHandler) -> None:
        self._ask = ask
        self._asked = 0
        self._open: set[asyncio.Future[Mapping[str, JsonObject]]] = set()
        self._lock = threading.Lock()
        self._pauses = 0
        self._since = self._before_s = 0.0

    @property
    def spent_s(self) -> float:
        return self._before_s + (time.monotonic() - self._since if self._pauses else 0.0)

    async def ask(self, asked: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        """The replies. Nothing if nobody replies in time, or after too many questions."""
        self._asked += 1
        if self._asked > MOST_QUESTIONS:
            return {}
        task = asyncio.ensure_future(self._ask(asked))
        self._open.add(task)
        try:
            with self.pause():
                await asyncio.wait({task}, timeout=REPLY_S)
        finally:
            self._open.discard(task)
            task.cancel()
        return _reply(task)

    def close(self) -> None:
        """Take back what was asked: nobody waits for it any more."""
        for task in self._open:
            task.cancel()

    @contextmanager
    def pause(self) -> Generator[None]:
        """Stop the clock meanwhile."""
        with self._lock:
            if not self._pauses:
                self._since = time.monotonic()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                spent = self.spent_s
                self._pauses -= 1
                if not self._pauses:
                    self._before_s = spent


def _reply(task: "asyncio.Future[Mapping[str, JsonObject]]") -> Mapping[str, JsonObject]:
    if not task.done() or task.cancelled():
        return {}
    with suppress(Exception):
        return task.result()
    _log.error("nobody could be asked", exc_info=task.exception())
    return {}


async def done_in_time(task: "asyncio.Future[Any]", left: Callable[[], float]) -> bool:
    """Whether the task is done before nothing is `left`; that may become more meanwhile."""
    while not task.done() and (seconds := left()) > 0:
        await asyncio.wait({task}, timeout=max(seconds, LOOK_AGAIN_S))
    return task.done()
