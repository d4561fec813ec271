"""Starts an app that is not running, once for all who wait, and ends it when it is idle.

The process is told where to register, its output is read, and it is ended with all below it.
`AppRules` is what the operator set about apps.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from toolcrib.model import CallError
from toolcrib.sources.apps.address import ADDRESS_VARIABLE
from toolcrib.system import POLL_S, ChildProcess, OutputEnds

# One launched app: told where to register, its output read, ended with all below it.

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
        self._launched = ChildProcess(
            command, env | {ADDRESS_VARIABLE: str(address)}, env.get("HOME")
        )
        self._written = OutputEnds(WRITTEN_HEAD, WRITTEN_TAIL)
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


# What the operator set about apps.


@dataclass(frozen=True, slots=True)
class AppTimeouts:
    """How long an app may take to register, and how long it is kept without a call."""

    start_s: float = 20.0
    idle_s: float = 300.0


@dataclass(frozen=True, slots=True)
class AppRules:
    """Launch commands by app, and the apps whose word that a tool only reads is taken."""

    launch: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    trusted: frozenset[str] = frozenset()
    patience: AppTimeouts = field(default_factory=AppTimeouts)


class AppLauncher:
    """Has the process of one app, if it was launched here. Lives on one loop.

    `awake` is set while the app is connected and has registered. `address` makes sure that it can
    find us and tells the file. `rest` is called before an idle app is ended, and answers whether
    that may be: nothing is under way.
    """

    def __init__(
        self,
        app: str,
        patience: AppTimeouts,
        address: Callable[[], Awaitable[Path]],
        rest: Callable[[], bool],
    ) -> None:
        self.awake = asyncio.Event()
        self._app = app
        self._patience = patience
        self._address = address
        self._rest = rest
        self._starting: asyncio.Task[CallError | None] | None = None
        self._process: AppProcess | None = None
        self._changing = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    async def wake(self, command: tuple[str, ...], within_s: float) -> CallError | None:
        """Launch it and wait until it has registered; what went wrong, if anything.

        Whoever comes meanwhile waits for the same start; whoever stops waiting does not end it.
        """
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start(command))
        done, _ = await asyncio.wait({self._starting}, timeout=within_s)
        if not done:
            return self._error("the deadline came while the app was starting; allow it more time")
        if self._starting.cancelled():
            return self._error("was not started, because Toolcrib is closing")
        return self._starting.result()

    def used(self) -> None:
        """The idle time begins anew."""
        if self._idle:
            self._idle.cancel()
            self._idle = None
        if self._process:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._patience.idle_s, self._end_if_idle)

    async def stop(self) -> None:
        """End the process, if it was launched here."""
        if self._idle:
            self._idle.cancel()
        if self._starting and not self._starting.done():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        async with self._changing:
            await self._end()

    async def _start(self, command: tuple[str, ...]) -> CallError | None:
        async with self._changing:
            if self.awake.is_set():
                return None
            if not command:
                told = "is not running, and nobody knows how to launch it; start it, or set"
                return self._error(f"{told} `{self._app}` in [apps.launch]", "not_running")
            await self._end()
            try:
                self._process = AppProcess(command, await self._address(), os.environ)
            except OSError as error:
                return self._error(f"cannot be launched: {command[0]!r}: {error.strerror}")
            try:
                await self._process.watch()
                failure = await self._registered(self._process)
            except asyncio.CancelledError:
                await self._end()
                raise
            if failure:
                await self._end()
            return failure

    async def _registered(self, process: AppProcess) -> CallError | None:
        arriving = asyncio.ensure_future(self.awake.wait())
        exiting = asyncio.ensure_future(process.exited())
        try:
            await asyncio.wait(
                {arriving, exiting},
                timeout=self._patience.start_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            arriving.cancel()
            exiting.cancel()
        if self.awake.is_set():
            return None
        status = process.status
        how = f"exited ({status})" if status is not None else "was ended"
        wrote = f"; it wrote: {process.written[-2000:]}" if process.written else ""
        waited = f"within {self._patience.start_s:g} s" if status is None else "before that"
        return self._error(f"did not register its tools {waited} and {how}{wrote}")

    def _end_if_idle(self) -> None:
        if self._rest():
            self._ending = asyncio.ensure_future(self._sleep())
        else:
            self.used()

    async def _sleep(self) -> None:
        async with self._changing:
            if not self.awake.is_set():  # else somebody woke it meanwhile
                await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            await process.stop()

    def _error(self, told: str, code: str = "start_failed") -> CallError:
        return CallError(code, "start", f"app {self._app!r} {told}", server=self._app)
