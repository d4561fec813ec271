"""Work on a thread in the background."""

import atexit
import os
from collections.abc import Callable
from functools import partial
from threading import Condition, RLock, Thread
from weakref import WeakMethod


class BackgroundWorker:
    """One thread while there is work, and none while there is not.

    `step` does a part of the work and returns whether more is left. When the program ends, the
    thread ends after the current step: some libraries crash when they are left in the middle.

    A fork waits for the end of the current step, so that the child has nothing of it half done. It
    takes no thread along: the child, such as a worker of gunicorn, goes on with one of its own.
    """

    def __init__(self, step: Callable[[], bool], *, name: str) -> None:
        self._step = step
        self._name = name
        self._changed = Condition()
        self._thread: Thread | None = None
        self._called = False
        self._closed = False
        self._turn, self._stepping = RLock(), RLock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(
                before=partial(_call, WeakMethod(self._before_fork)),
                after_in_parent=partial(_call, WeakMethod(self._after_fork)),
                after_in_child=partial(_call, WeakMethod(self._in_child)),
            )

    def wake(self) -> None:
        """There is work. Does nothing once closed."""
        with self._changed:
            self._called = True
            if self._thread is None and not self._closed:
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                atexit.register(self.close)
                self._thread.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until no work is left; False if the time was up."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout_s)

    def close(self) -> None:
        """End after the current step, and wait for that."""
        with self._changed:
            self._closed = True
            thread = self._thread
        if thread:
            thread.join()

    def _run(self) -> None:
        try:
            while self._go_on():
                while self._take_step() and not self._closed:
                    pass
        finally:
            atexit.unregister(self.close)
            with self._changed:
                self._thread = None
                self._changed.notify_all()

    def _take_step(self) -> bool:
        with self._turn:  # of a fork, which would else wait for all steps
            pass
        with self._stepping:
            return self._step()

    def _before_fork(self) -> None:
        for lock in (self._turn, self._stepping, self._changed):
            lock.acquire()

    def _after_fork(self) -> None:
        for lock in (self._changed, self._stepping, self._turn):
            lock.release()

    def _in_child(self) -> None:
        was_at_work, self._thread = self._thread is not None, None
        self._after_fork()
        if was_at_work:
            self.wake()

    def _go_on(self) -> bool:
        """Whether `wake` was called since the last look; if not, this thread ends."""
        with self._changed:
            called, self._called = self._called and not self._closed, False
            if not called:
                self._thread = None
                self._changed.notify_all()
            return called


def _call(method: "WeakMethod[Callable[[], None]]") -> None:
    """Tell a worker of a fork, if it is still there."""
    if found := method():
        found()
