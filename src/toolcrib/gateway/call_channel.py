"""What a tool says and asks in the middle of a call, for the client that made it.

    progress   ──>  ProgressRelay   only if the client asked for it
    log lines  ──>  LogForwarder    from the level that the client wants
    questions  ──>  client_asker    what the client declared that it can answer

A client of the handshake is sent each of them on the stream of its own request. A client of the
modern era cannot be sent a question: see `input_requests`.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from toolcrib.gateway import sdk
from toolcrib.model import (
    InputHandler,
    InputMethod,
    InputRequest,
    JsonObject,
    LogHandler,
    ProgressHandler,
)

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
DEFAULT_LEVEL = "info"
MOST_UNSENT = 100
MOST_WAITING = 64
_LEVEL_KEY = "toolcrib/log-level"
_METHODS: Mapping[InputMethod, tuple[Any, type[sdk.BaseModel]]] = {
    "elicitation/create": (sdk.ElicitRequest, sdk.ElicitResult),
    "sampling/createMessage": (sdk.CreateMessageRequest, sdk.CreateMessageResult),
    "roots/list": (sdk.ListRootsRequest, sdk.ListRootsResult),
}
Replies: TypeAlias = Mapping[str, JsonObject]


class CallChannel:
    """From one call to its client. `context` is the request that is served now.

    `progress` is None where the client did not ask for it.
    """

    def __init__(self, logs: "LogForwarder", ask: InputHandler) -> None:
        self._logs = logs
        self.ask = ask
        self.log: LogHandler = logs.log
        meta = logs.context.meta
        has_token = meta is not None and meta.get("progress_token") is not None
        self._relay = ProgressRelay(self._report) if has_token else None
        self.progress: ProgressHandler | None = self._relay

    @property
    def context(self) -> sdk.Context:
        return self._logs.context

    @property
    def is_modern(self) -> bool:
        """Whether its client is of the era without connections."""
        return sdk.is_modern(self.context)

    async def flush(self) -> None:
        """Return when all is sent: nothing comes after the result."""
        if self._relay:
            await self._relay.end()
        await self._logs.flush()

    async def _report(self, done: float, total: float | None, message: str | None) -> None:
        await self.context.session.report_progress(done, total, message)


class ProgressRelay:
    """Hands progress on to the client of a request, in order, and none after its result.

    A client that does not read fast enough misses the oldest.
    """

    def __init__(
        self, report: Callable[[float, float | None, str | None], Awaitable[None]]
    ) -> None:
        self._report = report
        self._waiting: deque[tuple[float, float | None, str]] = deque(maxlen=MOST_WAITING)
        self._sending: asyncio.Task[None] | None = None
        self._has_ended = False

    def __call__(self, done: float, total: float | None, message: str) -> None:
        """As `ProgressHandler` in the model."""
        if not self._has_ended:
            self._waiting.append((done, total, message))
            if self._sending is None or self._sending.done():
                self._sending = asyncio.ensure_future(self._send())

    async def end(self) -> None:
        """Return when all is sent that came until now; what comes later is dropped.

        Cancelled, it sends no more.
        """
        self._has_ended = True
        if self._sending:
            await self._sending

    async def _send(self) -> None:
        with suppress(Exception):  # the client is gone: its call ends by itself
            while self._waiting:
                done, total, message = self._waiting.popleft()
                await self._report(done, total, message or None)


class LogForwarder:
    """Log lines of one call. `context` is the request that is served now; it may be replaced.

    Lines are sent in their order. A client says from which level on it wants any: one of the
    handshake once and for all (`logging/setLevel`), one of the modern era with each request.
    """

    def __init__(self, context: sdk.Context) -> None:
        self.context = context
        self._unsent: set[asyncio.Task[None]] = set()

    def log(self, message: JsonObject) -> None:
        """Send one message of the protocol (level, data, logger), if the client wants it."""
        context = self.context
        if message.get("level") in log_levels(context) and len(self._unsent) < MOST_UNSENT:
            task = asyncio.ensure_future(_send_log(context, message))
            self._unsent.add(task)
            task.add_done_callback(self._unsent.discard)

    async def flush(self) -> None:
        """Return when all is sent: nothing comes after the result."""
        if self._unsent:
            await asyncio.wait(self._unsent)


def log_levels(context: sdk.Context) -> tuple[str, ...]:
    """The levels that the client of this request wants to hear."""
    if sdk.is_modern(context):
        meta: JsonObject = dict(context.meta or {})
        least = meta.get(sdk.LOG_LEVEL_META_KEY)
    else:
        least = sdk.connection_of(context).state.get(_LEVEL_KEY, DEFAULT_LEVEL)
    return LEVELS[LEVELS.index(least) :] if least in LEVELS else ()


async def set_log_level(context: sdk.Context, params: sdk.SetLevelRequestParams) -> sdk.EmptyResult:
    """Serve `logging/setLevel`: for this connection, and for no other."""
    sdk.connection_of(context).state[_LEVEL_KEY] = params.level
    return sdk.EmptyResult()


async def _send_log(context: sdk.Context, message: JsonObject) -> None:
    notification = sdk.LoggingMessageNotification.model_validate(
        {"method": "notifications/message", "params": message}
    )
    await context.session.send_notification(notification, context.request_id)


def client_asker(context: sdk.Context) -> InputHandler:
    """How to ask the client of this request. One of the modern era is asked nothing here."""

    async def ask(requests: Mapping[str, InputRequest]) -> Replies:
        possible = {key: each for key, each in requests.items() if can_reply(context, each)}
        if sdk.is_modern(context) or not context.session.can_send_request:
            return {}
        replies = await asyncio.gather(*(_reply(context, each) for each in possible.values()))
        paired = zip(possible, replies, strict=True)
        return {key: reply for key, reply in paired if reply is not None}

    return ask


def can_reply(context: sdk.Context, request: InputRequest) -> bool:
    """Whether the client has declared that it can be asked this."""
    has = context.session.client_capabilities or sdk.ClientCapabilities()
    if request.question == "roots/list":
        return has.roots is not None
    if request.question == "sampling/createMessage":
        with_tools = "tools" in request.params or "toolChoice" in request.params
        return has.sampling is not None and not (with_tools and has.sampling.tools is None)
    if request.params.get("mode") == "url":
        return has.elicitation is not None and has.elicitation.url is not None
    return has.elicitation is not None


async def _reply(context: sdk.Context, request: InputRequest) -> JsonObject | None:
    """The reply; None where the client, or the person at it, gives none."""
    model, result = _METHODS[request.question]
    params = {"params": request.params} if request.params else {}
    try:
        reply = await context.session.send_request(
            model.model_validate({"method": request.question, **params}),
            result,
            metadata=sdk.ServerMessageMetadata(related_request_id=context.request_id),
        )
    except (sdk.MCPError, sdk.ValidationError):
        return None
    return reply.model_dump(**sdk.AS_SENT)
