"""An event loop in a thread of its own, for hosts that are not async."""

import asyncio
from collections.abc import Coroutine
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for threads that cannot await. It starts with the first one.

    One loop for all of them, so that what a source keeps open between calls stays usable.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What it returns or raises, in the context of the calling thread. Blocks until then."""
        return asyncio.run_coroutine_threadsafe(work, self._started()).result()

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                target = self._loop.run_forever
                Thread(target=target, daemon=True, name="toolcrib-calls").start()
            return self._loop
