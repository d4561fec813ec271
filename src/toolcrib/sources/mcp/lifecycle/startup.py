"""The start of one server: its turn, its install, its protocol, its timeout, its progress.

A server that a package runner fetches (`package_runner`) has minutes for that, and its own time
begins when it runs. While it is installed it takes no place from servers that only start.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from toolcrib.sources.mcp.config.package_runner import PackageRunner, package_runner
from toolcrib.sources.mcp.config.server import ServerAddress, ServerConfig
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop, StartTurn
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, protocol_modes
from toolcrib.sources.mcp.outcome import StartFailed

if TYPE_CHECKING:
    from toolcrib.sources.mcp.client.connection import Connection
from collections.abc import Awaitable
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

from toolcrib.model import CallContext

LOOK_EVERY_S = 0.5
ASIDE_S = 5.0
"""How long an install takes a place among the starts, at least."""
QUICK_INSTALL_S = 2.0
"""A runner that takes no longer than this to find its package has not installed it."""
# A start that failed in one of these ways fails in the other era just the same.
_FINAL = frozenset({"not_started", "needs_login", "start_timeout", "not_configured"})

Spawn: TypeAlias = Callable[[Coroutine[object, object, None]], None]


class StartPhase(NamedTuple):
    """What a start is at. `since` is on the monotonic clock, `by` who installs."""

    name: Literal["waiting", "installing", "starting"]
    since: float
    by: str = ""

    def words(self) -> str:
        """For people, with the seconds so far: "installing by npx (35 s)"."""
        doing = {
            "waiting": "waiting for its turn to start",
            "installing": f"installing by {self.by}",
            "starting": "starting",
        }
        return f"{doing[self.name]} ({time.monotonic() - self.since:.0f} s)"


class ServerStart:
    """Starts one server, as often as need be. `phase` is None while it does not.

    `began` is when its last turn came. Both are read from other threads, and replaced whole.
    """

    def __init__(
        self,
        config: ServerConfig,
        loop: ServerLoop,
        connection: "Callable[[], Connection]",
        spawn: Spawn,
    ) -> None:
        self.phase: StartPhase | None = None
        self.began = 0.0
        self._config = config
        self._loop = loop
        self._new_connection = connection
        self._spawn = spawn
        self._runner = package_runner(config.transport)

    async def reach(self, facts: ServerFacts | None) -> "tuple[Connection, ServerIntroduction]":
        """A connection that is up. Raises `StartFailed`. `facts` is what is known of the server."""
        began = time.monotonic()
        self.phase = StartPhase("waiting", began)
        package = self._runner.package if self._runner and facts is None else ""
        try:
            async with self._loop.install_lock(package) as let_go, self._loop.start_turn() as turn:
                self.began = time.monotonic()
                self.phase = StartPhase("starting", self.began)
                clock = _Clock(self._config, self._runner, let_go, never_listed=facts is None)
                return await self._reached(facts, clock, turn)
        finally:
            self.phase = None

    async def _reached(
        self, facts: ServerFacts | None, clock: "_Clock", turn: StartTurn
    ) -> "tuple[Connection, ServerIntroduction]":
        """Try the eras in turn. Raises `StartFailed`, the first one's."""
        first: StartFailed | None = None
        transport = self._config.transport
        is_old = isinstance(transport, ServerAddress) and transport.kind == "sse"
        for mode in protocol_modes(facts, is_old=is_old):
            connection = self._new_connection()
            try:
                async with self._watched(connection, clock, turn):
                    return connection, await connection.start(mode, clock.left)
            except StartFailed as error:
                first = first or self._explained(error, clock)
                self._spawn(connection.close())
                if error.code in _FINAL:
                    break
            except asyncio.CancelledError:
                self._spawn(connection.close())
                raise
        raise first or StartFailed("start_failed", "did not start")

    def _explained(self, error: StartFailed, clock: "_Clock") -> StartFailed:
        """The error, unless it is that an install took too long."""
        if error.code != "start_timeout" or not self._runner or not clock.fetches():
            return error
        told = f"is still being installed by {self._runner.name} after {clock.fetching_s:.0f} s"
        return StartFailed(error.code, f"{told}; that goes on for a while: call again later")

    @asynccontextmanager
    async def _watched(
        self, connection: "Connection", clock: "_Clock", turn: StartTurn
    ) -> AsyncGenerator[None]:
        """Meanwhile, see whether it is still fetched."""
        watching = asyncio.create_task(self._watch(connection, clock, turn))
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    async def _watch(self, connection: "Connection", clock: "_Clock", turn: StartTurn) -> None:
        runner = self._runner
        while runner and await self._fetches(runner, connection):
            if clock.fetches() and clock.fetching_s > QUICK_INSTALL_S:
                self.phase = StartPhase("installing", self.began, runner.name)
            if clock.fetches() and clock.fetching_s > ASIDE_S:
                await turn.step_aside()
        clock.fetched()
        connection.settle()
        if self.phase and self.phase.name == "installing":
            self.phase = StartPhase("starting", time.monotonic())

    async def _fetches(self, runner: PackageRunner, connection: "Connection") -> bool:
        """Whether the server is still fetched, after a moment."""
        await asyncio.sleep(LOOK_EVERY_S)
        pid = connection.pid
        if not pid or not runner.unpacks:
            return True
        return await asyncio.to_thread(runner.is_fetching, pid)


class _Clock:
    """How much time a start has: that in which its server is fetched counts apart."""

    def __init__(
        self,
        config: ServerConfig,
        runner: PackageRunner | None,
        done: Callable[[], None],
        *,
        never_listed: bool,
    ) -> None:
        self._began = time.monotonic()
        self._start_s, self._install_s = config.start_timeout_s, config.install_timeout_s
        self._done = done
        fetches = runner is not None and (runner.unpacks or never_listed)
        self._fetched_at = None if fetches else self._began

    @property
    def fetching_s(self) -> float:
        """How long it is, or was, fetched."""
        until = time.monotonic() if self._fetched_at is None else self._fetched_at
        return until - self._began

    def fetches(self) -> bool:
        return self._fetched_at is None

    def fetched(self) -> None:
        """It is there, and runs from now on; who knows that already says it in vain."""
        if self._fetched_at is None:
            self._fetched_at = time.monotonic()
        self._done()

    def left(self) -> float:
        """The seconds that are left. Those of the start begin when it was fetched."""
        if self._fetched_at is None:
            return self._began + max(self._install_s, self._start_s) - time.monotonic()
        return self._fetched_at + self._start_s - time.monotonic()


# What a caller hears while a server is started for it: how far that is, so that nobody gives up.

FIRST_PROGRESS_S = 1.0
PROGRESS_EVERY_S = 3.0
HALF_PROGRESS_S = 30.0
"""After so many seconds the progress of a start is a half: nobody knows how long it takes."""

T = TypeVar("T")


class StartProgress:
    """For one caller."""

    def __init__(
        self, server: str, running: CallContext, phase: Callable[[], StartPhase | None]
    ) -> None:
        self._server = server
        self._running = running
        self._phase = phase
        self._began = time.monotonic()
        self._told = False

    async def until(self, awake: Awaitable[T]) -> T:
        """What it gives; meanwhile the caller hears how far it is.

        Raises `TimeoutError` at the deadline of a call whose clock goes on.
        """
        deadline, patient = self._running.deadline, self._running.patient
        telling = asyncio.create_task(self._tell_all())
        try:
            with deadline.pause() if patient else nullcontext():
                async with asyncio.timeout(None if patient else deadline.left_s):
                    return await awake
        finally:
            telling.cancel()

    async def _tell_all(self) -> None:
        """Tell what the start is at, again and again."""
        last = ""
        await asyncio.sleep(FIRST_PROGRESS_S)
        while True:
            if phase := self._phase():
                self._tell(phase, is_new=phase.name != last)
                last = phase.name
            await asyncio.sleep(PROGRESS_EVERY_S)

    def _tell(self, phase: StartPhase, *, is_new: bool) -> None:
        self._told = True
        spent = time.monotonic() - self._began
        words = f"MCP server {self._server!r}: {phase.words()}"
        self._running.progress(spent / (spent + HALF_PROGRESS_S), None, words)
        if is_new:
            self._running.log({"level": "info", "logger": "toolcrib", "data": words})

    def after(self) -> CallContext:
        """The call from here on, once the server is up."""
        running = self._running
        if not self._told:
            return running
        heard = self._running.progress

        def further(done: float, every: float | None, message: str) -> None:
            heard(1 + done, None if every is None else 1 + every, message)

        return replace(running, progress=further)
