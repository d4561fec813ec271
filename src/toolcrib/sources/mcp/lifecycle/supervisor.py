"""Runs one server: starts it for a call, stops it when it is idle, restarts it after a crash.

Everything here runs on the server loop. Attributes without an underscore are read from other
threads too, and are replaced whole.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolcrib.errors import ConfigError
from toolcrib.model import Call, CallContext, Deadline, Outcome
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.diagnosis import StartDiagnosis
from toolcrib.sources.mcp.lifecycle.breaker import MOST_FAILURES, Breaker
from toolcrib.sources.mcp.lifecycle.cache import ServerMemory
from toolcrib.sources.mcp.lifecycle.notifications import (
    LIST_FAILED,
    ListingFreshness,
    OnUpdate,
    ResourceWatchers,
)
from toolcrib.sources.mcp.lifecycle.server_loop import CallSlots, ServerLoop
from toolcrib.sources.mcp.lifecycle.startup import ServerStart, StartPhase, StartProgress
from toolcrib.sources.mcp.oauth.login_file import LoginFile
from toolcrib.sources.mcp.outcome import StartFailed, StartFailure, refusal

if TYPE_CHECKING:
    from toolcrib.sources.mcp.client.connection import Connection

SUBSCRIBE_S = 5.0
NEEDS_LOGIN = "needs_login"


class ServerSupervisor:
    """One server's life. `up` while it runs; `told` hears when that or what is known changes."""

    def __init__(
        self,
        config: ServerConfig,
        memory: ServerMemory,
        room: ServerLoop,
        logins: LoginFile | None = None,
    ) -> None:
        self.config = config
        self._logins = logins
        self.memory = memory
        self.up = False
        self._refreshed_at = 0.0
        self.told: Callable[[], None] | None = None
        self._room = room
        self._breaker = Breaker()
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = CallSlots()
        self._timeouts = self._errands = self._crashes = 0
        self._up_since = 0.0
        self._unused = asyncio.Event()
        self._unused.set()
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False
        self._fresh = ListingFreshness(memory, self._tell, self._spawn)
        self._watchers = ResourceWatchers()
        self._startup = ServerStart(config, room, self._new_connection, self._spawn)

    async def call(self, call: Call, running: CallContext) -> Outcome:
        """Call a tool, starting the server if need be. Whatever goes wrong is an outcome."""
        return await self._run(UpstreamRequest.of(call), running, partial(self.memory.check, call))

    async def perform(self, errand: UpstreamRequest, running: CallContext) -> Outcome:
        """The same, for an errand that is no call."""
        return await self._run(errand, running, self.memory.check_offers)

    async def watch(self, uri: str, heard: OnUpdate, running: CallContext) -> Outcome:
        """Let somebody hear of a resource from now on; for as long, the server is not idle."""
        outcome = await self.perform(UpstreamRequest("resources/subscribe", {"uri": uri}), running)
        if outcome.ok:
            self._watchers.add(uri, heard)
        return outcome

    async def unwatch(self, uri: str, heard: OnUpdate) -> None:
        """Let them hear of it no more."""
        if self._watchers.remove(uri, heard) and self._connection:
            await self._say(
                self._connection, UpstreamRequest("resources/unsubscribe", {"uri": uri})
            )
            self._rest_later()

    async def _say(self, connection: "Connection", errand: UpstreamRequest) -> None:
        """Run an errand that nobody waits for."""
        await connection.perform(errand, CallContext(Deadline(SUBSCRIBE_S)))

    async def _run(
        self, errand: UpstreamRequest, running: CallContext, check: Callable[[], None]
    ) -> Outcome:
        wait = self._breaker.admit(time.monotonic())
        if wait:
            message = f"failed a moment ago; call again in {math.ceil(wait)} s"
            return self._refusal("unavailable", message)
        self._errands += 1
        self._unused.clear()
        try:
            return self._judged(await self._served(errand, running, check))
        except StartFailed as error:
            if error.code == LIST_FAILED:
                self._hangs()
            return self._refusal(error.code, error.advice, retryable=error.retryable)
        finally:
            self._errands -= 1
            if not self._errands:
                self._unused.set()
            self._breaker.leave()

    async def _served(
        self, errand: UpstreamRequest, running: CallContext, check: Callable[[], None]
    ) -> Outcome:
        """Raises `StartFailed` for what was not sent."""
        connection, running = await self._entered(check, running)
        try:
            deadline = running.deadline.sooner(self.config.call_timeout_s)
            return await connection.perform(errand, replace(running, deadline=deadline))
        finally:
            self._exit()

    async def _entered(
        self, check: Callable[[], None], running: CallContext
    ) -> "tuple[Connection, CallContext]":
        """The connection, with a place on it that is ours until `_exit`, and the call from here on.

        Raises `StartFailed`.
        """
        try:
            connection, running = await self._awake_for(running)
            async with asyncio.timeout(running.deadline.left_s):
                await self._enter()
                await self._allowed(check, connection)
        except TimeoutError as error:
            code = "busy" if self.up else "start_timeout"
            state = f" ({phase.words()})" if (phase := self.phase) else ""
            told = f"was not ready in time{state}; call again in a moment"
            raise StartFailed(code, told) from error
        return connection, running

    async def _awake_for(self, running: CallContext) -> "tuple[Connection, CallContext]":
        """The connection, and the call once it is up; meanwhile the caller hears how far it is.

        Raises `StartFailed`, and `TimeoutError` at the deadline of a call whose clock goes on.
        """
        if self._connection and not self._connection.lost:
            return self._connection, running
        news = StartProgress(self.config.id, running, lambda: self.phase)
        return await news.while_waiting_for(self._awake()), news.after()

    async def _allowed(self, check: Callable[[], None], connection: "Connection") -> None:
        """See that it may be done by what the server lists now, not by what it listed before.

        Raises `StartFailed`, and then the place on the connection is given back.
        """
        try:
            await self._fresh.before_use(connection)
            check()
        except BaseException:
            self._exit()
            raise

    @property
    def phase(self) -> StartPhase | None:
        """What the start of the server is at; None while it does not start."""
        return self._startup.phase

    @property
    def began(self) -> float:
        """When its last start began, or its last refresh, on the monotonic clock."""
        return max(self._refreshed_at, self._startup.began)

    @property
    def pid(self) -> int | None:
        """The process of the server while it runs here."""
        connection = self._connection
        return connection.pid if connection else None

    async def warm_up(self) -> None:
        """Start the server for a call that may come; not one that fails of late."""
        if self.up or self._starting or not self._breaker.closed(time.monotonic()):
            return
        with suppress(StartFailed):  # the call will say so, if it comes
            await self._awake()

    async def refresh(self) -> None:
        """List the tools anew, starting the server if need be. Raises `StartFailed`."""
        self._refreshed_at = time.monotonic()
        if self._connection and not self._connection.lost:
            await self._fresh.relist(self._connection)
        else:
            await self._awake()
        self._rest_later()

    async def stop(self) -> None:
        """Stop the server; the next call starts it again."""
        self._let_go()

    async def retire(self, patience_s: float) -> None:
        """Stop the server for good, after the calls under way, or so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._unused.wait()
        await self.close()

    async def close(self) -> None:
        """Stop the server for good."""
        self._closed = True
        self._fresh.close()
        if self._starting:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        self._let_go()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _awake(self) -> "Connection":
        """The connection, up. Raises `StartFailed`. Cancelling it leaves the start to others."""
        if self._connection and not self._connection.lost:
            return self._connection
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
            self._starting.add_done_callback(self._started)
        try:
            return await asyncio.shield(self._starting)
        except asyncio.CancelledError:
            if self._closed:
                raise StartFailed("closed", "is closed", retryable=False) from None
            raise

    def _started(self, task: "asyncio.Task[Connection]") -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # whoever waits hears of it; if nobody does, nobody has to

    async def _start(self) -> "Connection":
        if self._closed or self.config.disabled:
            raise StartFailed("disabled", "is switched off", retryable=False)
        if self._tasks:
            await asyncio.wait(self._tasks)  # what is left of the last one
        self._fresh.begin()
        self.memory.log.note("starting", aloud=False)
        try:
            connection, greeting = await self._startup.reach(self.memory.facts)
        except StartFailed as error:
            if error.code != NEEDS_LOGIN:  # who says no is in good health
                self._breaker.failed(time.monotonic(), was_up=False)
            self.memory.note(StartFailure(error.code, str(error), time.time(), *error.diagnosis))
            self._tell()
            raise
        self.memory.note(None)
        took_s = time.monotonic() - self._startup.began
        await asyncio.to_thread(self.memory.keep, greeting, took_s)
        self._connection = connection
        self._set_up(up=True)
        self._spawn(self._watch(connection))
        self._rest_later()
        self._fresh.listed(connection)
        for uri in self._watchers.uris():
            self._spawn(self._say(connection, UpstreamRequest("resources/subscribe", {"uri": uri})))
        return connection

    def _new_connection(self) -> "Connection":
        """Raises `StartFailed`."""
        from toolcrib.sources.mcp.client.connection import Connection  # noqa: PLC0415 - loads the SDK

        try:
            return Connection(
                self.config,
                self._fresh.changed,
                self._logins,
                self._watchers.updated,
                self._room.large_lists,
                self.memory.log,
            )
        except ConfigError as error:
            reason, _, remedy = str(error).partition("; ")
            found = StartDiagnosis(reason, remedy)
            told = StartFailed("not_configured", str(error), retryable=False, diagnosis=found)
            raise told from error

    async def _watch(self, connection: "Connection") -> None:
        """Wait for the end of a connection; one that we did not wish for is a failure."""
        await connection.wait_lost()
        if connection is self._connection:
            self._breaker.failed(time.monotonic(), was_up=True)
            self._crashes += 1
            self._let_go(f"crash {self._crashes}: it ended by itself")

    def _let_go(self, why: str = "stopped") -> None:
        """Part with the connection, if there is one; it closes by and by."""
        connection, self._connection = self._connection, None
        self._fresh.connection = None
        if self._idle:
            self._idle.cancel()
        if connection:
            self._spawn(self._end(connection, why, time.monotonic() - self._up_since))
            self._set_up(up=False)

    async def _end(self, connection: "Connection", why: str, up_s: float) -> None:
        await connection.close()
        self.memory.log.ended(why, connection.status, up_s)

    async def _enter(self) -> None:
        """Wait for a place among those served at once. Raises `StartFailed` if too many do."""
        await self._places.enter()
        if self._idle:
            self._idle.cancel()

    def _exit(self) -> None:
        self._places.leave()
        self._rest_later()

    def _rest_later(self) -> None:
        """Stop the server once it has been idle for as long as is configured."""
        if self._idle:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(self.config.idle_timeout_s, self._rest)

    def _rest(self) -> None:
        if not self._places.taken and not self._watchers.uris():
            self._let_go("stopped, as nobody uses it")

    def _judged(self, outcome: Outcome) -> Outcome:
        """The outcome, once we have drawn our conclusions: a server that hangs is let go."""
        code = outcome.error.code if outcome.error else ""
        if code == NEEDS_LOGIN and outcome.error:
            self.memory.note(StartFailure(code, outcome.error.message, time.time()))
            self._tell()
        elif code == "deadline":
            self._hangs()
        elif code not in ("connection_lost", "session_expired"):
            self._timeouts = 0
            self._breaker.succeeded()
        return outcome

    def _hangs(self) -> None:
        """It did not answer, once more: a server that goes on like that is let go."""
        self._timeouts += 1
        if self._timeouts >= MOST_FAILURES:
            self._timeouts = 0
            self._breaker.failed(time.monotonic(), was_up=True)
            self._let_go("stopped, as it does not answer")

    async def heed(self) -> None:
        """While tools wait for a decision, hear of it soon, whichever process it is made in."""
        if not self._closed:
            await self._fresh.heed()

    def _set_up(self, *, up: bool) -> None:
        self.up = up
        self._up_since = time.monotonic() if up else 0.0
        self._tell()

    def _tell(self) -> None:
        """Say that something is otherwise; elsewhere, for whoever listens may take their time."""
        if self.told and not self._closed:
            asyncio.get_running_loop().run_in_executor(None, self.told)
            if self.memory.judge().held():
                self._spawn(self.heed())

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _refusal(self, code: str, message: str, *, retryable: bool = True) -> Outcome:
        return refusal(code, "start", message, server=self.config.id, retryable=retryable)
