"""The event loop on which all connections to servers live, and the limits that they share."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

from toolcrib.sources.mcp.outcome import StartFailed
from toolcrib.system import BackgroundLoop

MOST_STARTS = 4
MOST_INSTALLS = 4
MOST_LARGE_LISTS = 4
LAST_WORDS_S = 1.0

T = TypeVar("T")


class StartTurn:
    """A place among the starts, or among the installs for one that takes long."""

    def __init__(self, starts: asyncio.Semaphore, installs: asyncio.Semaphore) -> None:
        self._held = starts
        self._installs = installs

    async def step_aside(self) -> None:
        """Leave the place to others, if there is one among the installs."""
        if self._held is not self._installs and not self._installs.locked():
            await self._installs.acquire()  # at once
            self.end()
            self._held = self._installs

    def end(self) -> None:
        self._held.release()


class ServerLoop:
    """One loop for all servers: in the background, or the one that is given; see `BackgroundLoop`.

    `starts` caps how many servers start at once, `large_lists` how many of them list very much at
    once. `closing` are called, all at once, by `close`.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop | None = None, *, most_starts: int = MOST_STARTS
    ) -> None:
        self.starts = asyncio.Semaphore(most_starts)
        self._installs = asyncio.Semaphore(MOST_INSTALLS)
        self._packages: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.large_lists = asyncio.Semaphore(MOST_LARGE_LISTS)
        self.closing: list[Callable[[], Awaitable[None]]] = []
        self._is_shared = loop is not None
        self._background = BackgroundLoop("toolcrib-mcp", loop)

    @asynccontextmanager
    async def turn(self) -> "AsyncGenerator[StartTurn]":
        """A place among the few that start at once."""
        await self.starts.acquire()
        turn = StartTurn(self.starts, self._installs)
        try:
            yield turn
        finally:
            turn.end()

    @asynccontextmanager
    async def installing(self, package: str) -> AsyncGenerator[Callable[[], None]]:
        """Alone with this package, until what is given is called; "" is none, and waits for nobody.

        Two that fill one folder at once spoil it.
        """
        lock = self._packages.setdefault(package, asyncio.Lock()) if package else asyncio.Lock()
        await lock.acquire()
        held = [lock]

        def let_go() -> None:
            while held:
                held.pop().release()

        try:
            yield let_go
        finally:
            let_go()

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


# The places of a server: so many calls at once, and so many that may wait for one.

MOST_AT_ONCE = 8
MOST_WAITING = 64


class CallSlots:
    """Those of one server. `taken` are the calls that have one, or wait for it."""

    def __init__(self) -> None:
        self.taken = 0
        self._free = asyncio.Semaphore(MOST_AT_ONCE)

    async def enter(self) -> None:
        """Wait for a place. Raises `StartFailed` if too many do."""
        if self.taken >= MOST_AT_ONCE + MOST_WAITING:
            raise StartFailed("overloaded", "has too many calls waiting; call again later")
        self.taken += 1
        try:
            await self._free.acquire()
        except asyncio.CancelledError:
            self.taken -= 1
            raise

    def leave(self) -> None:
        self._free.release()
        self.taken -= 1
