"""Where all connections to servers live, and what they share."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

from toolcrib.sources.background_loop import BackgroundLoop

MOST_STARTS = 4
MOST_LARGE_LISTS = 4
LAST_WORDS_S = 1.0

T = TypeVar("T")


class EngineRoom:
    """One loop for all servers: in the background, or the one that is given; see `BackgroundLoop`.

    `starts` caps how many servers start at once, `large_lists` how many of them list very much at
    once. `closing` are called, all at once, by `close`.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop | None = None, *, most_starts: int = MOST_STARTS
    ) -> None:
        self.starts = asyncio.Semaphore(most_starts)
        self.large_lists = asyncio.Semaphore(MOST_LARGE_LISTS)
        self.closing: list[Callable[[], Awaitable[None]]] = []
        self._is_shared = loop is not None
        self._background = BackgroundLoop("toolcrib-mcp", loop)

    def submit(self, work: Coroutine[object, object, T]) -> "Future[T]":
        """Run it there; cancelling the future cancels it. Raises `RuntimeError` once closed."""
        return self._background.submit(work)

    async def run(self, work: Coroutine[object, object, T]) -> T:
        """The same, awaited here; cancelling it here cancels it there."""
        return await self._background.run(work)

    def close(self) -> None:
        """Close all that lives here, then end the thread. Returns when no process is left."""
        self._background.close(self._close_all)

    async def _close_all(self) -> None:
        await asyncio.gather(*(close() for close in self.closing), return_exceptions=True)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left and not self._is_shared:
            await asyncio.wait(left, timeout=LAST_WORDS_S)  # whoever waits gets an answer
