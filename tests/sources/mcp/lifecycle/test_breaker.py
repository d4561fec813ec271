from itertools import pairwise
from random import Random

from toolcrib.sources.mcp.lifecycle.breaker import MOST_FAILURES, Breaker


def starts_in(seconds, *, was_up):
    """When a server that fails at once is tried, with somebody calling every tenth of a second."""
    breaker, tried = Breaker(Random(1)), []
    for tenth in range(seconds * 10):
        now = 1000 + tenth / 10
        if not breaker.admit(now):
            tried.append(now - 1000)
            breaker.failed(now, was_up=was_up)
            breaker.leave()
    return tried


def test_a_server_that_does_not_start_is_tried_six_times_a_minute_at_most():
    assert 4 <= len(starts_in(60, was_up=False)) <= 6
    assert 4 <= len(starts_in(60, was_up=True)) <= 6


def test_waits_grow_and_are_bounded():
    tried = starts_in(600, was_up=False)
    waits = [after - before for before, after in pairwise(tried)]
    assert waits[:4] == sorted(waits[:4])
    assert max(waits) <= 60 * 1.2 + 0.1


def test_a_crash_of_one_that_was_up_costs_no_wait():
    breaker = Breaker()
    breaker.failed(1000, was_up=True)
    assert breaker.admit(1000) == 0


def test_a_success_closes_the_circuit():
    breaker = Breaker()
    for _ in range(5):
        breaker.failed(1000, was_up=True)
    assert breaker.admit(1001) > 25
    assert breaker.admit(1037) == 0
    assert breaker.admit(1037) == 1.0
    breaker.succeeded()
    breaker.leave()
    assert breaker.admit(1037) == breaker.admit(1037) == 0


def test_a_failure_on_trial_opens_it_again_for_longer():
    breaker = Breaker()
    for _ in range(5):
        breaker.failed(1000, was_up=True)
    assert breaker.admit(1037) == 0
    breaker.failed(1037, was_up=True)
    breaker.leave()
    assert breaker.admit(1037 + 59) > 0


def test_failures_far_apart_do_not_add_up():
    breaker = Breaker()
    for number in range(20):
        now = 1000 + 40 * number
        assert breaker.admit(now) == 0
        breaker.failed(now, was_up=True)
        breaker.succeeded()
        breaker.leave()


def test_closed_is_while_nothing_speaks_against_a_start():
    breaker = Breaker()
    assert breaker.closed(0.0)
    breaker.failed(0.0, was_up=False)
    assert not breaker.closed(0.5)
    assert breaker.closed(5.0)
    for _ in range(MOST_FAILURES):
        breaker.failed(5.0, was_up=True)
    assert not breaker.closed(1e6)
