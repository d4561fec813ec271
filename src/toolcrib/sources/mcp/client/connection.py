"""One connection to one server: `initialize`, lists, requests, close. One task owns it.

A transport of the SDK has to be entered and left in one task. So a task of its own holds it for as
long as it lives; callers use the client from other tasks of the same loop.
"""

import asyncio
from collections.abc import Callable, Coroutine
from importlib.metadata import version
from typing import TypeVar, cast

from toolcrib.model import CallContext, Deadline, JsonObject, Outcome
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.client.active_calls import ActiveCalls, forward_log, mark_context
from toolcrib.sources.mcp.client.client_features import ClientCallbacks
from toolcrib.sources.mcp.client.list_requests import list_all
from toolcrib.sources.mcp.client.round_trips import (
    failed_outcome,
    outcome_of,
    run_request,
    trace_meta,
)
from toolcrib.sources.mcp.client.senders import UpstreamResult, pipe_sender, session_sender
from toolcrib.sources.mcp.client.subscriptions import Subscriptions
from toolcrib.sources.mcp.client.upstream_request import SUBSCRIPTIONS, UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.listing import (
    ProtocolMode,
    ServerFacts,
    ServerIntroduction,
    ServerListing,
    client_capabilities,
)
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.outcome import StartFailed, refusal
from toolcrib.sources.mcp.sanitize import without_surrogates
from toolcrib.sources.mcp.server_log import ServerLog
from toolcrib.sources.mcp.transport.endpoint import RemoteEndpoint, open_endpoint
from toolcrib.sources.mcp.transport.tap import Tap
from toolcrib.system import CallQuestions, DeadlineTimer, done_in_time

LAST_WORDS_S = 0.2
LOOK_AGAIN_S = 0.5
LONGEST_INSTRUCTIONS = 16 * 1024

T = TypeVar("T")


class Connection:
    """A connection that is up, until `lost` is set or `close` was called."""

    def __init__(  # noqa: PLR0913, PLR0917 - all that its supervisor has for it
        self,
        config: ServerConfig,
        on_list_changed: Callable[[], None],
        logins: ServerLogin | None = None,
        on_updated: Callable[[str], None] = lambda _uri: None,
        large_lists: asyncio.Semaphore | None = None,
        log: ServerLog | None = None,
    ) -> None:
        self._config = config
        self._large_lists = large_lists or asyncio.Semaphore(1)
        self._calls = ActiveCalls()
        self._subscriptions = Subscriptions()
        self._endpoint = open_endpoint(config, logins, log or ServerLog(config.id))
        self._tap = Tap(
            on_list_changed,
            lambda message, context: forward_log(message, self._calls.find(context)),
            on_updated,
            self._endpoint.redactor,
        )
        self._listing = asyncio.Lock()
        self._leaving = asyncio.Event()
        self._client: sdk.Client | None = None
        self._owner: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[object]] = set()

    async def start(self, mode: ProtocolMode, left: Callable[[], float]) -> ServerIntroduction:
        """Reach the server and list what it has. Raises `StartFailed` when no seconds are `left`.

        Then the rest of it ends by itself; `close` waits for that.
        """
        ready: asyncio.Future[ServerIntroduction] = asyncio.get_running_loop().create_future()
        owner = self._owner = asyncio.create_task(self._live(mode, ready))
        owner.add_done_callback(_retrieve_exception)
        try:
            while not (owner.done() or ready.done()) and (seconds := left()) > 0:
                seconds = min(seconds, LOOK_AGAIN_S)
                await asyncio.wait({owner, ready}, timeout=seconds, return_when="FIRST_COMPLETED")
        finally:
            if not ready.done():
                owner.cancel()
        if ready.done():
            self.settle()
            return ready.result()
        raise self._failed(owner)

    def settle(self) -> None:
        """The server runs by now, so that stopping it interrupts no install."""
        self._endpoint.settle()

    @property
    def pid(self) -> int | None:
        """The process of a server that is ours; None if there is none."""
        return self._endpoint.pid

    @property
    def status(self) -> int | None:
        """The exit status of that process; None while it runs, and where there is none."""
        return self._endpoint.status

    @property
    def lost(self) -> bool:
        """Whether nothing more will come from it."""
        return self._tap.ended.is_set() or self._owner is None or self._owner.done()

    async def wait_lost(self) -> None:
        """Return when the server is gone, or when this was closed."""
        await self._tap.ended.wait()

    async def list_all(self, deadline: Deadline) -> ServerListing:
        """All that it lists, raw. Raises `StartFailed`.

        A server that refuses us is disconnected.
        """
        try:
            return await self._within(deadline, self._list())
        except Exception as error:
            outcome = self._refused(_first(error))
            if outcome and (why := outcome.error):
                raise StartFailed(why.code, why.message, retryable=why.retryable) from error
            how = "takes too long" if isinstance(error, TimeoutError) else "fails"
            raise StartFailed("list_failed", f"{how} to list its tools") from error

    async def request(self, request: UpstreamRequest, context: CallContext) -> Outcome:
        """Send a request, and be done by its deadline, which is paused while the server asks.

        Cancelling it cancels the request on the server.
        """
        questions = CallQuestions(context.ask, context.deadline)
        context = context.changed(ask=questions.ask)
        try:
            return outcome_of(await self._result(request, context), self._config.id)
        except Exception as error:  # noqa: BLE001 - whatever it is, the request was sent
            first = _first(error)
            if isinstance(first, TimeoutError):
                first = TimeoutError(context.deadline.passed)
            return self._refused(first) or failed_outcome(
                first, self._config.id, await self._last_words(), self._endpoint.redactor
            )
        finally:
            questions.close()

    async def close(self) -> None:
        """End it, with its process and all that it started. Bounded by what a process may take."""
        self._leaving.set()
        owners = {self._owner, *self._tasks} - {None}
        for stray in self._tasks:
            stray.cancel()
        if owners:
            await asyncio.wait({task for task in owners if task})

    @property
    def _up(self) -> sdk.Client:
        if self._client is None:
            raise RuntimeError("used before it was started")
        return self._client

    async def _list(self) -> ServerListing:
        async with self._listing:  # the tap holds one page of a kind at a time
            return await list_all(self._up, self._tap, self._large_lists)

    async def _result(self, request: UpstreamRequest, context: CallContext) -> UpstreamResult:
        pipe = self._tap.pipe if request.method == "tools/call" else None
        if pipe is None or sdk.is_traced():
            return await self._within(context.deadline, self._send(request, context))
        send = pipe_sender(self._up.session, pipe)
        with self._calls.active(context), DeadlineTimer(context.deadline):
            return await run_request(send, request, context, self._config)

    async def _send(self, request: UpstreamRequest, context: CallContext) -> UpstreamResult:
        """By the SDK's session, in a task of its own."""
        if request.method in SUBSCRIPTIONS:
            return await self._subscriptions.of_resource(self._up, request)
        send = session_sender(self._up.session)
        with self._calls.active(context), sdk.in_trace(trace_meta(context)):
            mark_context(context)
            try:
                return await run_request(send, request, context, self._config)
            except sdk.MCPError as error:
                if error.code != sdk.HEADER_MISMATCH:
                    raise
            await self._list()  # the schema says what goes into the headers, and has changed
            return await run_request(send, request, context, self._config)

    async def _live(self, mode: ProtocolMode, ready: "asyncio.Future[ServerIntroduction]") -> None:
        """Hold the connection from its beginning to its end."""
        discover = sdk.DiscoverResult.model_validate(mode.discover) if mode.discover else None
        info = sdk.Implementation(name="toolcrib", version=version("toolcrib"))
        transport = self._tap.over(self._endpoint.streams())
        config = self._config
        features = ClientCallbacks(self._calls, config)
        client = sdk.Client(
            transport,
            mode=mode.name,
            prior_discover=discover,
            client_info=info,
            cache=None,
            elicitation_callback=features.elicit if config.elicitation else None,
            sampling_callback=features.sample if config.sampling else None,
            list_roots_callback=features.roots,
        )
        try:
            async with client:
                self._client = client
                introduction = ServerIntroduction(
                    _facts(client), await self._list(), client_capabilities(config)
                )
                if not ready.done():
                    ready.set_result(introduction)
                async with self._subscriptions.of_lists(client):
                    await self._until_ended()
        finally:
            self._tap.end()

    async def _until_ended(self) -> None:
        waits = [asyncio.ensure_future(each.wait()) for each in (self._leaving, self._tap.ended)]
        try:
            await asyncio.wait(waits, return_when="FIRST_COMPLETED")
        finally:
            for wait in waits:
                wait.cancel()

    async def _within(self, deadline: Deadline, work: Coroutine[object, object, T]) -> T:
        """What the work returns. At the deadline it is left to itself: ending it may take long."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            done = await done_in_time(task, deadline)
        finally:
            if not task.done():
                task.cancel()
        if not done:
            raise TimeoutError("there was no reply in time")
        if task.cancelled():
            raise ConnectionResetError("it was stopped meanwhile")
        return task.result()

    def _refused(self, error: BaseException) -> Outcome | None:
        """The outcome if the server wants a login or has ended our session; ends the connection.

        None for a request that it did not answer, whatever it answered to others meanwhile.
        """
        server, endpoint = self._config.id, self._endpoint
        is_answer = isinstance(error, sdk.MCPError)
        if isinstance(endpoint, RemoteEndpoint) and endpoint.needs_login and is_answer:
            self._tap.end()
            message = endpoint.login_message
            return refusal("needs_login", "call", message, server=server, retryable=False)
        if endpoint.expired:
            self._tap.end()
            message = "has ended our session; call again"
            return refusal("session_expired", "call", message, server=server)
        return None

    async def _last_words(self) -> str:
        """The exit status and the end of stderr of a server that is gone; else empty."""
        if not self._tap.ended.is_set() or self._owner is None:
            return ""
        await asyncio.wait({self._owner}, timeout=LAST_WORDS_S)
        return self._endpoint.tail()

    def _failed(self, owner: "asyncio.Task[None]") -> StartFailed:
        if not owner.done():
            return self._endpoint.late()
        error = None if owner.cancelled() else owner.exception()
        return self._endpoint.explained(_first(error) if error else None)


def _facts(client: sdk.Client) -> ServerFacts:
    discover = client.session.discover_result
    return ServerFacts(
        version=client.protocol_version,
        discover=_plain(discover) if discover else None,
        capabilities=_plain(client.server_capabilities),
        info=_plain(client.server_info) if client.server_info else {},
        instructions=without_surrogates(client.instructions or "", LONGEST_INSTRUCTIONS),
    )


def _plain(model: sdk.BaseModel) -> JsonObject:
    return model.model_dump(**sdk.AS_SENT)


def _first(error: BaseException) -> BaseException:
    """The first of what a group of errors holds, however deep."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def _retrieve_exception(task: "asyncio.Task[None]") -> None:
    """Look at how a task ended; asyncio would warn that nobody did."""
    if not task.cancelled():
        task.exception()
