"""One server process: its three pipes, and its end within bounds."""

import asyncio
import subprocess
from collections.abc import Callable, Mapping, Sequence

from toolcrib.sources.head_tail import HeadTail, hear_nothing
from toolcrib.sources.launched import Launched
from toolcrib.sources.mcp.pipes import Input

EXIT_S = 1.5  # to exit by itself once its input has ended
STDERR_HEAD = 16 * 1024
STDERR_TAIL = 64 * 1024
READ_AHEAD = 1024 * 1024


class Process:
    """A running process. `stdout` is read, `stdin` written; of its stderr both ends are kept."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
        heard: Callable[[bytes], None] = hear_nothing,
        finish_s: float = 0.0,
    ) -> None:
        """Start it; `heard` gets its stderr, see `HeadTail`; for `finish_s` see `Launched`.

        Raises `OSError`, also where there is no such command.
        """
        pipe = subprocess.PIPE
        self._launched = Launched(command, env, cwd, stdin=pipe, stderr=pipe, finish_s=finish_s)
        self._popen = self._launched.popen
        self._stderr = HeadTail(STDERR_HEAD, STDERR_TAIL, heard)
        self._input: Input | None = None
        self._transports: list[asyncio.BaseTransport] = []

    async def open(self) -> tuple[asyncio.StreamReader, Input]:
        """Its output and its input; its errors are read from now on."""
        loop = asyncio.get_running_loop()
        popen, reader = self._popen, asyncio.StreamReader(limit=READ_AHEAD)
        for protocol, pipe in (
            (asyncio.StreamReaderProtocol(reader), popen.stdout),
            (self._stderr, popen.stderr),
        ):
            transport, _ = await loop.connect_read_pipe(lambda it=protocol: it, pipe)
            self._transports.append(transport)
        transport, written = await loop.connect_write_pipe(Input, popen.stdin)
        self._transports.append(transport)
        self._input = written
        return reader, written

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
        return self._launched.status

    def settle(self) -> None:
        """What it had to install is there."""
        self._launched.settle()

    async def stop(self) -> None:
        """End it and all that it started, within bounds. Leaves no zombie.

        One that still installs something is left to finish that.
        """
        self._end_input()
        await self._launched.end(patience_s=EXIT_S)
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
