"""What is at our end of a process's pipes: its errors, of which the end is kept, and its input."""

import asyncio
from collections import deque
from typing import cast


class Tail(asyncio.Protocol):
    """Keeps the end of what comes, and no more."""

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


class Input(asyncio.BaseProtocol):
    """Writes that wait while the process does not read."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self._free.set()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - its signature
        self._transport = None
        self._free.set()

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    async def send(self, data: bytes) -> None:
        """Hand over, and wait for room. Raises `BrokenPipeError` when the other end is gone."""
        if self._transport is None:
            raise BrokenPipeError
        self._transport.write(data)
        await self._free.wait()

    def close(self) -> None:
        """End it once what was sent is through."""
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        """End it now, with what is not through yet. Does nothing to one that is ending anyway."""
        if self._transport and self._transport.get_write_buffer_size():
            self._transport.abort()
