"""Plain calls of tools past the SDK's dispatcher: one task each, and one model for the result.

The SDK's dispatcher makes a task group, a span, four models and a copy of the result for each
request. It goes on serving every request but a plain call in the handshake era; a plain one has
`name`, `arguments` and `_meta` as every revision has them. What is unusual is the SDK's to judge.

    request ──> CallDispatcher ──> plain call:  GatewayServer.call_plainly ──> JSON of the result
                              └──> all else:    the SDK's own way

Over pipes a call takes four turns of the loop, and is handed from one to the next without a queue:

    1  a line of the client   LineReader ──> MessageReader: bounds, gate ──> CallDispatcher.begin
    2  its task               FixedTools ──> Crib.call ──> Door ──> McpSource ──> PipeRequests.send
    3  a line of the server   LineReader ──> Tap: secrets, lists ──> PipeRequests.take_reply
    4  its task               Door ──> Crib.call ──> FixedTools ──> send_answer

This is the only module that knows the SDK's dispatcher from within.
"""

# pyright: reportPrivateUsage=false

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from contextvars import Context as ContextVars
from typing import Any, Literal, Protocol, TypeAlias, cast, runtime_checkable

from mcp.server.connection import Connection
from mcp.server.runner import (
    ServerRunner,
    _extract_meta,
    aclose_shielded,
)
from mcp.server.session import ServerSession
from mcp.shared.dispatcher import DispatchContext, OnNotify, OnRequest, coerce_request_id
from mcp.shared.jsonrpc_dispatcher import (
    JSONRPCDispatcher,
    _JSONRPCDispatchContext,
    cancelled_request_id_from_params,
    handler_exception_to_error_data,
    progress_token_from_params,
)
from mcp.shared.message import MessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import CONNECTION_CLOSED

from toolcrib.gateway import sdk

CALL = "tools/call"
CANCELLED = "notifications/cancelled"
LAST_ANSWER_S = 1.0
_PLAIN_KEYS = frozenset({"name", "arguments", "_meta"})
_INLINE = frozenset({"initialize"})
_ENVELOPED = (
    "this connection serves the handshake protocol era; "
    "requests carrying the 2026-07-28 envelope are not accepted on it"
)
_log = logging.getLogger(__name__)

RequestId: TypeAlias = int | str


class CallServer(Protocol):
    """What serves the requests of a connection."""

    @property
    def mcp_server(self) -> sdk.Server[Any]: ...

    def client_left(self, connection: Connection, id: RequestId) -> None:
        """Nobody waits for the answer to this request any more."""
        ...

    async def call_plainly(self, context: sdk.Context) -> bytes:
        """Serve `tools/call` in the handshake era; the result as JSON. Raises `MCPError`."""
        ...


@runtime_checkable
class AnswerWriter(Protocol):
    """A stream of messages that takes answers as JSON too."""

    async def send_answer(self, id: RequestId, answer: bytes) -> None:
        """Send an answer to the request of this id. Raises what the SDK takes for the end."""
        ...


@runtime_checkable
class CallStream(Protocol):
    """A stream of messages that gives plain calls to whoever serves them, past those who read."""

    def hand_calls_to(self, taker: "CallDispatcher", /) -> None:
        """From now on."""
        ...


class _RunningCall:
    """A plain call under way. `why` is why its task was cancelled by us; "" if it was not."""

    def __init__(self, task: "asyncio.Task[Any] | None" = None) -> None:
        self.task = task
        self.why: Literal["", "cancelled", "ended"] = ""

    def cancel(self, why: Literal["cancelled", "ended"]) -> None:
        """The client has cancelled it, or the connection has ended."""
        if self.task and not self.why:
            self.why = why
            self.task.cancel()

    def settle(self) -> None:
        """Go on after its task was cancelled. Raises `CancelledError` if that was not for this.

        Raises `ClosedResourceError` if the connection has ended.
        """
        if not self.task or not self.why:
            raise asyncio.CancelledError
        self.task.uncancel()
        if self.why == "ended":
            raise sdk.ClosedResourceError


def is_plain_call(request: sdk.JSONRPCRequest) -> bool:
    """Whether a request is a call that the checks of every revision would let pass."""
    params = request.params
    if request.method != CALL or params is None or not params.keys() <= _PLAIN_KEYS:
        return False
    meta = params.get("_meta", {})
    return (
        isinstance(params.get("name"), str)
        and isinstance(params.get("arguments", {}), dict)
        and isinstance(meta, dict)
        and ("progressToken" not in meta or progress_token_from_params(params) is not None)
        and not sdk.has_modern_envelope(params)
    )


class CallDispatcher(JSONRPCDispatcher[TransportContext]):
    """The SDK's dispatcher of one connection of the handshake era, but for plain calls."""

    def __init__(
        self,
        server: CallServer,
        read: sdk.ReadStream[sdk.Item],
        write: sdk.WriteStream[sdk.SessionMessage],
        *,
        session_id: str | None = None,
    ) -> None:
        """Over HTTP there is a `session_id`, and whoever has a request asks for its `answer`."""
        super().__init__(read, write, inline_methods=_INLINE)
        self._server = server
        self._answers = write if isinstance(write, AnswerWriter) else None
        self._connection = Connection.for_loop(self, session_id=session_id)
        self._state: Any = None
        self._calls: dict[RequestId, _RunningCall] = {}
        self._is_traced = sdk.is_traced()

    async def serve(self, lifespan_state: Any) -> None:  # noqa: ANN401 - the SDK's
        """Until no more messages come."""
        self._state = lifespan_state
        server, connection = self._server.mcp_server, self._connection
        if self._answers and isinstance(self._read_stream, CallStream):
            self._read_stream.hand_calls_to(self)
        options = server.create_initialization_options()
        runner = ServerRunner(server, connection, lifespan_state, init_options=options)
        is_routed = connection.session_id is not None  # over HTTP by a header
        on_request = runner.on_request if is_routed else _refusing_envelopes(runner.on_request)
        try:
            await self.run(on_request, runner.on_notify)
        finally:
            await self._end_calls()
            await aclose_shielded(connection)

    def takes(self, request: sdk.JSONRPCRequest) -> bool:
        """Whether `answer` is for this request."""
        return (
            is_plain_call(request)
            and not self._is_traced
            and self._connection.initialize_accepted
            and coerce_request_id(request.id) not in self._calls
        )

    def begin(self, request: sdk.JSONRPCRequest) -> None:
        """Answer it in a task, on the stream of answers."""
        call = self._calls[coerce_request_id(request.id)] = _RunningCall()
        call.task = asyncio.create_task(self._send_answer(request, call))

    async def answer(
        self, request: sdk.JSONRPCRequest, metadata: MessageMetadata = None
    ) -> bytes | None:
        """The answer to a plain call, as JSON; None if the client has cancelled it.

        Raises `ClosedResourceError` when the connection ends first.
        """
        call = self._calls[coerce_request_id(request.id)] = _RunningCall(asyncio.current_task())
        return await self._answer(request, metadata, call)

    def client_left(self, id: RequestId) -> None:
        """Nobody waits for the answer to this request any more. What runs already, runs on."""
        self._server.client_left(self._connection, id)

    async def _answer(
        self, request: sdk.JSONRPCRequest, metadata: MessageMetadata, call: _RunningCall
    ) -> bytes | None:
        channel = self._channel(request, metadata)
        try:
            result = await self._server.call_plainly(self._context(request, channel))
        except asyncio.CancelledError:
            return call.settle()
        except Exception as error:  # noqa: BLE001 - it is the answer, as the SDK has it
            return _failure(request.id, error)
        finally:
            channel.close()
            self._forget(request.id, call)
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (sdk.to_json(request.id), result)

    def _forget(self, id: RequestId, call: _RunningCall) -> None:
        if self._calls.get(key := coerce_request_id(id)) is call:
            del self._calls[key]

    def _channel(
        self, request: sdk.JSONRPCRequest, metadata: MessageMetadata
    ) -> _JSONRPCDispatchContext[TransportContext]:
        """Back to the client of this request."""
        return _JSONRPCDispatchContext(
            self._transport_builder(metadata),
            self,
            request.id,
            metadata,
            progress_token_from_params(request.params),
            cancel_requested=cast("Any", asyncio.Event()),  # a plain one is enough, and cheaper
        )

    def _context(
        self, request: sdk.JSONRPCRequest, channel: _JSONRPCDispatchContext[TransportContext]
    ) -> sdk.Context:
        meta, connection = _extract_meta(request.params), self._connection
        return sdk.ServerRequestContext(
            session=ServerSession(channel, connection, request_meta=meta),
            lifespan_context=self._state,
            method=request.method,
            params=request.params,
            request_id=request.id,
            meta=meta,
            protocol_version=connection.protocol_version,
        )

    async def _dispatch_request(
        self,
        req: sdk.JSONRPCRequest,
        metadata: MessageMetadata,
        on_request: OnRequest,
        sender_ctx: ContextVars | None,
    ) -> None:
        if self._answers and self.takes(req):
            self.begin(req)
        else:
            await super()._dispatch_request(req, metadata, on_request, sender_ctx)

    async def _send_answer(self, request: sdk.JSONRPCRequest, call: _RunningCall) -> None:
        answers = self._answers
        assert answers  # noqa: S101 - else nobody begins
        try:
            answer = await self._answer(request, None, call)
        except sdk.ClosedResourceError:
            answer = _failure(request.id, sdk.MCPError(CONNECTION_CLOSED, "Connection closed"))
        with suppress(sdk.BrokenResourceError, sdk.ClosedResourceError):
            if answer is not None:
                await answers.send_answer(request.id, answer)

    def _dispatch_notification(
        self,
        msg: sdk.JSONRPCNotification,
        metadata: MessageMetadata,
        on_notify: OnNotify,
        sender_ctx: ContextVars | None,
    ) -> None:
        if msg.method == CANCELLED:
            id = cancelled_request_id_from_params(msg.params)
            call = None if id is None else self._calls.pop(coerce_request_id(id), None)
            if call:
                call.cancel("cancelled")
        super()._dispatch_notification(msg, metadata, on_notify, sender_ctx)

    async def _end_calls(self) -> None:
        calls = [*self._calls.values()]
        for call in calls:
            call.cancel("ended")
        if tasks := {call.task for call in calls if call.task}:
            with sdk.CancelScope(shield=True):
                await asyncio.wait(tasks, timeout=LAST_ANSWER_S)


def _refusing_envelopes(on_request: OnRequest) -> OnRequest:
    """The same for requests of the handshake era; those of the modern one are refused."""

    async def refuse_or_serve(
        channel: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        if method != "initialize" and sdk.has_modern_envelope(params):
            raise sdk.MCPError(sdk.INVALID_REQUEST, _ENVELOPED)
        return await on_request(channel, method, params)

    return refuse_or_serve


def _failure(id: RequestId, error: Exception) -> bytes:
    """The answer to a request whose handler has raised."""
    data = handler_exception_to_error_data(error)
    if data is None:
        _log.error("a call failed", exc_info=error)
        data = sdk.ErrorData(code=0, message=str(error))
    answer = sdk.JSONRPCError(jsonrpc="2.0", id=id, error=data)
    return answer.model_dump_json(by_alias=True, exclude_unset=True).encode()
