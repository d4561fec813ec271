"""A bound on time that holds whatever the work waits for."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises; `TimeoutError` once it has taken that long.

    HTTP timeouts bound each wait for a byte, not their sum, and no lookup of a name. The work
    therefore has a thread of its own, which is left to end by itself when the time is up.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again, where it was asked for
            done.set_exception(error)

    Thread(target=run, name="toolcrib-within", daemon=True).start()
    return done.result(timeout=max(seconds, 0.0))
