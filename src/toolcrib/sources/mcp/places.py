"""The places of a server: so many calls at once, and so many that may wait for one."""

import asyncio

from toolcrib.sources.mcp.start import StartFailed

MOST_AT_ONCE = 8
MOST_WAITING = 64


class Places:
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
