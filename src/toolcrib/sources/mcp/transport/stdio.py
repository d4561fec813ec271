"""The stdio transport: a server's process, its pipes, and its end within bounds.

The SDK's own reads lines of any length, in quadratic time, and leaves grandchildren behind. Here a
line has a limit, both ends of stderr are kept, stopping has a bound, and lines that are no messages
are skipped.
"""

import asyncio
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.jsonrpc import message_of
from toolcrib.sources.mcp.transport.tap import ItemReader
from toolcrib.system import (
    ChildProcess,
    LineReader,
    OutputEnds,
    PipeWriter,
    bounded_lines,
)

EXIT_S = 1.5  # to exit by itself once its input has ended
STDERR_HEAD = 16 * 1024
STDERR_TAIL = 64 * 1024
READ_AHEAD = 1024 * 1024


class ServerProcess:
    """A running process and its three pipes. Of its stderr both ends are kept."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        on_stderr: Callable[[bytes], None] = lambda _: None,
        finish_s: float = 0.0,
    ) -> None:
        """Start it. `on_stderr` gets its stderr: see `OutputEnds`; `finish_s`: see `ChildProcess`.

        Raises `OSError`, also if there is no such command.
        """
        pipe = subprocess.PIPE
        self._child = ChildProcess(command, env, cwd, stdin=pipe, stderr=pipe, finish_s=finish_s)
        self._popen = self._child.popen
        self._stderr = OutputEnds(STDERR_HEAD, STDERR_TAIL, on_stderr)
        self._input: PipeWriter | None = None
        self._transports: list[asyncio.BaseTransport] = []

    async def open(self) -> tuple[LineReader, PipeWriter]:
        """Its stdout and its stdin; its stderr is read from now on."""
        loop = asyncio.get_running_loop()
        popen, reader = self._popen, LineReader(READ_AHEAD)
        for protocol, pipe in (
            (asyncio.StreamReaderProtocol(reader), popen.stdout),
            (self._stderr, popen.stderr),
        ):
            transport, _ = await loop.connect_read_pipe(lambda it=protocol: it, pipe)
            self._transports.append(transport)
        transport, writer = await loop.connect_write_pipe(PipeWriter, popen.stdin)
        self._transports.append(transport)
        self._input = writer
        return reader, writer

    @property
    def pid(self) -> int:
        """The launcher's process id, which is also that of the session of all below it."""
        return self._popen.pid

    @property
    def stderr(self) -> str:
        """What it wrote there: the beginning and the end."""
        return self._stderr.text()

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._child.status

    def settle(self) -> None:
        """Its install is done."""
        self._child.settle()

    async def stop(self) -> None:
        """End it and all that it started, within bounds. Leaves no zombie.

        One that is still being installed is left to finish that.
        """
        self._end_input()
        await self._child.end(patience_s=EXIT_S)
        self._close_pipes()

    def _end_input(self) -> None:
        if self._input:
            self._input.close()
        elif self._popen.stdin:
            self._popen.stdin.close()

    def _close_pipes(self) -> None:
        for transport in self._transports:
            transport.close()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe and not self._transports:
                pipe.close()
        if self._input:
            self._input.abort()


class StdioTransport:
    """One process and its streams. `process` is there once it was started."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        on_stderr: Callable[[bytes], None] = lambda _: None,
        finish_s: float = 0.0,
    ) -> None:
        """For the arguments see `ServerProcess`."""
        self._start = command, env, cwd, on_stderr, finish_s
        self.process: ServerProcess | None = None

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        """Start it; on leaving, end it with all that it started. Raises `OSError`."""
        process = self.process = ServerProcess(*self._start)
        try:
            reader, writer = await process.open()
            try:
                yield ProcessReader(reader), ProcessWriter(writer, reader)
            finally:
                with sdk.CancelScope(shield=True):
                    await _stop(process, reader)
        finally:
            if process.status is None:
                with sdk.CancelScope(shield=True):
                    await process.stop()


class ProcessReader(ItemReader):
    """Gives each message of the process to whoever asks for the next: no task, no queue between."""

    def __init__(self, reader: LineReader) -> None:
        self._reader = reader
        self._lines = bounded_lines(reader)

    def take_lines(self, take: Callable[[bytes], bool]) -> None:
        """As `LineSource` has it."""
        self._reader.take_line = take

    async def __anext__(self) -> sdk.Item:
        with suppress(OSError):
            async for line in self._lines:
                message = message_of(line)
                if message:
                    return message
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Whoever started the process ends it."""


class ProcessWriter(sdk.AsyncResource):
    """Writes each message to the process as a line, and waits while the process does not read."""

    def __init__(self, writer: PipeWriter, reader: asyncio.StreamReader) -> None:
        self._writer, self._reader = writer, reader

    async def send(self, item: sdk.SessionMessage, /) -> None:
        """Raises what the SDK takes for the end of a stream."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        await self.wait_for_room()  # whoever gave up has left what they sent
        self.write_line(text.encode() + b"\n")
        await self.wait_for_room()

    async def wait_for_room(self) -> None:
        """As `LineWriter` has it."""
        await self._writer.wait_for_room()

    def write_line(self, line: bytes) -> None:
        """As `LineWriter` has it."""
        try:
            self._writer.write(line)
        except OSError:
            # It does not read any more, so that no answer will come; it may still write.
            self._reader.set_exception(BrokenPipeError())
            raise sdk.ClosedResourceError from None

    async def aclose(self) -> None:
        """Whoever started the process ends it."""


async def _stop(process: ServerProcess, reader: asyncio.StreamReader) -> None:
    """End it; meanwhile read on, so that it can write until it ends."""
    reading = asyncio.ensure_future(_read_on(reader))
    try:
        await process.stop()
    finally:
        reading.cancel()


async def _read_on(reader: asyncio.StreamReader) -> None:
    with suppress(OSError, RuntimeError):  # whoever reads still gets what is left
        while await reader.read(READ_AHEAD):
            pass
