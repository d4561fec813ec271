"""Whether what is known of a server is what it lists now, and what was decided about it by now.

Everything here runs on the loop of the engine room.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.sources.mcp.memory import Memory

if TYPE_CHECKING:
    from toolcrib.sources.mcp.connection import Connection

LIST_S = 15.0
FRESH_S = 1.0
RARELY_S = 60.0
REVIEW_S = 2.0

Spawn: TypeAlias = Callable[[Coroutine[object, object, None]], None]


class Freshness:
    """Of one server. `tell` hears when what is known of it is another.

    `connection` is the one that is up, if any: whoever keeps the server sets it.
    """

    def __init__(self, memory: Memory, tell: Callable[[], None], spawn: Spawn) -> None:
        self.connection: Connection | None = None
        self._memory = memory
        self._tell = tell
        self._spawn = spawn
        self._stale = self._freshening = False
        self._listing = asyncio.Lock()
        self._listed_at = 0.0
        self._heeding: asyncio.Task[None] | None = None

    def listed(self, connection: "Connection") -> None:
        """The server was listed as it came up; it may have said meanwhile that that is old."""
        self._listed_at = time.monotonic()
        self.connection = connection
        if self._stale:
            self.changed()

    def changed(self) -> None:
        """The server says that its list is another: list it, though not every time it says so."""
        self._stale = True
        if self.connection and not self._freshening:
            self._freshening = True
            self._spawn(self._freshen(self.connection))

    async def before_use(self, connection: "Connection") -> None:
        """List anew what is said to be old, unless that was done just now."""
        if self._stale and time.monotonic() - self._listed_at >= FRESH_S:
            self._stale = False
            await self.relist(connection)

    async def relist(self, connection: "Connection") -> bool:
        """List again; whether that brought something new. What fails leaves what was known."""
        async with self._listing:
            try:
                listing = await connection.list_all(time.monotonic() + LIST_S)
            except Exception:  # noqa: BLE001 - the next call will say what is wrong with it
                return False
            self._listed_at = time.monotonic()
            new = await asyncio.to_thread(self._memory.keep_listing, listing)
        if new:
            self._tell()
        return new

    async def heed(self) -> None:
        """While tools wait for a decision, hear of it soon, whichever process it is made in."""
        if self._heeding is None:
            self._heeding = asyncio.create_task(self._heed())

    def close(self) -> None:
        if self._heeding:
            self._heeding.cancel()

    async def _freshen(self, connection: "Connection") -> None:
        pause = FRESH_S
        try:
            while self._stale and connection is self.connection:
                await _sleep_or(pause, connection)
                if self._stale and connection is self.connection:
                    self._stale = False
                    new = await self.relist(connection)
                    pause = FRESH_S if new else min(2 * pause, RARELY_S)
        finally:
            self._freshening = False

    async def _heed(self) -> None:
        last = self._memory.judgement
        while last.held():
            await asyncio.sleep(REVIEW_S)
            now = await asyncio.to_thread(lambda: self._memory.judgement)
            if now is not last:
                last = now
                self._tell()
        self._heeding = None


async def _sleep_or(seconds: float, connection: "Connection") -> None:
    """Sleep, or as long as the connection lasts."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await connection.wait_lost()
