"""How much is done at once: beyond that, whoever comes is told so at once, and when to come again.

A queue without end would serve everybody late. What is admitted is finished.
"""

from collections import Counter

RETRY_S = 1


class Overloaded(Exception):
    """Too much is under way already. The message says whose, and what to do."""


class Admission:
    """Counts what is under way, for each guest and in all."""

    def __init__(self, most_of_one: int = 64, most: int = 256) -> None:
        self._most_of_one = most_of_one
        self._most = most
        self._running = Counter[str]()

    @property
    def running(self) -> int:
        """How many requests are under way."""
        return self._running.total()

    def enter(self, guest: str) -> None:
        """One more of this guest; `leave` has to follow. Raises `Overloaded`."""
        if self._running[guest] >= self._most_of_one:
            told = f"{self._most_of_one} requests of yours are under way"
            raise Overloaded(f"{told}; try again in {RETRY_S} s")
        if self.running >= self._most:
            raise Overloaded(f"{self._most} requests are under way; try again in {RETRY_S} s")
        self._running[guest] += 1

    def leave(self, guest: str) -> None:
        """One less."""
        self._running[guest] -= 1
        if not self._running[guest]:
            del self._running[guest]
