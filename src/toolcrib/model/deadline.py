"""The deadline of a call: made once, where the call is admitted, and handed down with it.

The one noun here that has state, for time has: while the call waits for a person, or for a server
that is being installed, its time stands still for everybody who holds the deadline.
"""

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock


class _CallClock:
    """The monotonic clock, without the time in which it stood still."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses = 0
        self._stopped_at = self._stood_s = 0.0

    def now(self) -> float:
        with self._lock:
            return (self._stopped_at if self._pauses else time.monotonic()) - self._stood_s

    @contextmanager
    def pause(self) -> Generator[None]:
        with self._lock:
            if not self._pauses:
                self._stopped_at = time.monotonic()
            self._pauses += 1
        try:
            yield
        finally:
            with self._lock:
                self._pauses -= 1
                if not self._pauses:
                    self._stood_s += time.monotonic() - self._stopped_at


class Deadline:
    """When a call has to be done: so many seconds from now. Safe to share between threads."""

    def __init__(self, limit_s: float) -> None:
        self._clock = _CallClock()
        self._at = self._clock.now() + limit_s

    @property
    def left_s(self) -> float:
        """The seconds that are left, never below zero."""
        return max(0.0, self._at - self._clock.now())

    def pause(self) -> AbstractContextManager[None]:
        """Let the time stand still meanwhile. Several pauses at once count as one."""
        return self._clock.pause()

    def sooner(self, limit_s: float) -> "Deadline":
        """One in so many seconds, if that is before this. A pause of either is one of both."""
        return self._in(min(self.left_s, limit_s))

    def with_grace(self, grace_s: float) -> "Deadline":
        """One that comes so much later, or so long from now. A pause of either is one of both."""
        return self._in(self.left_s + grace_s)

    def _in(self, seconds: float) -> "Deadline":
        """One in so many seconds, by the same clock."""
        other = Deadline.__new__(Deadline)
        other._clock = self._clock  # noqa: SLF001 - of the same class
        other._at = self._clock.now() + seconds  # noqa: SLF001
        return other
