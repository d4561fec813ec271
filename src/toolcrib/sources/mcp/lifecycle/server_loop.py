"""The event loop on which all connections to servers live, and the limits that they share.

A caller may be on any thread, with an event loop of its own. The request runs here, while
progress, log messages and questions go back to the caller's loop (`on_callers_loop`).
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from weakref import WeakValueDictionary

from toolcrib.model import CallContext, InputRequest, JsonObject, log_nowhere
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.outcome import StartFailed
from toolcrib.system import BackgroundLoop

MOST_STARTS = 4
MOST_INSTALLS = 4
MOST_LARGE_LISTS = 4
LAST_ANSWERS_S = 1.0


class StartTurn:
    """A place among the starts; an install that takes long has one among the installs instead."""

    def __init__(self, starts: asyncio.Semaphore, installs: asyncio.Semaphore) -> None:
        self._place = starts
        self._installs = installs

    async def step_aside(self) -> None:
        """Leave the place to another start, if there is one free among the installs."""
        if self._place is not self._installs and not self._installs.locked():
            await self._installs.acquire()  # at once
            self.end()
            self._place = self._installs

    def end(self) -> None:
        self._place.release()


class ServerLoop(BackgroundLoop):
    """One loop for all servers: in the background, or the one that is given.

    `starts` limits how many servers start at once, `large_lists` how many of them list very much at
    once. `on_stop` are called, all at once, by `stop_all`. `refreshing` are the refreshes
    that are not done.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop | None = None, *, most_starts: int = MOST_STARTS
    ) -> None:
        super().__init__("toolcrib-mcp", loop)
        self.starts = asyncio.Semaphore(most_starts)
        self.large_lists = asyncio.Semaphore(MOST_LARGE_LISTS)
        self.on_stop: list[Callable[[], Awaitable[None]]] = []
        self.refreshing: set[object] = set()
        self._installs = asyncio.Semaphore(MOST_INSTALLS)
        self._packages: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._is_shared = loop is not None

    @asynccontextmanager
    async def start_turn(self) -> "AsyncGenerator[StartTurn]":
        """A place among the few servers that start at once."""
        await self.starts.acquire()
        turn = StartTurn(self.starts, self._installs)
        try:
            yield turn
        finally:
            turn.end()

    @asynccontextmanager
    async def install_lock(self, package: str) -> AsyncGenerator[Callable[[], None]]:
        """Keep others from installing this package; calling what it yields ends that early.

        Two installs into one folder at once would spoil it. "" is no package, and waits for nobody.
        """
        lock = self._packages.setdefault(package, asyncio.Lock()) if package else asyncio.Lock()
        await lock.acquire()
        held = [lock]

        def release() -> None:
            while held:
                held.pop().release()

        try:
            yield release
        finally:
            release()

    def stop_all(self) -> None:
        """Stop all servers, then end the thread. Returns when no process is left."""
        self.close(self._stop_all)

    async def _stop_all(self) -> None:
        await asyncio.gather(*(stop() for stop in self.on_stop), return_exceptions=True)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if left and not self._is_shared:
            await asyncio.wait(left, timeout=LAST_ANSWERS_S)  # whoever waits gets an answer


class CallSlots:
    """How many calls one server serves at once. `taken` counts those that wait for a slot too.

    `config` says how many are served, and how many wait. `on_idle` is called when the server was
    unused for `idle_s` seconds. Requests are under way from before a slot is asked for until there
    is an answer.
    """

    def __init__(
        self, config: ServerConfig, on_idle: Callable[[], None], idle_s: Callable[[], float]
    ) -> None:
        self.taken = 0
        self._config = config
        self._free = asyncio.Semaphore(config.calls_at_once)
        self._on_idle = on_idle
        self._idle_s = idle_s
        self._idle_timer: asyncio.TimerHandle | None = None
        self._idle_at = 0.0
        self._requests = 0
        self._unused = asyncio.Event()
        self._unused.set()

    @contextmanager
    def under_way(self) -> Generator[None]:
        """A request is."""
        self._requests += 1
        self._unused.clear()
        try:
            yield
        finally:
            self._requests -= 1
            if not self._requests:
                self._unused.set()

    async def wait_unused(self) -> None:
        """Wait until no request is under way."""
        await self._unused.wait()

    @property
    def counts(self) -> tuple[int, int]:
        """How many calls run, and how many wait."""
        running = min(self.taken, self._config.calls_at_once)
        return running, self.taken - running

    @property
    def is_free(self) -> bool:
        """Whether there is a slot now, so that `enter` waits for nothing."""
        return not self._free.locked()

    async def enter(self) -> None:
        """Wait for a slot. Raises `StartFailed` if too many calls wait."""
        running, waiting = self.counts
        if waiting >= self._config.calls_waiting:
            problem = f"has {running} calls running and {waiting} waiting; call again later"
            remedy = "or allow more by `calls_at_once` and `calls_waiting` in its entry"
            raise StartFailed("overloaded", f"{problem}, {remedy}")
        self.taken += 1
        try:
            await self._free.acquire()
        except asyncio.CancelledError:
            self.taken -= 1
            raise

    def leave(self) -> None:
        self._free.release()
        self.taken -= 1
        self.restart_idle_timer()

    def restart_idle_timer(self) -> None:
        """It is unused from now on. A timer that is set already looks again when it is due."""
        loop = asyncio.get_running_loop()
        self._idle_at = loop.time() + self._idle_s()
        if self._idle_timer is None or self._idle_timer.when() > self._idle_at:
            self.stop_idle_timer()
            self._idle_timer = loop.call_at(self._idle_at, self._look)

    def stop_idle_timer(self) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _look(self) -> None:
        self._idle_timer = None
        loop = asyncio.get_running_loop()
        if self.taken:
            return  # whoever leaves sets another
        if loop.time() < self._idle_at:
            self._idle_timer = loop.call_at(self._idle_at, self._look)
        else:
            self._on_idle()


def on_callers_loop(context: CallContext) -> CallContext:
    """The context for use on another loop: its handlers are still called on the present one.

    Cancelling a question there takes it back here.
    """
    loop = asyncio.get_running_loop()

    def progress(done: float, total: float | None, message: str) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(context.progress, done, total, message)

    def log(message: JsonObject) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(context.log, message)

    async def ask_here(requests: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        return await context.ask(requests)

    async def ask(requests: Mapping[str, InputRequest]) -> Mapping[str, JsonObject]:
        if loop.is_closed():
            return {}
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ask_here(requests), loop))

    has_log = context.log is not log_nowhere
    return context.changed(progress=progress, ask=ask, log=log if has_log else log_nowhere)
