"""What is at our end of a process's input."""

import asyncio
from typing import cast


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
