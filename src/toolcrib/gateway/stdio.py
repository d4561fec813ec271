"""The gateway as one process of its own, on its standard input and output.

Nothing but the protocol may reach the output (`toolcrib.connect.claim_stdio`). What a client sends
while this loads is gathered, and partly answered, by `toolcrib.connect.StdioOpening`.
"""

import asyncio
import json
import os
import signal
import stat
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import NamedTuple

from toolcrib.connect import FirstReplies, StdioDescriptors, StdioOpening, can_have_daemon
from toolcrib.crib import Crib
from toolcrib.gateway import sdk
from toolcrib.gateway.background_tasks import ServerLister
from toolcrib.gateway.message_streams import MessageGate, OpenGate, Send, message_streams
from toolcrib.gateway.modes import check_modes
from toolcrib.gateway.principal import Principal
from toolcrib.gateway.server import GatewayServer
from toolcrib.gateway.stream_serving import serve_stream
from toolcrib.gateway.surface_recorder import SurfaceFile, SurfaceRecorder
from toolcrib.settings import Settings
from toolcrib.system import ByteReader, LineReader, PipeWriter

_STOPS = (signal.SIGTERM, signal.SIGINT)
_LIST_CHANGED = sdk.JSONRPCNotification(jsonrpc="2.0", method="notifications/tools/list_changed")


class OpenGateway(NamedTuple):
    """A gateway that is loaded, for one principal, and the loop that is to serve it."""

    loop: asyncio.AbstractEventLoop
    crib: Crib
    server: GatewayServer
    surface: SurfaceFile | None = None


def open_gateway(
    settings: Settings,
    open_crib: Callable[[asyncio.AbstractEventLoop], Crib],
    principal: Principal,
    surface: SurfaceFile | None = None,
) -> OpenGateway:
    """Load it, on any thread. `open_crib` is called with the loop that is to serve these settings.

    `surface` is where the first replies are kept for the next start. Raises `ConfigError` for a
    mode that cannot be served.
    """
    check_modes(settings)
    loop = asyncio.new_event_loop()
    try:
        crib = open_crib(loop)
    except BaseException:
        loop.close()
        raise
    return OpenGateway(loop, crib, GatewayServer(crib, principal), surface)


def serve_stdio(gateway: OpenGateway, opening: StdioOpening) -> None:
    """Serve on this thread until the input ends or the process is told to stop.

    At the end the crib is closed, and with it all servers that it started.
    """
    with asyncio.Runner(loop_factory=lambda: gateway.loop) as runner:
        runner.run(_serve_to_end(gateway, opening))


async def _serve_to_end(gateway: OpenGateway, opening: StdioOpening) -> None:
    lister = ServerLister(gateway.crib)
    lister.look()
    try:
        await _serve(gateway, opening)
    finally:
        lister.close()
        await asyncio.to_thread(gateway.crib.close)


async def _serve(gateway: OpenGateway, opening: StdioOpening) -> None:
    serving = asyncio.ensure_future(_run(gateway, opening))
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
        gateway.server.close()


async def _run(gateway: OpenGateway, opening: StdioOpening) -> None:
    gate: MessageGate = OpeningGate(opening.replies) if opening.replies else OpenGate()
    gate = SurfaceRecorder(gate, gateway.server, gateway.surface)
    async with open_pipes(opening.descriptors, opening.unread) as (reader, send):
        streams = message_streams(reader, send, gate)
        await serve_stream(gateway.server, streams.read, streams.write)


class OpeningGate(OpenGate):
    """Keeps back the answers that the client has already, and says if they list other tools."""

    def __init__(self, replies: FirstReplies) -> None:
        self._replies = replies

    def outgoing(self, message: sdk.JSONRPCMessage) -> sdk.JSONRPCMessage | None:
        """The message; in place of an answer that was given, a notification if it is needed."""
        given = self._replies.given
        if not given or not isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError):
            return message
        id = json.dumps(message.id)
        if id not in given:
            return message
        result = message.result if isinstance(message, sdk.JSONRPCResponse) else {}
        return _LIST_CHANGED if self._replies.lists_others(id, result) else None


@asynccontextmanager
async def open_pipes(
    descriptors: StdioDescriptors, unread: bytes = b""
) -> AsyncGenerator[tuple[ByteReader, Send]]:
    """Both descriptors without a thread in between, where the system can: files need one.

    `unread` is read before all else.
    """
    async with AsyncExitStack() as ends:
        reader = await _reader(descriptors.incoming, unread, ends)
        yield reader, await _sender(descriptors.outgoing, ends)


async def _reader(fd: int, unread: bytes, ends: AsyncExitStack) -> ByteReader:
    if not _is_pipe(fd):
        return _File(fd, unread)
    reader = LineReader()
    reader.feed_data(unread)
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

    def __init__(self, fd: int, unread: bytes = b"") -> None:
        self._fd = fd
        self._unread = unread

    async def read(self, n: int, /) -> bytes:
        if self._unread:
            unread, self._unread = self._unread, b""
            return unread
        return await asyncio.to_thread(os.read, self._fd, n)

    async def write(self, data: bytes) -> None:
        await asyncio.to_thread(self._write, data)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._fd, data) :]
