"""The gateway as one process of its own, on its standard input and output.

Nothing but the protocol may reach the output. While this serves, all other writes to it go to the
error stream, and all other reads of the input find nothing.
"""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import NamedTuple

from toolcrib.connect import can_have_daemon
from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.background_tasks import ServerLister
from toolcrib.gateway.message_streams import Send, message_streams
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.system import ByteReader, PipeWriter

_STOPS = (signal.SIGTERM, signal.SIGINT)


class StdioDescriptors(NamedTuple):
    """Copies of standard input and output that nobody else knows."""

    incoming: int
    outgoing: int


def serve_stdio(
    open_crib: Callable[[asyncio.AbstractEventLoop], Crib], principal: Principal
) -> None:
    """Serve this principal until the input ends or the process is told to stop.

    `open_crib` is called with the loop that serves. At the end the crib is closed, and with it all
    servers that it started.
    """
    with claim_stdio() as descriptors:
        asyncio.run(_open(open_crib, principal, descriptors))


async def _open(
    open_crib: Callable[[asyncio.AbstractEventLoop], Crib],
    principal: Principal,
    descriptors: StdioDescriptors,
) -> None:
    crib = open_crib(asyncio.get_running_loop())
    lister = ServerLister(crib)
    lister.look()
    try:
        await _serve(crib, principal, descriptors)
    finally:
        lister.close()
        await asyncio.to_thread(crib.close)


async def _serve(crib: Crib, principal: Principal, descriptors: StdioDescriptors) -> None:
    server = GatewayServer(crib, principal)
    serving = asyncio.ensure_future(_run(server, descriptors))
    loop = asyncio.get_running_loop()
    for each in _STOPS:
        with suppress(NotImplementedError):  # not every system's loop has them
            loop.add_signal_handler(each, serving.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await serving
    finally:
        for each in _STOPS:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(each)
        server.close()


async def _run(server: GatewayServer, descriptors: StdioDescriptors) -> None:
    async with open_pipes(descriptors) as (reader, send):
        streams = message_streams(reader, send)
        await sdk.serve_stream(server.mcp_server, streams.read, streams.write)


@contextmanager
def claim_stdio() -> Generator[StdioDescriptors]:
    """Take standard input and output for ourselves, and give them back."""
    sys.stdout.flush()
    descriptors = StdioDescriptors(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    try:
        yield descriptors
    finally:
        sys.stdout.flush()
        for ours, theirs in zip(descriptors, (0, 1), strict=True):
            if hasattr(os, "set_blocking"):
                os.set_blocking(ours, True)  # whoever gets them back expects that
            os.dup2(ours, theirs)
            os.close(ours)


@asynccontextmanager
async def open_pipes(descriptors: StdioDescriptors) -> AsyncGenerator[tuple[ByteReader, Send]]:
    """Both descriptors without a thread in between, where the system can: files need one."""
    async with AsyncExitStack() as ends:
        yield await _reader(descriptors.incoming, ends), await _sender(descriptors.outgoing, ends)


async def _reader(fd: int, ends: AsyncExitStack) -> ByteReader:
    if not _is_pipe(fd):
        return _File(fd)
    reader = asyncio.StreamReader()
    pipe = ends.enter_context(os.fdopen(os.dup(fd), "rb", buffering=0))
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    ends.callback(transport.close)
    return reader


async def _sender(fd: int, ends: AsyncExitStack) -> Send:
    if not _is_pipe(fd):
        return _File(fd).write
    pipe = ends.enter_context(os.fdopen(os.dup(fd), "wb", buffering=0))
    transport, output = await asyncio.get_running_loop().connect_write_pipe(PipeWriter, pipe)
    transport.set_write_buffer_limits(0)  # what is sent is through when `send` returns
    ends.callback(transport.close)
    return output.send


def _is_pipe(fd: int) -> bool:
    """Whether the system tells when it can be read: it does not for files and the null device.

    Without Unix it does not for pipes either.
    """
    if not can_have_daemon():
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


class _File:
    """A descriptor that is no pipe, read and written on a thread."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    async def read(self, n: int, /) -> bytes:
        return await asyncio.to_thread(os.read, self._fd, n)

    async def write(self, data: bytes) -> None:
        await asyncio.to_thread(self._write, data)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data) :]
