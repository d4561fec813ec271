from threading import Event

import pytest

from toolcrib.embed.openai import call_within


def test_it_gives_what_the_work_gives():
    assert call_within(60, lambda: 7) == 7


def test_it_raises_what_the_work_raises():
    with pytest.raises(ZeroDivisionError):
        call_within(60, lambda: 1 / 0)


@pytest.mark.parametrize("seconds", [0.01, 0, -1])
def test_it_does_not_wait_for_work_that_does_not_end(seconds):
    over = Event()
    with pytest.raises(TimeoutError):
        call_within(seconds, over.wait)
    over.set()
