"""The deadline of a call: made once, where the call is admitted, and handed down with it.

The one noun here that has state, for time has: while the call waits for a person, or for a server
that is being installed, its time stands still for everybody who holds the deadline. Where the call
itself has set no limit, a tool that reports progress gets more of it, up to `MOST_S`.
"""

import time
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from math import inf
from threading import Lock
from typing import Self

MOST_S = 6 * 3600.0
"""How long a call may take that has set no limit, with progress."""


class _CallClock:
    """The monotonic clock, without the time in which it stood still.

    It can be set back by as many seconds as are to spare.
    """

    def __init__(self, spare_s: float) -> None:
        self._spare_s = spare_s
        self._lock = Lock()
        self._pauses = 0
        self._stopped_at = self._stood_s = 0.0

    def now(self) -> float:
        with self._lock:
            return (self._stopped_at if self._pauses else time.monotonic()) - self._stood_s

    def set_back(self, seconds: float) -> bool:
        """By so many, if above zero, or by what there is to spare; whether that was enough."""
        with self._lock:
            given = max(0.0, min(seconds, self._spare_s))
            self._spare_s -= given
            self._stood_s += given
        return given >= seconds

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
    """When a call has to be done: so many seconds from now. Safe to share between threads.

    `setting` says where the limit comes from. With `spare_s` it is nobody's wish, and may come so
    much later.
    """

    def __init__(
        self, limit_s: float, setting: str = "`timeout_s` of the call", spare_s: float = 0.0
    ) -> None:
        self._clock = _CallClock(spare_s)
        self._limit_s, self._setting = limit_s, setting
        self._at = self._clock.now() + limit_s

    @property
    def left_s(self) -> float:
        """The seconds that are left, never below zero."""
        return max(0.0, self._at - self._clock.now())

    def pause(self) -> AbstractContextManager[None]:
        """Let the time stand still meanwhile. Several pauses at once count as one."""
        return self._clock.pause()

    @classmethod
    def by_default(cls, limit_s: float, most_s: float = inf) -> Self:
        """That of a call without a limit: with progress it may last `MOST_S`, or `most_s`."""
        limit_s = min(limit_s, most_s)
        spare_s = min(most_s, MOST_S) - limit_s
        return cls(limit_s, "`call.timeout_s` in the settings", max(0.0, spare_s))

    @property
    def passed(self) -> str:
        """What is to be said when it has passed: the limit, where it is set, and what to do."""
        limit = f"{round(self._limit_s, 1):g} s, by {self._setting}"
        return (
            f"no answer in time ({limit}), so nobody knows whether it took effect; "
            "look before you call again, or allow it more time"
        )

    def renew(self) -> None:
        """There is progress: as much time as at first is left again, if there is some to spare."""
        self._clock.set_back(self._limit_s - self.left_s)

    def limited(self, limit_s: float, setting: str) -> "Deadline":
        """One in so many seconds, if that is sooner or there is time to spare; else this.

        `setting` says so. A pause of either is one of both.
        """
        fits = self._clock.set_back(limit_s - self.left_s)
        return self._in(limit_s, setting) if fits else self

    def with_grace(self, grace_s: float) -> "Deadline":
        """One that comes so much later, or so long from now. A pause of either is one of both."""
        return self._in(self.left_s + grace_s, self._setting)

    def _in(self, seconds: float, setting: str) -> "Deadline":
        """One in so many seconds, by the same clock."""
        other = Deadline.__new__(Deadline)
        other._clock = self._clock  # noqa: SLF001 - of the same class
        other._limit_s, other._setting = seconds, setting  # noqa: SLF001
        other._at = self._clock.now() + seconds  # noqa: SLF001
        return other
