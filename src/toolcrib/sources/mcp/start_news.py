"""What a caller hears while a server is started for it: how far that is, so that nobody gives up.

The start is the first step of a call. So its progress comes close to 1 and never there, and what
the tool then says of its own goes on from 1: the protocol wants progress to grow.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

from toolcrib.model import CallContext
from toolcrib.sources.mcp.startup import Phase

FIRST_S = 1.0
EVERY_S = 3.0
HALF_S = 30.0
"""After so many seconds the progress of a start is a half: nobody knows how long it takes."""

T = TypeVar("T")


class StartNews:
    """For one caller."""

    def __init__(
        self, server: str, running: CallContext, phase: Callable[[], Phase | None]
    ) -> None:
        self._server = server
        self._running = running
        self._phase = phase
        self._began = time.monotonic()
        self._told = False

    async def while_waiting_for(self, awake: Awaitable[T]) -> T:
        """What it gives; meanwhile the caller hears how far it is.

        Raises `TimeoutError` at the deadline of a call whose clock goes on.
        """
        pause = self._running.pause
        left_s = None if pause else self._running.deadline - self._began
        telling = asyncio.create_task(self._tell_all())
        try:
            with pause() if pause else nullcontext():
                async with asyncio.timeout(left_s):
                    return await awake
        finally:
            telling.cancel()

    async def _tell_all(self) -> None:
        """Tell what the start is at, again and again."""
        last = ""
        await asyncio.sleep(FIRST_S)
        while True:
            if phase := self._phase():
                self._tell(phase, is_new=phase.name != last)
                last = phase.name
            await asyncio.sleep(EVERY_S)

    def _tell(self, phase: Phase, *, is_new: bool) -> None:
        self._told = True
        spent = time.monotonic() - self._began
        words = f"MCP server {self._server!r}: {phase.words()}"
        self._running.progress(spent / (spent + HALF_S), None, words)
        if is_new:
            self._running.log({"level": "info", "logger": "toolcrib", "data": words})

    def after(self) -> CallContext:
        """The call from here on, once the server is up."""
        running = self._running
        if running.pause:  # its clock stood still
            running = replace(running, deadline=running.deadline + time.monotonic() - self._began)
        if not self._told:
            return running
        heard = self._running.progress

        def further(done: float, every: float | None, message: str) -> None:
            heard(1 + done, None if every is None else 1 + every, message)

        return replace(running, progress=further)
