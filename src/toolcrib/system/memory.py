"""The memory of this process: what nobody reaches any more, and what the system gets back.

Objects that point at each other stay until Python looks for such rings. It looks through all that
there is, with every thread stopped, and only when a quarter of it is new. And what is freed stays
with the process, in pieces between what is still used.
"""

import gc
from contextlib import suppress

_MOST_ARENAS = -8
"""The number of this option of the C library, as its `malloc.h` has it."""


def collect_less() -> None:
    """Look no more through what is loaded until now: it stays. See `collect_garbage`."""
    gc.freeze()


def collect_garbage() -> None:
    """Free all that nobody reaches, and look no more through the rest until the next time.

    Stops every thread for as long as it takes to look through everything, once.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    give_memory_back()


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
