"""The start of one server: its turn, its install, its protocol, its timeout, its progress.

A package runner such as npx may have to install a server first (`package_runner`). That takes
minutes, and the server's own start timeout begins when it runs. While it is installed it takes no
place from servers that only start.

The caller of a tool gets progress notifications meanwhile, so that nobody gives up.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from toolcrib.errors import ConfigError
from toolcrib.model import CallContext
from toolcrib.sources.mcp.config.package_runner import PackageRunner, package_runner
from toolcrib.sources.mcp.config.server import ServerAddress, ServerConfig
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop, StartTurn
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, protocol_modes
from toolcrib.sources.mcp.outcome import StartDiagnosis, StartFailed

if TYPE_CHECKING:
    from toolcrib.sources.mcp.client.connection import Connection

LOOK_EVERY_S = 0.5
ASIDE_S = 5.0
"""How long an install takes a place among the starts, at least."""
QUICK_INSTALL_S = 2.0
"""A runner that takes no longer than this to find its package has not installed it."""
FIRST_PROGRESS_S = 1.0
PROGRESS_EVERY_S = 3.0
HALF_PROGRESS_S = 30.0
"""After so many seconds the progress of a start is a half: nobody knows how long it takes."""
# A start that failed in one of these ways fails in the other era just the same.
_FINAL = frozenset({"not_started", "needs_login", "start_timeout", "not_configured"})

Spawn: TypeAlias = Callable[[Coroutine[object, object, None]], None]
T = TypeVar("T")


class StartPhase(NamedTuple):
    """What a start is at. `since` is on the monotonic clock, `by` is the package runner."""

    name: Literal["waiting", "installing", "starting"]
    since: float
    by: str = ""

    def words(self) -> str:
        """For people, with the seconds so far: "installing by npx (35 s)"."""
        phrase = {
            "waiting": "waiting for its turn to start",
            "installing": f"installing by {self.by}",
            "starting": "starting",
        }
        return f"{phrase[self.name]} ({time.monotonic() - self.since:.0f} s)"


class ServerStart:
    """Starts one server, as often as need be. `phase` is None while it does not.

    `began` is when its last turn came. Both are read from other threads, and replaced whole.
    """

    def __init__(
        self,
        config: ServerConfig,
        loop: ServerLoop,
        new_connection: "Callable[[], Connection]",
        spawn: Spawn,
    ) -> None:
        self.phase: StartPhase | None = None
        self.began = 0.0
        self._config = config
        self._loop = loop
        self._new_connection = new_connection
        self._spawn = spawn

    @cached_property
    def _runner(self) -> PackageRunner | None:
        return package_runner(self._config.transport)

    async def reach(self, facts: ServerFacts | None) -> "tuple[Connection, ServerIntroduction]":
        """A connection that is up. Raises `StartFailed`. `facts` is what is known of the server."""
        self.phase = StartPhase("waiting", time.monotonic())
        package = self._runner.package if self._runner and facts is None else ""
        try:
            async with self._loop.install_lock(package) as unlock, self._loop.start_turn() as turn:
                self.began = time.monotonic()
                self.phase = StartPhase("starting", self.began)
                clock = _StartClock(self._config, self._runner, unlock, never_listed=facts is None)
                return await self._connect(facts, clock, turn)
        finally:
            self.phase = None

    async def _connect(
        self, facts: ServerFacts | None, clock: "_StartClock", turn: StartTurn
    ) -> "tuple[Connection, ServerIntroduction]":
        """Try the eras of the protocol. Raises the `StartFailed` of the first."""
        first: StartFailed | None = None
        transport = self._config.transport
        is_old = isinstance(transport, ServerAddress) and transport.kind == "sse"
        for mode in protocol_modes(facts, is_old=is_old):
            connection = self._opened()
            try:
                async with self._watching_install(connection, clock, turn):
                    return connection, await connection.start(mode, clock.left_s)
            except StartFailed as error:
                first = first or self._explained(error, clock)
                self._spawn(connection.close())
                if error.code in _FINAL:
                    break
            except asyncio.CancelledError:
                self._spawn(connection.close())
                raise
        raise first or StartFailed("start_failed", "did not start")

    def _opened(self) -> "Connection":
        """Raises `StartFailed`."""
        try:
            return self._new_connection()
        except ConfigError as error:
            reason, _, remedy = str(error).partition("; ")
            known = StartDiagnosis(reason, remedy)
            failed = StartFailed("not_configured", str(error), retryable=False, diagnosis=known)
            raise failed from error

    def _explained(self, error: StartFailed, clock: "_StartClock") -> StartFailed:
        """The error; one that says so if it is the install that takes too long."""
        if error.code != "start_timeout" or not self._runner or not clock.is_installing:
            return error
        reason = f"is still being installed by {self._runner.name} after {clock.installing_s:.0f} s"
        return StartFailed(error.code, f"{reason}; that goes on for a while: call again later")

    @asynccontextmanager
    async def _watching_install(
        self, connection: "Connection", clock: "_StartClock", turn: StartTurn
    ) -> AsyncGenerator[None]:
        task = asyncio.create_task(self._watch_install(connection, clock, turn))
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _watch_install(
        self, connection: "Connection", clock: "_StartClock", turn: StartTurn
    ) -> None:
        """See when the server runs. Until then, say that it is installed, and step aside."""
        runner = self._runner
        while runner and await self._still_installs(runner, connection):
            if clock.is_installing and clock.installing_s > QUICK_INSTALL_S:
                self.phase = StartPhase("installing", self.began, runner.name)
            if clock.is_installing and clock.installing_s > ASIDE_S:
                await turn.step_aside()
        clock.installed()
        connection.settle()
        if self.phase and self.phase.name == "installing":
            self.phase = StartPhase("starting", time.monotonic())

    async def _still_installs(self, runner: PackageRunner, connection: "Connection") -> bool:
        """Whether the server is still being installed, after a moment."""
        await asyncio.sleep(LOOK_EVERY_S)
        pid = connection.pid
        if not pid or not runner.unpacks:
            return True
        return await asyncio.to_thread(runner.is_fetching, pid)


class _StartClock:
    """How much time a start has. The time of an install counts apart."""

    def __init__(
        self,
        config: ServerConfig,
        runner: PackageRunner | None,
        on_installed: Callable[[], None],
        *,
        never_listed: bool,
    ) -> None:
        self._began = time.monotonic()
        self._start_s, self._install_s = config.start_timeout_s, config.install_timeout_s
        self._on_installed = on_installed
        may_install = runner is not None and (runner.unpacks or never_listed)
        self._installed_at = None if may_install else self._began

    @property
    def is_installing(self) -> bool:
        return self._installed_at is None

    @property
    def installing_s(self) -> float:
        """How long the install takes, or took."""
        until = time.monotonic() if self._installed_at is None else self._installed_at
        return until - self._began

    def installed(self) -> None:
        """The server runs from now on. Only the first time counts."""
        if self._installed_at is None:
            self._installed_at = time.monotonic()
        self._on_installed()

    def left_s(self) -> float:
        """The seconds that are left. Those of the start begin when the server is installed."""
        if self._installed_at is None:
            return self._began + max(self._install_s, self._start_s) - time.monotonic()
        return self._installed_at + self._start_s - time.monotonic()


class StartProgress:
    """The progress notifications of one caller while a server is started for its call.

    The start is the first step of the call. So its progress comes close to 1 and never there, and
    the tool's own progress goes on from 1: the protocol wants progress to grow.
    """

    def __init__(
        self, server: str, context: CallContext, phase: Callable[[], StartPhase | None]
    ) -> None:
        self._server = server
        self._context = context
        self._phase = phase
        self._began = time.monotonic()
        self._has_notified = False

    async def until(self, awake: Awaitable[T]) -> T:
        """Wait for the start, and notify meanwhile.

        Raises `TimeoutError` at the deadline, unless the caller is patient: then it is paused.
        """
        deadline, patient = self._context.deadline, self._context.patient
        task = asyncio.create_task(self._notify_again_and_again())
        try:
            with deadline.pause() if patient else nullcontext():
                async with asyncio.timeout(None if patient else deadline.left_s):
                    return await awake
        finally:
            task.cancel()

    async def _notify_again_and_again(self) -> None:
        last = ""
        await asyncio.sleep(FIRST_PROGRESS_S)
        while True:
            if phase := self._phase():
                self._notify(phase, is_new=phase.name != last)
                last = phase.name
            await asyncio.sleep(PROGRESS_EVERY_S)

    def _notify(self, phase: StartPhase, *, is_new: bool) -> None:
        self._has_notified = True
        spent_s = time.monotonic() - self._began
        message = f"MCP server {self._server!r}: {phase.words()}"
        self._context.progress(spent_s / (spent_s + HALF_PROGRESS_S), None, message)
        if is_new:
            self._context.log({"level": "info", "logger": "toolcrib", "data": message})

    def after(self) -> CallContext:
        """The context of the call once the server is up."""
        context = self._context
        if not self._has_notified:
            return context

        def progress(done: float, total: float | None, message: str) -> None:
            context.progress(1 + done, None if total is None else 1 + total, message)

        return replace(context, progress=progress)
