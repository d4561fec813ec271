"""Work on a thread in the background."""

import atexit
from collections.abc import Callable
from threading import Condition, Thread


class BackgroundWorker:
    """One thread while there is work, and none while there is not.

    `step` does a bit of the work and says whether more is left. When the program ends, so does the
    thread, after the step that is being done: some libraries do not bear to be left within it.
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
        """Until nothing is being worked at; whether that came in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._thread is None, timeout_s)

    def close(self) -> None:
        """End after the step that is being done, and wait for that."""
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
        """Whether somebody called since we last looked; if not, this thread has ended."""
        with self._changed:
            called, self._called = self._called and not self._closed, False
            if not called:
                self._thread = None
                self._changed.notify_all()
            return called
