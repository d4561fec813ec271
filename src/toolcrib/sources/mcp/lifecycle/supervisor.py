"""Runs one server: starts it for a call, stops it when it is idle, restarts it after a crash.

`request`, `subscribe` and `unsubscribe` may be called on any thread. Everything else runs on the
server loop. Attributes without an underscore are read from other threads too, and are replaced
whole.
"""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from toolcrib.errors import StoreError
from toolcrib.model import CallContext, Outcome
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.lifecycle.breaker import Breaker
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.lifecycle.notifications import (
    LIST_FAILED,
    ListingFreshness,
    OnUpdate,
    ResourceWatchers,
    Serve,
)
from toolcrib.sources.mcp.lifecycle.server_loop import CallSlots, ServerLoop, on_callers_loop
from toolcrib.sources.mcp.lifecycle.startup import ServerStart, StartPhase, StartProgress
from toolcrib.sources.mcp.lifecycle.upstream_spans import UpstreamSpan, start_span
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.outcome import StartDiagnosis, StartFailed, StartFailure, refusal

if TYPE_CHECKING:
    from toolcrib.sources.mcp.client.connection import Connection

NEEDS_LOGIN = "needs_login"
CALL_LIMIT = "`call_timeout_s` in the entry of its server"


class ServerSupervisor:
    """One server's life. `up` while it runs; `on_change` is called when its state or list changes.

    Whatever goes wrong with a request is an outcome.
    """

    def __init__(
        self,
        config: ServerConfig,
        memory: ServerMemory,
        loop: ServerLoop,
        logins: ServerLogin | None = None,
    ) -> None:
        self.config = config
        self.memory = memory
        self.up = False
        self.on_change: Callable[[], None] | None = None
        self._logins = logins
        self._loop = loop
        self._breaker = Breaker()
        self._slots = CallSlots(config, self._stop_if_idle, lambda: self.config.idle_timeout_s)
        self._start = ServerStart(config, loop, self._new_connection, self._spawn)
        self._freshness = ListingFreshness(memory, self._changed, self._spawn)
        self._watchers = ResourceWatchers()
        self._connection: Connection | None = None
        self._starting: asyncio.Task[Connection] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._crashes = 0
        self._up_since = self._refreshed_at = 0.0
        self._closed = False

    async def request(
        self, request: UpstreamRequest, context: CallContext, check: Callable[[], None]
    ) -> Outcome:
        """Send a request, starting the server if need be.

        `check` is called when the server is up and its listing is fresh. It raises `StartFailed` if
        the request may not be sent.
        """
        return await self._on_loop(self._serve(request, on_callers_loop(context), check))

    async def subscribe(self, uri: str, on_update: OnUpdate, context: CallContext) -> Outcome:
        """Call `on_update`, on the server loop, whenever a resource changes.

        The server is not idle for as long.
        """
        there = on_callers_loop(context)
        serve: Serve = lambda it: self._serve(it, there, self.memory.check_offers)  # noqa: E731
        return await self._on_loop(self._watchers.subscribe(uri, on_update, serve))

    def unsubscribe(self, uri: str, on_update: OnUpdate) -> None:
        """End that, soon."""
        with suppress(RuntimeError):  # the loop is closed: there are no updates any more
            self._loop.submit(self._unsubscribe(uri, on_update))

    async def _on_loop(self, work: Coroutine[object, object, Outcome]) -> Outcome:
        try:
            return await self._loop.run(work)
        except RuntimeError as error:
            return self._refusal("closed", str(error), retryable=False)

    async def _unsubscribe(self, uri: str, on_update: OnUpdate) -> None:
        if await self._watchers.unsubscribe(uri, on_update, self._connection):
            self._slots.restart_idle_timer()

    async def _serve(
        self, request: UpstreamRequest, context: CallContext, check: Callable[[], None]
    ) -> Outcome:
        wait_s = self._breaker.admit(time.monotonic())
        if wait_s:
            message = f"failed a moment ago; call again in {math.ceil(wait_s)} s"
            return self._refusal("unavailable", message)
        try:
            with self._slots.under_way():
                connection, context = await self._ready(context, check)
                try:
                    deadline = context.deadline.limited(self.config.call_timeout_s, CALL_LIMIT)
                    context = context.changed(deadline=deadline)
                    outcome = await self._send(connection, request, context)
                finally:
                    self._slots.leave()
                return self._learn_from(outcome)
        except StartFailed as error:
            if error.code == LIST_FAILED:
                self._timed_out()
            return self._refusal(error.code, error.advice, retryable=error.retryable)
        finally:
            self._breaker.leave()

    async def _send(
        self, connection: "Connection", request: UpstreamRequest, context: CallContext
    ) -> Outcome:
        tell = self.memory.tell
        if tell is None:
            return await connection.request(request, context)
        span = UpstreamSpan(context)
        try:
            outcome = await connection.request(request, span.context)
            span.code = outcome.error.code if outcome.error else ""
        finally:
            tell(span.sent(request, self.config))
        return outcome

    async def _ready(
        self, context: CallContext, check: Callable[[], None]
    ) -> "tuple[Connection, CallContext]":
        """The connection, with a slot that has to be given back; the context from here on.

        Raises `StartFailed`.
        """
        try:
            connection = self._connection
            if connection is None or connection.lost:
                progress = StartProgress(self.config.id, context, lambda: self.phase)
                with start_span(self.memory.tell, context, self.config.id):
                    connection = await progress.until(self._awake())
                context = progress.after()
            waits = not (self._slots.is_free and self._freshness.is_fresh)
            async with asyncio.timeout(context.deadline.left_s) if waits else nullcontext():
                await self._slots.enter()
                await self._check_fresh(connection, check)
        except TimeoutError as error:
            code = "busy" if self.up else "start_timeout"
            state = f" ({phase.words()})" if (phase := self.phase) else ""
            message = f"was not ready in time{state}; call again in a moment"
            raise StartFailed(code, message) from error
        return connection, context

    async def _check_fresh(self, connection: "Connection", check: Callable[[], None]) -> None:
        """Check by what the server lists now, not by what it listed before.

        Raises `StartFailed`, and then the slot is given back.
        """
        try:
            await self._freshness.before_use(connection)
            check()
        except BaseException:
            self._slots.leave()
            raise

    def _learn_from(self, outcome: Outcome) -> Outcome:
        """The outcome, after it was noted: a server that hangs is stopped."""
        code = outcome.error.code if outcome.error else ""
        if code == NEEDS_LOGIN and outcome.error:
            self.memory.note(StartFailure(code, outcome.error.message, time.time()))
            self._changed()
        elif code == "deadline":
            self._timed_out()
        elif code not in ("connection_lost", "session_expired"):
            self._breaker.succeeded()
        return outcome

    def _timed_out(self) -> None:
        if self._breaker.timed_out(time.monotonic()):
            self._drop_connection("stopped, as it does not answer")

    @property
    def phase(self) -> StartPhase | None:
        """What the start of the server is at; None while it does not start."""
        return self._start.phase

    @property
    def began(self) -> float:
        """When its last start began, or its last refresh, on the monotonic clock."""
        return max(self._refreshed_at, self._start.began)

    @property
    def calls(self) -> tuple[int, int]:
        """How many calls it serves, and how many wait."""
        return self._slots.counts

    @property
    def pid(self) -> int | None:
        """The process of the server while it runs here."""
        connection = self._connection
        return connection.pid if connection else None

    async def warm_up(self) -> None:
        """Start the server for a call that may come; not one that failed a moment ago."""
        if self.up or self._starting or not self._breaker.closed(time.monotonic()):
            return
        with suppress(StartFailed):  # the call will say so, if it comes
            await self._awake()

    async def refresh(self) -> None:
        """List the tools again, starting the server if need be. Raises `StartFailed`."""
        self._refreshed_at = time.monotonic()
        if self._connection and not self._connection.lost:
            await self._freshness.relist(self._connection)
        else:
            await self._awake()
        self._slots.restart_idle_timer()

    async def stop(self) -> None:
        """Stop the server; the next call starts it again."""
        self._drop_connection()

    async def retire(self, patience_s: float) -> None:
        """Stop the server for good: after the calls under way, or after so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._slots.wait_unused()
        await self.close()

    async def close(self) -> None:
        """Stop the server for good."""
        self._closed = True
        self._freshness.close()
        if self._starting:
            self._starting.cancel()
            await asyncio.wait({self._starting})
        self._drop_connection()
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _awake(self) -> "Connection":
        """The connection, up. Raises `StartFailed`. Cancelling it leaves the start to others."""
        if self._connection and not self._connection.lost:
            return self._connection
        if self._starting is None:
            self._starting = asyncio.create_task(self._start_server())
            self._starting.add_done_callback(self._start_ended)
        try:
            return await asyncio.shield(self._starting)
        except asyncio.CancelledError:
            if self._closed:
                raise StartFailed("closed", "is closed", retryable=False) from None
            raise

    def _start_ended(self, task: "asyncio.Task[Connection]") -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # retrieved, also if nobody waits for it

    async def _start_server(self) -> "Connection":
        if self._closed or self.config.disabled:
            raise StartFailed("disabled", "is switched off", retryable=False)
        if self._tasks:
            await asyncio.wait(self._tasks)  # what is left of the last one
        try:
            await asyncio.to_thread(self.check_entry)
            self._freshness.begin()
            self.memory.log.note("starting", aloud=False)
            connection, introduction = await self._start.reach(self.memory.facts)
        except StartFailed as error:
            if error.code not in (NEEDS_LOGIN, "unreviewed"):  # such a server is healthy
                self._breaker.failed(time.monotonic(), was_up=False)
            self.memory.note(StartFailure(error.code, str(error), time.time(), *error.diagnosis))
            self._changed()
            raise
        self.memory.note(None)
        took_s = time.monotonic() - self._start.began
        await asyncio.to_thread(self.memory.keep, introduction, took_s)
        self._connected(connection)
        return connection

    def check_entry(self) -> None:
        """Raises `StartFailed` unless the operator has said yes to what would be started."""
        try:
            if self.memory.trust.may_start():
                return
        except StoreError as error:
            raise StartFailed("store_away", str(error)) from error
        reason = "its entry is new or has changed, in a file that others may write"
        why = StartDiagnosis(reason, f"run `toolcrib review {self.config.id}`")
        message = f"is not started: {reason}; {why.remedy}"
        raise StartFailed("unreviewed", message, retryable=False, diagnosis=why)

    def _connected(self, connection: "Connection") -> None:
        self._connection = connection
        self._set_up(up=True)
        self._spawn(self._watch(connection))
        self._slots.restart_idle_timer()
        self._freshness.listed(connection)
        self._watchers.resume(connection, self._spawn)

    def _new_connection(self) -> "Connection":
        """Raises `ConfigError`."""
        from toolcrib.sources.mcp.client.connection import Connection  # noqa: PLC0415 - the SDK

        return Connection(
            self.config,
            self._freshness.changed,
            self._logins,
            self._watchers.updated,
            self._loop.large_lists,
            self.memory.log,
        )

    async def _watch(self, connection: "Connection") -> None:
        """Wait for the end of a connection; one that we did not end ourselves is a crash."""
        await connection.wait_lost()
        if connection is self._connection:
            self._breaker.failed(time.monotonic(), was_up=True)
            self._crashes += 1
            self._drop_connection(f"crash {self._crashes}: it ended by itself", crashed=True)

    def _drop_connection(self, why: str = "stopped", *, crashed: bool = False) -> None:
        """Part with the connection, if there is one; it closes in the background."""
        connection, self._connection = self._connection, None
        self._freshness.connection = None
        self._slots.stop_idle_timer()
        if connection:
            up_s = time.monotonic() - self._up_since
            self._spawn(self._end(connection, why, up_s, crashed=crashed))
            self._set_up(up=False)

    async def _end(self, connection: "Connection", why: str, up_s: float, *, crashed: bool) -> None:
        await connection.close()
        self.memory.ended(why, connection.status, up_s, crashed=crashed)

    def _stop_if_idle(self) -> None:
        if not self._slots.taken and not self._watchers.uris():
            self._drop_connection("stopped, as nobody uses it")

    async def follow_reviews(self) -> None:
        """While tools wait for a decision, notice one soon, whichever process it is made in."""
        if not self._closed:
            await self._freshness.follow_reviews()

    def _set_up(self, *, up: bool) -> None:
        self.up = up
        self.memory.use(up=up)
        self._up_since = time.monotonic() if up else 0.0
        self._changed()

    def tell_changed(self) -> None:
        """The list is not what others still show. May be called on any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody shows anything
            self._loop.submit(self._tell_changed())

    async def _tell_changed(self) -> None:
        self._changed()

    def _changed(self) -> None:
        """Call `on_change` in a thread of its own: it may take its time."""
        if self.on_change and not self._closed:
            asyncio.get_running_loop().run_in_executor(None, self.on_change)
            if self.memory.judge().held():
                self._spawn(self.follow_reviews())

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _refusal(self, code: str, message: str, *, retryable: bool = True) -> Outcome:
        return refusal(code, "start", message, server=self.config.id, retryable=retryable)
