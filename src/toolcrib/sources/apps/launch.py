"""Starts an app that is not running, once for all who wait, and ends it when it is idle.

The process is told where to register, its output is read, and it is ended with all below it.
`AppRules` is what the operator set about apps.
"""

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolcrib.model import CallError
from toolcrib.sources.apps.address import ADDRESS_VARIABLE
from toolcrib.system import ChildProcess, OutputEnds

INHERITED = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ"}
    | {"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
    | {"XDG_STATE_HOME", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"}
)
"""The variables of our environment that an app is started with."""
OUTPUT_HEAD = 4 * 1024
OUTPUT_TAIL = 16 * 1024
LAST_OUTPUT_S = 0.01


@dataclass(frozen=True, slots=True)
class AppTimeouts:
    """How long an app may take to register, and how long it is kept without a call."""

    start_s: float
    idle_s: float


@dataclass(frozen=True, slots=True)
class AppRules:
    """Launch commands by app, and the apps whose word that a tool only reads is taken."""

    launch: Mapping[str, Sequence[str]]
    trusted: frozenset[str]
    timeouts: AppTimeouts


class AppProcess:
    """The running process of an app. The beginning and the end of its output are kept."""

    def __init__(self, command: Sequence[str], address: Path, environ: Mapping[str, str]) -> None:
        """Start it. Raises `OSError`, also where there is no such command."""
        env = {name: value for name, value in environ.items() if name in INHERITED}
        self._child = ChildProcess(command, env | {ADDRESS_VARIABLE: str(address)}, env.get("HOME"))
        self._output = OutputEnds(OUTPUT_HEAD, OUTPUT_TAIL)
        self._reading: asyncio.BaseTransport | None = None

    async def watch(self) -> None:
        """Read its output from now on, on this loop."""
        loop, output = asyncio.get_running_loop(), self._child.popen.stdout
        self._reading, _ = await loop.connect_read_pipe(lambda: self._output, output)

    @property
    def status(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._child.status

    @property
    def output(self) -> str:
        """The beginning and the end of what it wrote."""
        return self._output.text().strip()

    async def exited(self) -> None:
        """Return once it has exited, and its last output has come."""
        await self._child.exits(math.inf)
        await asyncio.sleep(LAST_OUTPUT_S)  # it may still be on the way

    async def stop(self) -> None:
        """End it and all that it started. Leaves no zombie."""
        await self._child.end()
        if self._reading:
            self._reading.close()
        elif self._child.popen.stdout:
            self._child.popen.stdout.close()


class AppLauncher:
    """Starts and ends the process of one app. Lives on one loop.

    `awake` is set while the app is connected and has registered. `address` opens our port and
    returns the file with its address. `rest` is called before an idle app is ended, and returns
    whether that may be: no call is under way.
    """

    def __init__(
        self,
        app: str,
        timeouts: AppTimeouts,
        address: Callable[[], Awaitable[Path]],
        rest: Callable[[], bool],
    ) -> None:
        self.awake = asyncio.Event()
        self._app = app
        self._timeouts = timeouts
        self._address = address
        self._rest = rest
        self._starting: asyncio.Task[CallError | None] | None = None
        self._process: AppProcess | None = None
        self._changing = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None

    async def wake(self, command: tuple[str, ...], within_s: float) -> CallError | None:
        """Launch it and wait until it has registered. Returns what went wrong, if anything.

        All callers wait for one start. A caller that stops waiting does not stop the start.
        """
        if self._starting is None or self._starting.done():
            self._starting = asyncio.ensure_future(self._start(command))
        done, _ = await asyncio.wait({self._starting}, timeout=within_s)
        if not done:
            return self._error("was still starting at the deadline; allow it more time")
        if self._starting.cancelled():
            return self._error("was not started, because Toolcrib is closing")
        return self._starting.result()

    def used(self) -> None:
        """Start the idle time anew."""
        if self._idle:
            self._idle.cancel()
            self._idle = None
        if self._process:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(self._timeouts.idle_s, self._end_if_idle)

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
                return self._error(
                    f"is not running and has no launch command; start it, or set `{self._app}` in"
                    " [apps.launch]",
                    "not_running",
                )
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
                timeout=self._timeouts.start_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            arriving.cancel()
            exiting.cancel()
        if self.awake.is_set():
            return None
        status = process.status
        ending = f"exited ({status})" if status is not None else "was ended"
        wrote = f"; it wrote: {process.output[-2000:]}" if process.output else ""
        waited = f"within {self._timeouts.start_s:g} s" if status is None else "before that"
        return self._error(f"did not register its tools {waited} and {ending}{wrote}")

    def _end_if_idle(self) -> None:
        if self._rest():
            self._ending = asyncio.ensure_future(self._sleep())
        else:
            self.used()

    async def _sleep(self) -> None:
        async with self._changing:
            if not self.awake.is_set():  # else a call has woken it meanwhile
                await self._end()

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            await process.stop()

    def _error(self, problem: str, code: str = "start_failed") -> CallError:
        return CallError(code, "start", f"app {self._app!r} {problem}", server=self._app)
