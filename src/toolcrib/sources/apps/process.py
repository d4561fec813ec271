"""One launched app: told where to register, its output read, ended with all below it."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from toolcrib.sources.apps.address import VARIABLE
from toolcrib.sources.head_tail import HeadTail
from toolcrib.sources.launched import POLL_S, Launched

ALLOWED = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ"}
    | {"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
    | {"XDG_STATE_HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
)
WRITTEN_HEAD = 4 * 1024
WRITTEN_TAIL = 16 * 1024


class AppProcess:
    """A running process. Of what it writes both ends are kept."""

    def __init__(self, command: Sequence[str], address: Path, environ: Mapping[str, str]) -> None:
        """Start it. Raises `OSError`, also where there is no such command."""
        env = {name: value for name, value in environ.items() if name in ALLOWED}
        self._launched = Launched(command, env | {VARIABLE: str(address)}, env.get("HOME"))
        self._written = HeadTail(WRITTEN_HEAD, WRITTEN_TAIL)
        self._reading: asyncio.BaseTransport | None = None

    async def watch(self) -> None:
        """Read what it writes from now on, on this loop."""
        loop, output = asyncio.get_running_loop(), self._launched.popen.stdout
        self._reading, _ = await loop.connect_read_pipe(lambda: self._written, output)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._launched.status

    @property
    def written(self) -> str:
        """What it wrote: the beginning and the end."""
        return self._written.text().strip()

    async def exited(self) -> None:
        """Return once it has exited, and said its last words."""
        while self.status is None:  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(POLL_S)
        await asyncio.sleep(POLL_S)  # they may still be on the way

    async def stop(self) -> None:
        """End it and all that it started. Leaves no zombie."""
        await self._launched.end()
        if self._reading:
            self._reading.close()
        elif self._launched.popen.stdout:
            self._launched.popen.stdout.close()
