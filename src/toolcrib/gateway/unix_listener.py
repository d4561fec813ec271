"""A Unix socket that only our own user may connect to, and that is put back if it is removed."""

import asyncio
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from toolcrib.system import LineReader

AT_ONCE = 8
"""How many connections are accepted in one turn of the loop."""
WAITING = 512
LONGEST_LINE = 256 * 1024

Welcome: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class UnixListener:
    """Hands each connection of our own user to `welcome`, and hangs up on all others."""

    def __init__(self, welcome: Welcome) -> None:
        self._welcome = welcome
        self._server: asyncio.Server | None = None
        self._path = Path()
        self._made: tuple[int, int] | None = None

    async def listen(self, path: str) -> None:
        """Listen at this path, in place of what is there. Raises `OSError`."""
        self._path = Path(path)
        self._path.unlink(missing_ok=True)
        incoming = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            incoming.bind(path)
            self._path.chmod(0o600)  # the folder is ours alone already
            loop = asyncio.get_running_loop()
            self._server = await loop.create_unix_server(
                self._protocol, sock=incoming, backlog=AT_ONCE
            )
            incoming.listen(WAITING)  # more may wait than are let in at once
        except OSError:
            incoming.close()
            raise
        self._made = _identity(self._path)

    async def put_back(self) -> bool:
        """Listen again if the socket is gone; returns whether it was. Connections stay.

        Raises `OSError`.
        """
        if _identity(self._path) == self._made:
            return False
        self.close()
        await self.listen(str(self._path))
        return True

    def close(self) -> None:
        """Accept no more connections."""
        if self._server:
            self._server.close()

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(LineReader(LONGEST_LINE), self._checked)

    async def _checked(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if _is_ours(writer.get_extra_info("socket")):
            await self._welcome(reader, writer)
        else:
            await hang_up(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close a connection, and wait for a second at most."""
    writer.close()
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(1.0):
            await writer.wait_closed()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _is_ours(connection: socket.socket) -> bool:
    """Whether the other side is our own user, where the system can tell."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True  # then the folder, which nobody else may enter, has to do
    facts = connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
    return struct.unpack("3i", facts)[1] == os.getuid()
