"""The SDK's HTTP transport of the handshake era, with plain answers where plain ones do.

The SDK answers each POST by a stream of events, with a handful of tasks and queues for each. Here
a request is answered by whoever has something to say: see `post_reply`. A plain call does not even
meet the session's loop, and is served in the task of its POST: see `call_dispatcher`.

    POST ──> HandshakeTransport ──> plain call:     CallDispatcher.answer ──┐
                               ├──> other request:  the session's loop ─────┴──> PostReply
                               └──> all else:       the SDK

This is the only module that knows the SDK's transport from within.
"""

# pyright: reportPrivateUsage=false

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

from anyio import TASK_STATUS_IGNORED
from anyio.abc import TaskStatus
from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    REQUEST_CANCELLED,
    EventMessage,
    StreamableHTTPServerTransport,
)
from mcp.server.streamable_http_manager import (
    StreamableHTTPSessionManager,
    _send_and_report_status,
)
from mcp.shared._context_streams import create_context_streams
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request

from toolcrib.gateway import sdk
from toolcrib.gateway.call_dispatcher import CallDispatcher, CallServer
from toolcrib.gateway.http.post_reply import PostReply
from toolcrib.http import HEADERS, Receive, Scope, Send, replayed

FIRST_ERROR = 400
LISTEN_S = 0.5
_ACCEPTED = frozenset({"application/json", "text/event-stream"})

_log = logging.getLogger(__name__)


def opens_session(headers: Mapping[str, str]) -> bool:
    """Whether a POST with these headers begins a session of the handshake era."""
    return "mcp-session-id" not in headers and _is_handshake(headers)


def _is_handshake(headers: Mapping[str, str]) -> bool:
    version = headers.get("mcp-protocol-version")
    return version is None or version in HANDSHAKE_PROTOCOL_VERSIONS


class HttpSessionManager(StreamableHTTPSessionManager):
    """The SDK's, with our transport for sessions. The guard has checked and read each request."""

    def __init__(self, server: CallServer, **sdks: Any) -> None:  # noqa: ANN401 - the SDK's
        super().__init__(server.mcp_server, **sdks)
        self._server = server

    @property
    def has_sessions(self) -> bool:
        """Whether a client of the handshake era may come again."""
        return bool(self._server_instances)

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        headers = scope.get(HEADERS, {})
        session = self._server_instances.get(headers.get("mcp-session-id", ""))
        if session and _is_handshake(headers) and scope["method"] == "POST":
            await session.handle_request(scope, receive, send)
        else:
            await self._handle_request(scope, receive, send)

    def _admit_session(self, requestor: Any) -> StreamableHTTPServerTransport | None:  # noqa: ANN401 - the SDK's
        admitted = super()._admit_session(requestor)
        if admitted is None or admitted.mcp_session_id is None:
            return admitted
        ours = HandshakeTransport(
            admitted.mcp_session_id,
            security_settings=self.security_settings,
            idle_timeout=self.session_idle_timeout,
        )
        self._server_instances[admitted.mcp_session_id] = ours
        return ours

    async def _serve_opening_request(
        self,
        http_transport: StreamableHTTPServerTransport,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Start the session; where its opening request is refused, there is none."""
        assert isinstance(http_transport, HandshakeTransport)  # noqa: S101 - as it was admitted
        assert self._task_group  # noqa: S101 - the manager runs
        status: int | None = None
        try:
            await self._task_group.start(self._run_session, http_transport)
            answer = http_transport.handle_request
            status = await _send_and_report_status(answer, scope, receive, send)
        finally:
            if status is None or status >= FIRST_ERROR:
                await self._discard_session(http_transport.id, http_transport)

    async def _run_session(
        self,
        transport: "HandshakeTransport",
        *,
        task_status: TaskStatus[None] = TASK_STATUS_IGNORED,
    ) -> None:
        """Until the client or its silence ends it."""
        try:
            async with transport.connect() as (read, write):
                dispatcher = CallDispatcher(self._server, read, write, session_id=transport.id)
                transport.dispatcher = dispatcher
                task_status.started()
                with transport.idle_scope or sdk.CancelScope():
                    await dispatcher.serve(self._lifespan_state)
        except Exception:  # noqa: BLE001 - this session alone, as the SDK has it
            _log.exception("a session crashed")
        finally:
            await self._discard_session(transport.id, transport)


class HandshakeTransport(StreamableHTTPServerTransport):
    """One session. `dispatcher` serves it, from when it is connected."""

    def __init__(self, id: str, **sdks: Any) -> None:  # noqa: ANN401 - the SDK's
        super().__init__(id, **sdks)
        self.id = id
        self.dispatcher: CallDispatcher | None = None
        self._replies: dict[str, PostReply] = {}

    @asynccontextmanager
    async def connect(
        self,
    ) -> AsyncGenerator[
        tuple[ReadStream[sdk.SessionMessage | Exception], WriteStream[sdk.SessionMessage]]
    ]:
        """The streams of the session."""
        if self._idle_timeout is not None:
            self.idle_scope = sdk.CancelScope()
        write, read = create_context_streams[sdk.SessionMessage | Exception](0)
        self._read_stream_writer, self._read_stream = write, read
        self._write_stream = self._write_stream_reader = None
        try:
            yield read, _Router(self)
        finally:
            for id in list(self._request_streams):
                await self._clean_up_memory_streams(id)
            await self._end_replies()
            await write.aclose()
            await read.aclose()

    async def terminate(self) -> None:
        """End the session, and with it what is under way."""
        await super().terminate()
        await self._end_replies()

    async def route(self, item: sdk.SessionMessage) -> None:
        """Hand a message of the server to the request that it belongs to, else to the GET stream.

        One that nobody waits for is dropped.
        """
        id = _stream_of(item)
        if reply := self._replies.get(id):
            await reply.say(item.message)
        elif waiting := self._request_streams.get(id):
            try:
                await waiting[0].send(EventMessage(item.message))
            except (sdk.BrokenResourceError, sdk.ClosedResourceError):
                self._request_streams.pop(id, None)

    async def _end_replies(self) -> None:
        for reply in [*self._replies.values()]:
            await reply.end()

    async def _handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        dispatcher = self.dispatcher
        if scope["method"] != "POST" or self._terminated or not dispatcher:
            await super()._handle_request(scope, receive, send)
            return
        body = (await receive()).get("body", b"")  # the guard has read all of it
        message = _request(body)
        if message and dispatcher.takes(message) and _accepts_both(scope):
            await self._call(dispatcher, message, receive, send)
        else:
            await super()._handle_request(scope, replayed(body, receive), send)

    async def _call(
        self,
        dispatcher: CallDispatcher,
        request: sdk.JSONRPCRequest,
        receive: Receive,
        send: Send,
    ) -> None:
        with self._replying(request.id, receive, send) as reply:
            try:
                answer = await dispatcher.answer(request)
            except sdk.ClosedResourceError:
                await reply.end()
            else:
                await reply.answer(_cancelled(request.id) if answer is None else answer)

    @contextmanager
    def _replying(self, id: int | str, receive: Receive, send: Send) -> Generator[PostReply]:
        """What is for this request goes to its POST meanwhile."""
        reply = self._replies[str(id)] = PostReply(send, self.id)
        leaving = _Leaving(receive, partial(self._client_left, id))
        try:
            yield reply
        finally:
            leaving.close()
            reply.close()
            if self._replies.get(str(id)) is reply:
                del self._replies[str(id)]

    def _client_left(self, id: int | str) -> None:
        if self.dispatcher:
            self.dispatcher.client_left(id)

    async def _handle_post_request(
        self, scope: Scope, request: Request, receive: Receive, send: Send
    ) -> None:
        message = _request(await request.body())
        if message is None:  # a notification, a reply, a greeting, or a mistake
            await super()._handle_post_request(scope, request, receive, send)
        elif await self._validate_accept_header(request, scope, send) and (
            await self._validate_request_headers(request, send)
        ):
            await self._answer(message, request, receive, send)

    async def _answer(
        self, message: sdk.JSONRPCRequest, request: Request, receive: Receive, send: Send
    ) -> None:
        """By the loop of the session."""
        writer = self._read_stream_writer
        assert writer  # noqa: S101 - the session is connected
        with self._replying(message.id, receive, send) as reply:
            unanswered = partial(reply.answer, _cancelled(message.id))
            metadata = self._message_metadata(request, on_request_unanswered=unanswered)
            try:
                await writer.send(sdk.SessionMessage(message, metadata=metadata))
            except (sdk.ClosedResourceError, sdk.BrokenResourceError):
                await reply.end()
            await reply.wait()


class _Leaving:
    """Listens whether the client of a POST hangs up, once its answer takes longer than a moment.

    A client that hangs up has not cancelled: what runs already, runs on.
    """

    def __init__(self, receive: Receive, on_left: Callable[[], None]) -> None:
        self._receive, self._on_left = receive, on_left
        self._listening: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(LISTEN_S, self._begin)

    def close(self) -> None:
        """There is an answer."""
        self._timer.cancel()
        if self._listening:
            self._listening.cancel()

    def _begin(self) -> None:
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._on_left()


class _Router(sdk.AsyncResource):
    """Where the server of a session writes."""

    def __init__(self, transport: HandshakeTransport) -> None:
        self._transport = transport

    async def send(self, item: sdk.SessionMessage, /) -> None:
        await self._transport.route(item)

    async def aclose(self) -> None:
        """Nothing is ours to close."""


def _request(body: bytes) -> sdk.JSONRPCRequest | None:
    """The request in a body; None for any other message, and for a greeting."""
    if call := sdk.call_on(body):
        return call
    try:
        message = sdk.jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return None
    if isinstance(message, sdk.JSONRPCRequest) and message.method != "initialize":
        return message
    return None


def _accepts_both(scope: Scope) -> bool:
    """Whether the client says, as it should, that it takes JSON and streams."""
    kinds = scope.get(HEADERS, {}).get("accept", "").split(",")
    return {kind.strip() for kind in kinds} >= _ACCEPTED


def _cancelled(id: int | str) -> bytes:
    error = sdk.ErrorData(code=REQUEST_CANCELLED, message="Request cancelled")
    answer = sdk.JSONRPCError(jsonrpc="2.0", id=id, error=error)
    return answer.model_dump_json(exclude_unset=True).encode()


def _stream_of(item: sdk.SessionMessage) -> str:
    """Whose stream a message goes to: that of its request, or the one of a GET."""
    message, metadata = item.message, item.metadata
    if isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError):
        return GET_STREAM_KEY if message.id is None else str(message.id)
    is_related = isinstance(metadata, sdk.ServerMessageMetadata)
    related = metadata.related_request_id if is_related else None
    return GET_STREAM_KEY if related is None else str(related)
