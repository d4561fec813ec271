from threading import Event

import pytest

from toolcrib.embed.within import within


def test_it_gives_what_the_work_gives():
    assert within(60, lambda: 7) == 7


def test_it_raises_what_the_work_raises():
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 / 0)


@pytest.mark.parametrize("seconds", [0.01, 0, -1])
def test_it_does_not_wait_for_work_that_does_not_end(seconds):
    over = Event()
    with pytest.raises(TimeoutError):
        within(seconds, over.wait)
    over.set()
