"""The thread where all connections live, whatever loop their callers are on, or none."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

MOST_STARTS = 4
JOIN_S = 5.0
LAST_WORDS_S = 1.0

T = TypeVar("T")


class EngineRoom:
    """One background thread with an event loop of its own, started when it is first needed.

    `starts` caps how many servers start at once. `closing` are called, all at once, by `close`.
    """

    def __init__(self, most_starts: int = MOST_STARTS) -> None:
        self.starts = asyncio.Semaphore(most_starts)
        self.closing: list[Callable[[], Awaitable[None]]] = []
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(self, work: Coroutine[object, object, T]) -> "Future[T]":
        """Run it there; cancelling the future cancels it. Raises `RuntimeError` once closed."""
        try:
            loop = self._running()
        except RuntimeError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop)

    async def run(self, work: Coroutine[object, object, T]) -> T:
        """The same, awaited here; cancelling it here cancels it there."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        """Close all that lives here, then end the thread. Returns when no process is left."""
        with self._lock:
            loop, thread, self._closed = self._loop, self._thread, True
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._close_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join(JOIN_S)

    async def _close_all(self) -> None:
        await asyncio.gather(*(close() for close in self.closing), return_exceptions=True)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=LAST_WORDS_S)  # whoever waits gets an answer

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the connections are closed; make a new crib")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_work, args=(self._loop,), name="toolcrib-mcp", daemon=True
                )
                self._thread.start()
            return self._loop


def _work(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped, then end what is still on it."""
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
