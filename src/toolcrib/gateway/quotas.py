"""How many requests are taken: of a key, a person or a tenant, and in all.

    Quota           what one of them may use: requests a minute, and at a time
    RateLimiter     requests a minute: a bucket of tokens for each owner
    RequestLimiter  requests under way, and the rate

A request beyond a bound is refused at once, with the time to try again: a queue without end would
serve everybody late. A request that is admitted is finished. What is beyond somebody's own quota is
`QuotaExceeded`; what is too much for all of us is `Overloaded`.
"""

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

AT_ONCE = 64
RETRY_S = 1
MINUTE_S = 60.0
MOST_BUCKETS = 10_000


class Quota(NamedTuple):
    """What one owner may use: requests a minute, and at a time; 0: no bound of their own."""

    owner: str
    rate: int = 0
    at_once: int = AT_ONCE


Quotas: TypeAlias = Sequence[Quota]
"""All that hold for one request: of whoever makes it, and of their tenant."""


class Overloaded(Exception):
    """Too much is under way already. The message says whose, and what to do."""

    def __init__(self, problem: str, retry_after_s: int = RETRY_S) -> None:
        super().__init__(f"{problem}; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class QuotaExceeded(Overloaded):
    """It is more than the owner of a quota may use."""


class _Bucket(NamedTuple):
    """So many tokens were there at that time."""

    tokens: float
    at: float


class RateLimiter:
    """Requests a minute. An owner may use those of a whole minute at once, and no more.

    Of too many owners, those that were idle longest are forgotten: they begin anew.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def spend(self, quotas: Quotas) -> None:
        """One request more, of all quotas or of none. Raises `QuotaExceeded`."""
        now = self._clock()
        left = {each: self._tokens(each, now) for each in quotas if each.rate}
        for quota, tokens in left.items():
            if tokens < 1:
                retry_s = math.ceil((1 - tokens) * MINUTE_S / quota.rate)
                problem = f"{quota.owner} may make {quota.rate} requests a minute"
                raise QuotaExceeded(problem, max(RETRY_S, retry_s))
        for quota, tokens in left.items():
            self._buckets[quota.owner] = _Bucket(tokens - 1, now)
            self._buckets.move_to_end(quota.owner)
        while len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)

    def _tokens(self, quota: Quota, now: float) -> float:
        bucket = self._buckets.get(quota.owner)
        if bucket is None:
            return float(quota.rate)
        return min(quota.rate, bucket.tokens + (now - bucket.at) * quota.rate / MINUTE_S)


class RequestLimiter:
    """Counts the requests under way, of each owner and in all. `rates` bounds them a minute."""

    def __init__(self, most: int = 256, rates: RateLimiter | None = None) -> None:
        self._most = most
        self._running = Counter[str]()
        self._total = 0
        self.rates = rates or RateLimiter()

    @property
    def running(self) -> int:
        """How many requests are under way."""
        return self._total

    def enter(self, quotas: Quotas) -> None:
        """One more of these; `leave` has to follow. Raises `QuotaExceeded` and `Overloaded`."""
        for quota in quotas:
            if quota.at_once and self._running[quota.owner] >= quota.at_once:
                raise QuotaExceeded(f"{quota.at_once} requests of {quota.owner} are under way")
        if self._total >= self._most:
            raise Overloaded(f"{self._most} requests are under way")
        self.rates.spend(quotas)
        for quota in quotas:
            self._running[quota.owner] += 1
        self._total += 1

    def leave(self, quotas: Quotas) -> None:
        """One less."""
        for quota in quotas:
            self._running[quota.owner] -= 1
            if self._running[quota.owner] <= 0:
                del self._running[quota.owner]
        self._total -= 1
