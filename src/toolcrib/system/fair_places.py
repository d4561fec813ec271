"""A few places that all callers share: threads, processes, lines in a list.

No caller can take so many that another, who has none yet, finds none left.
"""

from collections import Counter
from concurrent.futures import Future
from threading import RLock


def is_fair(held: int, free: int) -> bool:
    """Whether a caller who has so many gets one more of the free ones: alone at most half of all.

    The more callers there are, the fewer each gets.
    """
    return held < free


class FairPlaces:
    """So many places, for callers by their ids. Safe to share between threads and event loops.

    Of those who wait, the next is who has the fewest places, and of these who came first.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._held = Counter[str]()
        self._waiting: list[tuple[str, Future[None]]] = []
        self._lock = RLock()

    async def enter(self, caller: str) -> None:
        """Wait for a place; `leave` has to follow. Cancelled, it takes none."""
        import asyncio  # noqa: PLC0415 - a search on the command line, which calls nothing, has none

        turn = Future[None]()
        with self._lock:
            self._waiting.append((caller, turn))
            self._go_on()
        try:
            await asyncio.wrap_future(turn)
        except BaseException:
            if not turn.cancel():  # it got its place at that very moment
                self.leave(caller)
            raise

    def leave(self, caller: str) -> None:
        """Give a place back."""
        with self._lock:
            self._free += 1
            self._held -= Counter([caller])
            self._go_on()

    def _go_on(self) -> None:
        held = self._held
        while fair := [each for each in self._waiting if is_fair(held[each[0]], self._free)]:
            caller, turn = chosen = min(fair, key=lambda each: held[each[0]])
            self._waiting.remove(chosen)
            if turn.set_running_or_notify_cancel():
                self._free -= 1
                self._held[caller] += 1
                turn.set_result(None)
