"""A watchdog for sockets that nobody answers on.

Where a network swallows packets, psycopg waits far longer than it was told to. Only closing the
socket ends that: so whoever waits for a server is watched, and at the deadline its socket is shut
down, which the waiting thread sees as a lost connection.
"""

import math
import socket
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Condition, Thread


@dataclass(eq=False, slots=True)
class _Watched:
    """Who waits, on which socket, and until when by the monotonic clock."""

    socket: socket.socket
    deadline: float
    bitten: bool = False


class Watchdog:
    """Shuts the sockets down of those who wait too long. One thread, made at first need."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._watched: set[_Watched] = set()
        self._thread: Thread | None = None
        self._wakes_at = math.inf
        self._closed = False

    @contextmanager
    def watching(self, waiting_on: socket.socket, seconds: float) -> Generator[None]:
        """Whoever waits does it in this block; after so many seconds the socket is shut down.

        Raises `TimeoutError` from what the block raises then.
        """
        entry = _Watched(waiting_on, time.monotonic() + seconds)
        with self._changed:
            self._watched.add(entry)
            self._begin()
            if entry.deadline < self._wakes_at:  # else it looks again soon enough
                self._changed.notify()
        try:
            yield
        except Exception as error:
            if entry.bitten:
                raise TimeoutError(f"no answer within {seconds:g} s") from error
            raise
        finally:
            with self._changed:
                self._watched.discard(entry)

    def close(self) -> None:
        """End the thread; who is watched now is watched no more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread:
            self._thread.join()

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="toolcrib database watchdog", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                for late in [each for each in self._watched if each.deadline <= now]:
                    self._watched.discard(late)
                    late.bitten = True
                    with suppress(OSError):  # it was lost already
                        late.socket.shutdown(socket.SHUT_RDWR)
                first = min((each.deadline for each in self._watched), default=math.inf)
                self._wakes_at = first
                self._changed.wait(None if first == math.inf else max(0.0, first - now))
