"""One deadline for all who work on a call."""

from threading import Thread

import pytest

from toolcrib.model import Deadline, deadline


class Time:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    time = Time()
    monkeypatch.setattr(deadline, "time", time)
    return time


def test_there_is_time_until_the_deadline_and_none_after_it(time: Time):
    one = Deadline(10)
    time.now += 4
    assert one.left_s == 6
    time.now += 9
    assert one.left_s == 0
    assert Deadline(-5).left_s == 0


def test_in_a_pause_it_stands_still_however_often_it_is_paused(time: Time):
    one = Deadline(10)
    with one.pause():
        time.now += 100
        with one.pause():
            time.now += 100
        assert one.left_s == 10
    time.now += 3
    with one.pause():
        time.now += 100
    assert one.left_s == 7


def test_a_pause_may_end_on_another_thread(time: Time):
    one, pause = Deadline(10), None
    pause = one.pause()
    pause.__enter__()
    time.now += 50
    ending = Thread(target=lambda: pause.__exit__(None, None, None))
    ending.start()
    ending.join()
    time.now += 1
    assert one.left_s == 9


@pytest.mark.parametrize(("limit_s", "left_s"), [(3, 3), (30, 10)])
def test_an_earlier_one_is_paused_with_it(time: Time, limit_s: float, left_s: float):
    one = Deadline(10)
    earlier = one.limited(limit_s, "of another")
    with one.pause():
        time.now += 100
    assert (one.left_s, earlier.left_s) == (10, left_s)


@pytest.mark.parametrize(("gone_s", "left_s"), [(4, 8), (40, 2)])
def test_grace_is_added_even_when_the_time_is_up(time: Time, gone_s: float, left_s: float):
    one = Deadline(10)
    time.now += gone_s
    late = one.with_grace(2)
    with late.pause():
        time.now += 100
    assert late.left_s == left_s


def test_progress_moves_a_limit_that_nobody_has_set(time: Time):
    of_call = Deadline.by_default(60)
    of_server = of_call.limited(300, "of a server")
    graced = of_server.with_grace(1)
    for _ in range(5):
        time.now += 200
        of_server.renew()
    assert (of_server.left_s, graced.left_s, of_call.left_s) == (300, 301, 300)


def test_progress_moves_it_no_further_than_a_bound(time: Time):
    one, begun = Deadline.by_default(60, most_s=150), time.now
    while one.left_s:
        time.now += 1
        one.renew()
    assert time.now - begun == 150
    assert Deadline.by_default(60, most_s=20).left_s == 20


def test_progress_moves_no_limit_that_the_call_has_set(time: Time):
    one = Deadline(60)
    of_server = one.limited(300, "of a server")
    time.now += 20
    of_server.renew()
    assert (one.left_s, of_server.left_s) == (40, 40)


def test_it_says_by_which_setting_it_has_passed():
    assert "(5 s, by `timeout_s` of the call)" in Deadline(5).passed
    by_default = Deadline.by_default(60)
    assert "(60 s, by `call.timeout_s` in the settings)" in by_default.passed
    assert "(300 s, by `x` there)" in by_default.limited(300, "`x` there").passed
    assert "(2 s, by `x` there)" in by_default.limited(2, "`x` there").with_grace(0).passed
