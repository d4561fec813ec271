"""The SDK's HTTP transport of the handshake era, with plain answers where plain ones do.

The SDK answers each POST by a stream of events, with a handful of tasks and queues for each. Most
requests have one answer and nothing before it: those get it as JSON, which every client has to
take. As soon as there is more to say (progress, log messages, questions), and for a call that takes
long, the same POST becomes a stream.

    POST ──> JsonFirstTransport ──> server ──> route ──> the answer alone:  application/json
                                                    └──> something before:  text/event-stream

This is the only module that knows the SDK's transport from within.
"""

# pyright: reportPrivateUsage=false

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from anyio import ClosedResourceError, EndOfStream, create_memory_object_stream, move_on_after
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.streamable_http import (
    GET_STREAM_KEY,
    REQUEST_CANCELLED,
    REQUEST_STREAM_BUFFER_SIZE,
    EventMessage,
    StreamableHTTPServerTransport,
)
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared._context_streams import create_context_streams
from mcp.shared._stream_protocols import ReadStream, WriteStream
from starlette.requests import Request

from toolcrib.gateway import sdk
from toolcrib.http import Receive, Scope, Send

PING_S = 15.0
"""A call that takes longer than this is answered by a stream, which is kept alive."""
_PING = b": ping\r\n\r\n"
_STREAM = "text/event-stream"
_ENDED = "Session terminated before the request completed"
_SESSION = b"mcp-session-id"


class HttpSessionManager(StreamableHTTPSessionManager):
    """The SDK's, with our transport for sessions. The guard has read and bounded each body."""

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._handle_request(scope, receive, send)

    def _admit_session(self, requestor: Any) -> StreamableHTTPServerTransport | None:  # noqa: ANN401 - the SDK's
        admitted = super()._admit_session(requestor)
        if admitted is None or admitted.mcp_session_id is None:
            return admitted
        ours = JsonFirstTransport(
            admitted.mcp_session_id,
            security_settings=self.security_settings,
            idle_timeout=self.session_idle_timeout,
        )
        self._server_instances[admitted.mcp_session_id] = ours
        return ours


class JsonFirstTransport(StreamableHTTPServerTransport):
    """One session. Messages go from the server to whoever waits for them, with no task between."""

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
            await write.aclose()
            await read.aclose()

    async def route(self, item: sdk.SessionMessage) -> None:
        """Hand a message of the server to the request that it belongs to, else to the GET stream.

        One that nobody waits for is dropped.
        """
        waiting = self._request_streams.get(_stream_of(item))
        if waiting:
            try:
                await waiting[0].send(EventMessage(item.message))
            except (sdk.BrokenResourceError, ClosedResourceError):
                self._request_streams.pop(_stream_of(item), None)

    async def _terminate_unanswered_request(self, request_id: int | str) -> None:
        error = sdk.ErrorData(code=REQUEST_CANCELLED, message="Request cancelled")
        answer = sdk.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)
        await self.route(sdk.SessionMessage(answer))

    async def _handle_post_request(
        self, scope: Scope, request: Request, receive: Receive, send: Send
    ) -> None:
        message = _plain_request(await request.body())
        if message is None:  # a notification, a reply, a greeting, or a mistake
            await super()._handle_post_request(scope, request, receive, send)
        elif await self._validate_accept_header(request, scope, send) and (
            await self._validate_request_headers(request, send)
        ):
            await self._answer(message, request, send)

    async def _answer(self, message: sdk.JSONRPCRequest, request: Request, send: Send) -> None:
        writer, id = self._read_stream_writer, str(message.id)
        assert writer  # noqa: S101 - the session is connected
        streams = create_memory_object_stream[EventMessage](REQUEST_STREAM_BUFFER_SIZE)
        self._request_streams[id] = streams
        unanswered = partial(self._terminate_unanswered_request, message.id)
        metadata = self._message_metadata(request, on_request_unanswered=unanswered)
        try:
            await writer.send(sdk.SessionMessage(message, metadata=metadata))
            await self._reply(streams[1], send)
        except (EndOfStream, ClosedResourceError, sdk.BrokenResourceError):
            await self._send_head(send, 500)
            error = sdk.ErrorData(code=sdk.INTERNAL_ERROR, message=_ENDED)
            await _send_body(send, _json(sdk.JSONRPCError(jsonrpc="2.0", id=None, error=error)))
        finally:
            await self._clean_up_memory_streams(id)

    async def _reply(self, messages: MemoryObjectReceiveStream[EventMessage], send: Send) -> None:
        """The answer, or the stream of all that comes before it. Raises `EndOfStream`."""
        first = await _next(messages)
        if first and _is_answer(first):
            content = _json(first)
            await self._send_head(send, 200, length=len(content))
            await _send_body(send, content)
            return
        await self._send_head(send, 200, _STREAM)
        while first is None or not _is_answer(first):
            await _send_body(send, _event(first), more=True)
            try:
                first = await _next(messages)
            except (EndOfStream, ClosedResourceError):  # the session has ended
                await _send_body(send, b"")
                return
        await _send_body(send, _event(first))

    async def _send_head(
        self, send: Send, status: int, kind: str = "application/json", length: int | None = None
    ) -> None:
        headers = [
            (b"content-type", kind.encode()),
            (b"cache-control", b"no-cache, no-transform"),
            (_SESSION, (self.mcp_session_id or "").encode()),
        ]
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        await send({"type": "http.response.start", "status": status, "headers": headers})


class _Router(sdk.AsyncResource):
    """Where the server of a session writes."""

    def __init__(self, transport: JsonFirstTransport) -> None:
        self._transport = transport

    async def send(self, item: sdk.SessionMessage, /) -> None:
        await self._transport.route(item)

    async def aclose(self) -> None:
        """Nothing is ours to close."""


def _plain_request(body: bytes) -> sdk.JSONRPCRequest | None:
    """The request in a body; None for any other message, and for a greeting."""
    try:
        message = sdk.jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return None
    if isinstance(message, sdk.JSONRPCRequest) and message.method != "initialize":
        return message
    return None


def _stream_of(item: sdk.SessionMessage) -> str:
    """Whose stream a message goes to: that of its request, or the one of a GET."""
    message, metadata = item.message, item.metadata
    if isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError):
        return GET_STREAM_KEY if message.id is None else str(message.id)
    is_related = isinstance(metadata, sdk.ServerMessageMetadata)
    related = metadata.related_request_id if is_related else None
    return GET_STREAM_KEY if related is None else str(related)


async def _next(messages: MemoryObjectReceiveStream[EventMessage]) -> sdk.JSONRPCMessage | None:
    """The next message; None if none comes for a while. Raises `EndOfStream`."""
    with move_on_after(PING_S):
        return (await messages.receive()).message
    return None


def _is_answer(message: sdk.JSONRPCMessage) -> bool:
    return isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError)


def _json(message: sdk.JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _event(message: sdk.JSONRPCMessage | None) -> bytes:
    """One event of a stream; None: that it is still alive."""
    return _PING if message is None else b"event: message\r\ndata: " + _json(message) + b"\r\n\r\n"


async def _send_body(send: Send, content: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": content, "more_body": more})
