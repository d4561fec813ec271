"""The end of what comes, and no more of it."""

import asyncio
from collections import deque


class Tail(asyncio.Protocol):
    """Keeps the last bytes of what comes from a pipe."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._chunks: deque[bytes] = deque()
        self._length = 0

    def data_received(self, data: bytes) -> None:
        """One more chunk; the oldest go once the others suffice."""
        self._chunks.append(data[-self._most :])
        self._length += len(self._chunks[-1])
        while self._length - len(self._chunks[0]) >= self._most:
            self._length -= len(self._chunks.popleft())

    def text(self) -> str:
        return b"".join(self._chunks)[-self._most :].decode("utf-8", "replace")
