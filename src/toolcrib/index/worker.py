"""Work on a thread in the background."""

import atexit
from collections.abc import Callable
from threading import Condition, Thread


class BackgroundWorker:
    """One thread while there is work, and none while there is not.

    `step` does a part of the work and returns whether more is left. When the program ends, the
    thread ends after the current step: some libraries crash when they are left in the middle.
    """

    def __init__(self, step: Callable[[], bool], *, name: str) -> None:
        self._step = step
        self._name = name
        self._changed = Condition()
        self._thread: Thread | None = None
        self._called = False
        self._closed = False

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
                while self._step() and not self._closed:
                    pass
        finally:
            atexit.unregister(self.close)
            with self._changed:
                self._thread = None
                self._changed.notify_all()

    def _go_on(self) -> bool:
        """Whether `wake` was called since the last look; if not, this thread ends."""
        with self._changed:
            called, self._called = self._called and not self._closed, False
            if not called:
                self._thread = None
                self._changed.notify_all()
            return called
