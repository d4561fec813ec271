"""The beginning and the end of what comes, and no more of it.

A program that fails says why first and then explains its options, or the other way round.
"""

import asyncio
from collections import deque
from collections.abc import Callable

GAP = "\n…\n"
"""Stands for what was left out."""


def hear_nothing(_data: bytes) -> None:
    """For who does not care."""


class HeadTail(asyncio.Protocol):
    """Keeps the first and the last bytes of what comes from a pipe; `heard` gets all of it.

    The last that it gets is empty.
    """

    def __init__(self, head: int, tail: int, heard: Callable[[bytes], None] = hear_nothing) -> None:
        self._most_head, self._most_tail = head, tail
        self._heard = heard
        self._head = b""
        self._chunks: deque[bytes] = deque()
        self._length = 0
        self._left_out = False

    def data_received(self, data: bytes) -> None:
        """One more chunk; of what is no head, the oldest go once the others suffice."""
        self._heard(data)
        room = self._most_head - len(self._head)
        self._head += data[:room]
        rest = data[room:]
        if rest:
            self._keep(rest)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - its signature
        """The pipe is closed."""
        self._heard(b"")

    def text(self) -> str:
        """All of it, or its two ends with `GAP` between them."""
        gap = GAP if self._left_out else ""
        tail = b"".join(self._chunks)[-self._most_tail :]
        if not gap:
            return (self._head + tail).decode("utf-8", "replace")
        return gap.join(each.decode("utf-8", "replace") for each in (self._head, tail))

    def _keep(self, rest: bytes) -> None:
        self._chunks.append(rest[-self._most_tail :])
        self._left_out |= self._length + len(rest) > self._most_tail
        self._length += len(self._chunks[-1])
        while self._length - len(self._chunks[0]) >= self._most_tail:
            self._length -= len(self._chunks.popleft())
