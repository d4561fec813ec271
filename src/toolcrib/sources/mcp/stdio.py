"""A bounded transport over a process's standard streams, for the SDK's `Client`.

The SDK's own reads lines of any length, in quadratic time, and leaves grandchildren behind. Here
a line has a limit, stderr two ends, stopping a bound, and lines that are no messages are skipped.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from toolcrib.sources.head_tail import hear_nothing
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.lines import CHUNK, Line, bounded_lines
from toolcrib.sources.mcp.pipes import Input
from toolcrib.sources.mcp.process import Process
from toolcrib.sources.mcp.reply_id import reply_id

WAITING = 64  # messages to a server that does not read
_GONE = (sdk.BrokenResourceError, sdk.ClosedResourceError)


class StdioTransport:
    """One process and its streams. `process` is there once it was started."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        heard: Callable[[bytes], None] = hear_nothing,
        finish_s: float = 0.0,
    ) -> None:
        """`heard` gets what the process writes to its stderr; see `Launched`."""
        self._start = command, env, cwd, heard, finish_s
        self.process: Process | None = None

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        """Start it; on leaving, end it with all that it started. Raises `OSError`."""
        process = self.process = Process(*self._start)
        incoming, read = sdk.create_memory_object_stream[sdk.Item](0)
        write, outgoing = sdk.create_memory_object_stream[sdk.SessionMessage](WAITING)
        try:
            reader, written = await process.open()
            async with sdk.create_task_group() as group:
                group.start_soon(_receive, reader, incoming)
                group.start_soon(_send, outgoing, written, incoming)
                try:
                    yield read, write
                finally:
                    read.close()
                    with sdk.CancelScope(shield=True):
                        await process.stop()
                    group.cancel_scope.cancel()
        finally:
            for stream in (incoming, read, write, outgoing):
                stream.close()
            if process.status is None:
                with sdk.CancelScope(shield=True):
                    await process.stop()


async def _receive(
    reader: asyncio.StreamReader, incoming: sdk.MemoryObjectSendStream[sdk.Item]
) -> None:
    """Hand on every message; then read to the end, so that the process can write to its own."""
    with suppress(*_GONE, OSError):
        async for line in bounded_lines(reader):
            message = message_of(line)
            if message:
                await incoming.send(message)
    incoming.close()
    with suppress(OSError):
        while await reader.read(CHUNK):
            pass


async def _send(
    outgoing: sdk.MemoryObjectReceiveStream[sdk.SessionMessage],
    written: Input,
    incoming: sdk.MemoryObjectSendStream[sdk.Item],
) -> None:
    with suppress(*_GONE, OSError):
        async for item in outgoing:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await written.send(text.encode() + b"\n")
        return
    incoming.close()  # the process reads no more: whoever waits for an answer waits in vain


def message_of(line: Line) -> sdk.SessionMessage | None:
    """The message on a line; an error in its place where only its id can be made out."""
    if line.whole:
        with suppress(ValueError):
            message = sdk.jsonrpc_message_adapter.validate_json(line.content, by_name=False)
            return sdk.SessionMessage(message)
    id = reply_id(line.content)
    if id is None:
        return None
    code, text = (
        (sdk.UNREADABLE, "its reply cannot be read")
        if line.whole
        else (sdk.TOO_LARGE, "its reply is too large")
    )
    error = sdk.ErrorData(code=code, message=text)
    return sdk.SessionMessage(sdk.JSONRPCError(jsonrpc="2.0", id=id, error=error))
