"""A network that can be cut: a TCP proxy whose connections can be held up, or reset."""

import asyncio
import socket
import struct
from contextlib import suppress
from threading import Event, Thread
from typing import Self

PIECE = 64 * 1024
_RESET = struct.pack("ii", 1, 0)  # nothing lingers: closing sends RST


class CutNetwork:
    """Hands bytes on between whoever connects and the target, on a thread of its own."""

    def __init__(self, target: int) -> None:
        """`target` is a port of this machine; new connections go to what it is then."""
        self.target = target
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_open = Event()
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_open.wait()
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def hold(self) -> None:
        """Swallow everything from now on: no byte, no end of a connection gets through."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def let_go(self) -> None:
        """Hand on what was held up, and all that comes."""
        self._loop.call_soon_threadsafe(self._flows.set)

    def reset(self) -> None:
        """End every connection by RST, at both sides."""
        self._loop.call_soon_threadsafe(self._reset)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._welcome, "127.0.0.1", 0, backlog=256)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._is_open.set()
        self._loop.run_forever()
        server.close()
        self._reset()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def _reset(self) -> None:
        for writer in tuple(self._writers):
            plug: socket.socket = writer.get_extra_info("socket")
            with suppress(OSError):
                plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        await self._flows.wait()
        try:
            onward = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            self._end(writer)
            return
        self._writers.add(onward[1])
        await asyncio.gather(self._pump(reader, onward[1]), self._pump(onward[0], writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(PIECE):
                await self._flows.wait()
                writer.write(piece)
                await writer.drain()
        await self._flows.wait()
        self._end(writer)

    def _end(self, writer: asyncio.StreamWriter) -> None:
        self._writers.discard(writer)
        writer.close()
