"""Cribs that were closed, and are still in memory.

The stages of a crib point at each other, so it stays until Python looks for such rings. Python does
that when a quarter of all objects is new, whatever they weigh. Here it is done when the cribs weigh
too much.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import count
from weakref import finalize

from toolcrib.crib import Crib

_log = logging.getLogger(__name__)


class ClosedCribs:
    """How much memory they take. `free` frees those that nobody holds; it takes its time."""

    def __init__(self, free: Callable[[], object]) -> None:
        self._free = free
        self._numbers = count()
        self._sizes: dict[int, int] = {}

    @property
    def size(self) -> int:
        """About how many bytes, until they are freed."""
        return sum(tuple(self._sizes.values()))  # one may be freed at any moment, on any thread

    def add(self, crib: Crib, size: int) -> None:
        """Count one that was closed just now."""
        number = next(self._numbers)
        self._sizes[number] = size
        finalize(crib, self._sizes.pop, number, None).atexit = False

    async def free(self) -> None:
        """Free them. Those that somebody still holds are not waited for, and count no more."""
        await asyncio.to_thread(self._free)
        if held := tuple(self._sizes):
            _log.info("%d closed tenants are still held by what runs", len(held))
        for number in held:
            self._sizes.pop(number, None)
