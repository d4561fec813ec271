"""The memory of this process: what nobody reaches any more, and what the system gets back.

Objects that point at each other stay until Python looks for such rings. It looks through all that
there is, with every thread stopped, and only when a quarter of it is new. And what is freed stays
with the process, in pieces between what is still used.
"""

import gc
from contextlib import suppress
from typing import Any

_MOST_ARENAS = -8
"""The number of this option of the C library, as its `malloc.h` has it."""
_OLDEST = 2
"""The generation whose collection is a full one."""
GROWTH = 0.5
"""By how much what is set aside may grow before all of it is looked through."""


class Collector:
    """Python's garbage collector, told what to look through. One a process.

    What has outlived a full collection is set aside: the next one looks through what is new alone.
    So one takes milliseconds where it took hundreds. Rings among what is set aside stay until all
    of it is looked through: by `collect`, or once it has grown by half.
    """

    def __init__(self) -> None:
        self._aside = 0
        self._looks_at_all = False

    def start(self) -> None:
        """Set aside what is loaded until now, and go on so."""
        gc.freeze()
        self._aside = gc.get_freeze_count()
        gc.callbacks.append(self._look_on)

    def stop(self) -> None:
        """Leave the collector as Python has it."""
        gc.callbacks.remove(self._look_on)
        gc.unfreeze()

    def collect(self) -> None:
        """Free all that nobody reaches, and give back what is free.

        Stops every thread for as long as it takes to look through everything, once.
        """
        self._look_at_all()
        gc.collect()
        give_memory_back()

    def _look_at_all(self) -> None:
        gc.unfreeze()
        self._looks_at_all = True

    def _look_on(self, phase: str, found: dict[str, Any]) -> None:
        """After a full collection; called by whichever thread has come to one.

        Counts what is set aside and never asks for it (`gc.get_objects`): whoever holds a tuple
        that another thread is still filling makes that thread fail with a `SystemError`.
        """
        if phase != "stop" or found["generation"] != _OLDEST:
            return
        gc.freeze()
        count = gc.get_freeze_count()
        if self._looks_at_all:
            self._aside, self._looks_at_all = count, False
        elif count > (1 + GROWTH) * self._aside:
            self._look_at_all()


def have_one_heap() -> None:
    """Let all threads take memory from one heap, from now on; before there are any.

    Else each has its own, and what one has freed is of no use to the others: 99 of 158 MB were
    free after 90 tenants, and 16 of 75 with one heap. Only one thread at a time runs Python, so
    none waits for it. Only the C library of Linux can; elsewhere it does nothing.
    """
    import ctypes  # noqa: PLC0415 - seldom

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_MOST_ARENAS, 1)


def give_memory_back() -> None:
    """Give the system what is free. Only the C library of Linux can; elsewhere it does nothing."""
    import ctypes  # noqa: PLC0415 - seldom

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
