from threading import Event, active_count
from threading import enumerate as threads

from toolcrib.index.worker import Worker

LONG_S = 30


def names() -> list[str]:
    return [thread.name for thread in threads()]


def test_it_works_until_nothing_is_left_and_ends():
    left = [3, 2, 1]
    worker = Worker(lambda: bool(left and left.pop()) and bool(left), name="test-worker")
    worker.wake()
    assert worker.wait(LONG_S)
    assert left == []
    assert "test-worker" not in names() or worker.wait(LONG_S)


def test_nobody_called_is_nothing_to_wait_for():
    assert Worker(lambda: True, name="idle").wait(0)


def test_a_call_meanwhile_is_heard():
    started, go, runs = Event(), Event(), []

    def step() -> bool:
        runs.append(1)
        started.set()
        go.wait(LONG_S)
        return False

    worker = Worker(step, name="test-again")
    worker.wake()
    assert started.wait(LONG_S)
    worker.wake()
    assert not worker.wait(0)
    go.set()
    assert worker.wait(LONG_S)
    assert len(runs) == 2


def test_closing_waits_for_the_step_and_no_more():
    started, go, runs = Event(), Event(), []

    def step() -> bool:
        runs.append(1)
        started.set()
        go.wait(LONG_S)
        return True

    worker = Worker(step, name="test-close")
    before = active_count()
    worker.wake()
    assert started.wait(LONG_S)
    go.set()
    worker.close()
    assert active_count() <= before
    worker.wake()
    assert "test-close" not in names()
    assert runs
