import subprocess
import sys
from pathlib import Path
from threading import Event, active_count
from threading import enumerate as threads

from tests.waiting import HANG_S
from toolcrib.index.worker import BackgroundWorker

PROGRAM = """
from threading import Event
from toolcrib.index.worker import BackgroundWorker

started = Event()

def step():
    started.set()
    Event().wait(0.3)
    print("step done", flush=True)
    return True

BackgroundWorker(step, name="until the end").wake()
started.wait(30)
print("working", flush=True)
"""

FORKING = """
import os
from threading import Event
from toolcrib.index.worker import BackgroundWorker

left, begun = list(range(20)), Event()

def step():
    left.pop()
    begun.set()
    Event().wait(0.02)
    return bool(left)

worker = BackgroundWorker(step, name="forked")
worker.wake()
begun.wait(30)
child = os.fork()
print("child" if child == 0 else "parent", worker.wait(30), left, flush=True)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""


def names() -> list[str]:
    return [thread.name for thread in threads()]


def test_it_works_until_nothing_is_left_and_ends():
    left = [3, 2, 1]
    worker = BackgroundWorker(lambda: bool(left and left.pop()) and bool(left), name="test-worker")
    worker.wake()
    assert worker.wait(HANG_S)
    assert left == []
    assert "test-worker" not in names() or worker.wait(HANG_S)


def test_nobody_called_is_nothing_to_wait_for():
    assert BackgroundWorker(lambda: True, name="idle").wait(0)


def test_a_call_meanwhile_is_heard():
    started, go, runs = Event(), Event(), []

    def step() -> bool:
        runs.append(1)
        started.set()
        go.wait(HANG_S)
        return False

    worker = BackgroundWorker(step, name="test-again")
    worker.wake()
    assert started.wait(HANG_S)
    worker.wake()
    assert not worker.wait(0)
    go.set()
    assert worker.wait(HANG_S)
    assert len(runs) == 2


def test_closing_waits_for_the_step_and_no_more():
    started, go, runs = Event(), Event(), []

    def step() -> bool:
        runs.append(1)
        started.set()
        go.wait(HANG_S)
        return True

    worker = BackgroundWorker(step, name="test-close")
    before = active_count()
    worker.wake()
    assert started.wait(HANG_S)
    go.set()
    worker.close()
    assert active_count() <= before
    worker.wake()
    assert "test-close" not in names()
    assert runs


def test_it_ends_before_the_program_does(tmp_path: Path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=True, timeout=HANG_S
    )
    assert done.stdout == "working\nstep done\n"


def test_after_a_fork_both_go_on():
    """As the workers of gunicorn do that share a preloaded program."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKING], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.splitlines()) == ["child True []", "parent True []"]
