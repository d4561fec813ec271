import pytest

from toolcrib.gateway import quotas as module
from toolcrib.gateway.quotas import (
    Overloaded,
    Quota,
    QuotaExceeded,
    RateLimiter,
    RequestLimiter,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def of(owner: str, at_once: int = 2) -> tuple[Quota]:
    return (Quota(owner, at_once=at_once),)


def test_each_owner_has_a_bound_and_so_have_all():
    limiter = RequestLimiter(most=3)
    limiter.enter(of("a"))
    limiter.enter(of("a"))
    with pytest.raises(QuotaExceeded, match=r"2 requests of a.*try again"):
        limiter.enter(of("a"))
    limiter.enter(of("b"))
    with pytest.raises(Overloaded, match="3 requests are under way") as refused:
        limiter.enter(of("c"))
    assert not isinstance(refused.value, QuotaExceeded)
    limiter.leave(of("a"))
    limiter.enter(of("c"))
    assert limiter.running == 3


def test_what_two_keys_of_a_tenant_have_under_way_counts_for_both():
    limiter = RequestLimiter()
    tenant = Quota("tenant:t", at_once=3)
    one, other = (Quota("a"), tenant), (Quota("b"), tenant)
    limiter.enter(one)
    limiter.enter(one)
    limiter.enter(other)
    with pytest.raises(QuotaExceeded, match="tenant:t"):
        limiter.enter(other)
    limiter.leave(one)
    limiter.enter(other)


def test_nobody_is_remembered_who_has_nothing_under_way():
    limiter = RequestLimiter()
    for number in range(100):
        limiter.enter(of(str(number)))
        limiter.leave(of(str(number)))
    assert not limiter._running
    assert limiter.running == 0


def test_a_minutes_requests_may_come_at_once_and_then_as_they_are_earned():
    clock = Clock()
    limiter = RateLimiter(clock)
    quota = (Quota("a", rate=6),)
    for _ in range(6):
        limiter.spend(quota)
    with pytest.raises(QuotaExceeded) as refused:
        limiter.spend(quota)
    assert refused.value.retry_after_s == 10
    clock.now += 9
    with pytest.raises(QuotaExceeded) as refused:
        limiter.spend(quota)
    assert refused.value.retry_after_s == 1
    clock.now += refused.value.retry_after_s
    limiter.spend(quota)
    clock.now += 10_000  # an idle hour earns no more than a minute's
    for _ in range(6):
        limiter.spend(quota)
    with pytest.raises(QuotaExceeded):
        limiter.spend(quota)


def test_what_one_quota_refuses_costs_no_other_anything():
    limiter = RateLimiter(Clock())
    tenant = Quota("tenant", rate=2)
    limiter.spend((Quota("a", rate=1), tenant))
    for _ in range(5):
        with pytest.raises(QuotaExceeded, match="a may make 1"):
            limiter.spend((Quota("a", rate=1), tenant))
    limiter.spend((Quota("b", rate=1), tenant))
    with pytest.raises(QuotaExceeded, match="tenant may make 2"):
        limiter.spend((Quota("c", rate=1), tenant))


def test_a_request_that_is_refused_for_another_reason_costs_no_rate():
    limiter = RequestLimiter(1, RateLimiter(Clock()))
    quotas = (Quota("a", rate=2, at_once=1),)
    limiter.enter(quotas)
    for _ in range(5):
        with pytest.raises(QuotaExceeded, match="under way"):
            limiter.enter(quotas)
    limiter.leave(quotas)
    limiter.enter(quotas)


def test_many_owners_take_bounded_memory_and_the_busy_stay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST_BUCKETS", 50)
    clock = Clock()
    limiter = RateLimiter(clock)
    busy = (Quota("busy", rate=1_000),)
    for number in range(500):
        limiter.spend((Quota(f"key:{number}", rate=1),))
        limiter.spend(busy)
    assert len(limiter._buckets) == 50
    assert limiter._buckets["busy"].tokens == 500


def test_without_a_rate_nothing_is_kept():
    limiter = RateLimiter()
    for number in range(100):
        limiter.spend((Quota(str(number)),))
    assert not limiter._buckets


def test_nobody_is_counted_who_has_nothing_under_way():
    limiter = RequestLimiter()
    both = (Quota("ann", at_once=2), Quota("all", at_once=3))
    for _ in range(2):
        limiter.enter(both)
    limiter.leave(both)
    limiter.enter(both)
    with pytest.raises(QuotaExceeded, match="ann"):
        limiter.enter(both)
    for _ in range(2):
        limiter.leave(both)
    assert limiter.running == 0
    assert not limiter._running  # pyright: ignore[reportPrivateUsage]
