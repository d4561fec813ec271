"""One launched app, behind the launcher: started without a shell, and ended with all below it."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from toolcrib.sources.apps.address import VARIABLE

LAUNCHER = Path(__file__).parents[1] / "launcher.py"
ALLOWED = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ"}
    | {"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
    | {"XDG_STATE_HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
)
END_S = 5.0
POLL_S = 0.01
STDERR_KEPT = 16 * 1024


class AppProcess:
    """A running process. Of what it writes the end is kept."""

    def __init__(self, command: Sequence[str], address: Path, environ: Mapping[str, str]) -> None:
        """Start it. Raises `OSError`, also where there is no such command."""
        env = {name: value for name, value in environ.items() if name in ALLOWED}
        watched, self._leash = os.pipe()
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - what the operator trusts, no shell
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(LAUNCHER),
                    str(watched),
                    "--",
                    *_found(command, env),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                bufsize=0,
                env=env | {VARIABLE: str(address)},
                cwd=env.get("HOME"),
                pass_fds=(watched,),
                start_new_session=True,
            )
        except BaseException:
            os.close(self._leash)
            raise
        finally:
            os.close(watched)
        self._written = _Tail()
        self._reading: asyncio.BaseTransport | None = None

    async def watch(self) -> None:
        """Read what it writes from now on, on this loop."""
        loop = asyncio.get_running_loop()
        self._reading, _ = await loop.connect_read_pipe(lambda: self._written, self._popen.stdout)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._popen.poll()

    @property
    def written(self) -> str:
        """The end of what it wrote."""
        return bytes(self._written.kept).decode("utf-8", "replace").strip()

    async def exited(self) -> int:
        """Its exit status, once it has one."""
        while (status := self._popen.poll()) is None:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(POLL_S)
        await asyncio.sleep(POLL_S)  # its last words may still be on the way
        return status

    async def stop(self) -> None:
        """End it and all that it started. Leaves no zombie."""
        leash, self._leash = self._leash, -1
        if leash >= 0:
            os.close(leash)
        try:
            await asyncio.wait_for(self.exited(), END_S)
        except TimeoutError:
            self._kill()
            await self.exited()
        if self._popen.returncode < 0:
            self._kill()  # somebody killed the launcher: what was below it may still be there
        if self._reading:
            self._reading.close()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)


class _Tail(asyncio.Protocol):
    """Keeps the end of what comes, and no more."""

    def __init__(self) -> None:
        self.kept = bytearray()

    def data_received(self, data: bytes) -> None:
        self.kept += data[-STDERR_KEPT:]
        del self.kept[:-STDERR_KEPT]


def _found(command: Sequence[str], env: Mapping[str, str]) -> Sequence[str]:
    """The command by its path, looked up as its own environment says."""
    path = shutil.which(command[0], path=env.get("PATH", os.defpath))
    if path is None:
        raise FileNotFoundError(2, "there is no such command", command[0])
    return (str(Path(path).absolute()), *command[1:])
