"""When a server that fails may be tried again: backing off, and a circuit that opens.

    closed ── 5 failures in 30 s ──> open ── rest ──> half open ── one good call ──> closed
                                      ^─────────────── one failure ─────┘

Apart from that, each failure in a row doubles the wait before the next start. The clock is the
caller's.
"""

import random
from collections import deque

MOST_FAILURES = 5
WINDOW_S = 30.0
REST_S = 30.0
LONGEST_S = 60.0
ASK_AGAIN_S = 1.0
JITTER = 0.2


class Breaker:
    """The record of one server."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random  # spreads load, guards no secret
        self._recent: deque[float] = deque(maxlen=MOST_FAILURES)
        self._in_a_row = 0
        self._timeouts = 0
        self._times_open = 0
        self._not_before = 0.0
        self._on_trial = False

    def admit(self, now: float) -> float:
        """0: go ahead, and call `leave` at the end. Else the seconds to wait first."""
        if now < self._not_before:
            return self._not_before - now
        if self._times_open and self._on_trial:
            return ASK_AGAIN_S
        self._on_trial = True
        return 0.0

    def closed(self, now: float) -> bool:
        """Whether the server may be started without a call that needs it."""
        return not self._times_open and now >= self._not_before

    def leave(self) -> None:
        """The request that was admitted is done, however it ended."""
        self._on_trial = False

    def succeeded(self) -> None:
        """It answered: no wait. The failures of the last seconds still count together."""
        self._in_a_row = self._times_open = self._timeouts = 0
        self._not_before = 0.0

    def failed(self, now: float, *, was_up: bool) -> None:
        """It did not start, or it crashed. After a crash it may be started again at once."""
        self._recent.append(now)
        self._in_a_row += 1
        wait = _backoff(self._in_a_row - was_up)
        often = len(self._recent) == MOST_FAILURES and now - self._recent[0] <= WINDOW_S
        if often or self._times_open:
            wait = max(wait, min(LONGEST_S, REST_S * 2**self._times_open))
            self._times_open += 1
        wait *= 1 + JITTER * self._chance.random()
        self._not_before = max(self._not_before, now + wait)

    def timed_out(self, now: float) -> bool:
        """It did not answer in time. True: that was once too often, and it has to be stopped."""
        self._timeouts += 1
        if self._timeouts < MOST_FAILURES:
            return False
        self._timeouts = 0
        self.failed(now, was_up=True)
        return True


def _backoff(failures: int) -> float:
    return min(LONGEST_S, 2.0 ** (failures - 1)) if failures else 0.0
