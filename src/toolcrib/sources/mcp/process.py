"""One server process, behind the launcher: started, spoken to, and ended within bounds."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolcrib.sources.mcp.pipes import Input, Tail

LAUNCHER = Path(__file__).parents[1] / "launcher.py"
EXIT_S = 1.5  # to exit by itself once its input has ended
END_S = 5.0  # for the launcher to end it, politely and then not
POLL_S = 0.01
STDERR_KEPT = 64 * 1024
READ_AHEAD = 1024 * 1024


class Process:
    """A running process. `stdout` is read, `stdin` written; of its stderr the end is kept."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: str | None) -> None:
        """Start it. Raises `OSError`, also where there is no such command."""
        watched, self._leash = os.pipe()
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - what the operator configured, no shell
                [*_launcher(), str(watched), "--", *_found(command, env, cwd)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=dict(env),
                cwd=cwd,
                pass_fds=(watched,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._leash)
            raise
        finally:
            os.close(watched)
        self._stderr = Tail(STDERR_KEPT)
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
        """The end of what it wrote there."""
        return self._stderr.text()

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._popen.poll()

    async def stop(self) -> None:
        """End it and all that it started, within `EXIT_S + END_S`. Leaves no zombie."""
        self._end_input()
        if not await self._exits(EXIT_S):
            self._drop_leash()
            if not await self._exits(END_S):
                self._kill()
                await self._exits(END_S)
        elif self._popen.returncode < 0:
            self._kill()  # somebody killed the launcher: what was below it is still there
        self._drop_leash()
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

    async def _exits(self, patience: float) -> bool:
        until = asyncio.get_running_loop().time() + patience
        while self._popen.poll() is None:
            if asyncio.get_running_loop().time() > until:
                return False
            await asyncio.sleep(POLL_S)
        return True

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def _drop_leash(self) -> None:
        leash, self._leash = self._leash, -1
        if leash >= 0:
            os.close(leash)


def _launcher() -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", str(LAUNCHER))


def _found(command: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Sequence[str]:
    """The command by its path, looked up as its own environment says."""
    name = command[0]
    placed = str(Path(cwd or ".", name)) if os.sep in name else name
    path = shutil.which(placed, path=env.get("PATH", os.defpath))
    if path is None:
        raise FileNotFoundError(2, "there is no such command", name)
    return (str(Path(path).absolute()), *command[1:])
