"""What keeps a call to its deadline, and what it is when that has passed.

A person takes longer than a program. So the deadline of a call is paused while it asks
(`CallQuestions`), and each question has a limit of its own instead. A call that asks without end is
not heard any more.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from toolcrib.model import CallError, Deadline, InputHandler, InputRequest, JsonObject

REPLY_S = 300.0
MOST_QUESTIONS = 20
LOOK_AGAIN_S = 0.05

DEADLINE_PASSED = CallError(
    "deadline",
    "call",
    "no answer by the deadline, so nobody knows whether it took effect; "
    "look before you call again, or allow it more time",
    effect="unknown",
)

_log = logging.getLogger(__name__)


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


async def done_in_time(task: "asyncio.Future[Any]", deadline: Deadline) -> bool:
    """Whether the task is done by the deadline, which may be paused meanwhile."""
    while not task.done() and (seconds := deadline.left_s) > 0:
        await asyncio.wait({task}, timeout=max(seconds, LOOK_AGAIN_S))
    return task.done()
