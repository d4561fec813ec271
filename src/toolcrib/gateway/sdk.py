"""The gateway's one door to the MCP SDK: what it uses of it, by the names it promises to keep.

Importing this takes about half a second, so only what serves does. The private names are where the
SDK keeps what it knows of a connection, and its loops for the two eras: `serve_stream` chooses
between them as `Server.run` does, which puts a task and a queue in front of each message.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from anyio import BrokenResourceError, CancelScope, ClosedResourceError
from anyio.abc import AsyncResource
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.runner import (
    _has_modern_envelope,  # pyright: ignore[reportPrivateUsage]
    _serve_legacy_stream,  # pyright: ignore[reportPrivateUsage]
    _serve_modern_stream,  # pyright: ignore[reportPrivateUsage]
)
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LOG_LEVEL_META_KEY,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    CallToolRequestParams,
    ClientCapabilities,
    CompleteRequestParams,
    CreateMessageRequest,
    CreateMessageResult,
    ElicitRequest,
    ElicitResult,
    EmptyResult,
    ErrorData,
    GetPromptRequestParams,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ListRootsRequest,
    ListRootsResult,
    LoggingMessageNotification,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    SetLevelRequestParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
    jsonrpc_message_adapter,
)
from mcp_types.methods import validate_server_result
from mcp_types.version import (
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from pydantic import BaseModel, ValidationError

Context: TypeAlias = ServerRequestContext[Any, Any]
Result: TypeAlias = dict[str, Any]
"""A result as it goes on the wire: what comes from elsewhere is handed on, not modelled again."""
Item: TypeAlias = SessionMessage | Exception


class _DumpOptions(TypedDict):
    mode: Literal["json"]
    by_alias: bool
    exclude_none: bool


AS_SENT: _DumpOptions = {"mode": "json", "by_alias": True, "exclude_none": True}
"""How a model is dumped to what goes on the wire."""


__all__ = [
    "AS_SENT",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "LATEST_HANDSHAKE_VERSION",
    "LATEST_MODERN_VERSION",
    "LOG_LEVEL_META_KEY",
    "MISSING_REQUIRED_CLIENT_CAPABILITY",
    "PARSE_ERROR",
    "AsyncResource",
    "BaseModel",
    "BrokenResourceError",
    "CacheHint",
    "CallNext",
    "CallToolRequestParams",
    "CancelScope",
    "ClientCapabilities",
    "ClosedResourceError",
    "CompleteRequestParams",
    "Connection",
    "Context",
    "CreateMessageRequest",
    "CreateMessageResult",
    "ElicitRequest",
    "ElicitResult",
    "EmptyResult",
    "ErrorData",
    "GetPromptRequestParams",
    "HandlerResult",
    "InMemorySubscriptionBus",
    "InitializationOptions",
    "Item",
    "JSONRPCError",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "ListRootsRequest",
    "ListRootsResult",
    "ListenHandler",
    "LoggingMessageNotification",
    "MCPError",
    "NotificationOptions",
    "PaginatedRequestParams",
    "PromptsListChanged",
    "ReadResourceRequestParams",
    "ResourceUpdated",
    "ResourcesListChanged",
    "Result",
    "Server",
    "ServerEvent",
    "ServerMessageMetadata",
    "SessionMessage",
    "SetLevelRequestParams",
    "SubscribeRequestParams",
    "SubscriptionsListenRequestParams",
    "SubscriptionsListenResult",
    "ToolsListChanged",
    "TransportSecuritySettings",
    "UnsubscribeRequestParams",
    "ValidationError",
    "client_name",
    "connection_of",
    "fits",
    "is_modern",
    "jsonrpc_message_adapter",
    "sendable",
    "serve_stream",
]


MOST_BEFORE_OPENING = 8
"""So many messages before the first request are kept for whoever serves it."""


class RereadableStream(ReadStream[Item], Protocol):
    """A stream of messages that takes back what was read from it."""

    def put_back(self, items: Sequence[Item], /) -> None:
        """Give these again, in this order, before all else."""
        ...


async def serve_stream(
    server: Server[Any], read: RereadableStream, write: WriteStream[SessionMessage]
) -> None:
    """Serve one connection until no more messages come, in the era of its first request."""
    async with server.lifespan(server) as state:
        try:
            opening = await _opening(read)
            if opening and opening.method != "initialize" and _has_modern_envelope(opening.params):
                await _serve_modern_stream(
                    server, read, write, lifespan_state=state, raise_exceptions=False
                )
            else:
                await _serve_legacy_stream(
                    server,
                    read,
                    write,
                    lifespan_state=state,
                    session_id=None,
                    init_options=server.create_initialization_options(),
                    raise_exceptions=False,
                )
        finally:
            await read.aclose()
            await write.aclose()


async def _opening(read: RereadableStream) -> JSONRPCRequest | None:
    """The first request, which stays to be read; None where none comes."""
    before: list[Item] = []
    opening: JSONRPCRequest | None = None
    async for item in read:
        message = item.message if isinstance(item, SessionMessage) else None
        opening = message if isinstance(message, JSONRPCRequest) else None
        if opening or len(before) < MOST_BEFORE_OPENING:
            before.append(item)
        if opening:
            break
    read.put_back(before)
    return opening


def is_modern(context: Context) -> bool:
    """Whether a request is of the era without connections: 2026-07-28 and later."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(context: Context) -> Connection:
    """The connection of a request. One of the modern era lasts as long as the request."""
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def client_name(context: Context) -> str:
    """What the client calls itself, unverified; "" if it does not."""
    params = context.session.client_params
    return params.client_info.name if params else ""


def fits(method: str, version: str, result: Mapping[str, Any]) -> bool:
    """Whether a result would pass the SDK's own check of what this server sends."""
    try:
        validate_server_result(method, version, result)
    except ValidationError:
        return False
    return True


def sendable(context: Context, key: str, listed: Result) -> Result:
    """The list without what the SDK would refuse to send, for which it would refuse all of it."""
    if _fits(context, listed):
        return listed
    return listed | {key: [each for each in listed[key] if _fits(context, listed | {key: [each]})]}


def _fits(context: Context, result: Result) -> bool:
    return fits(context.method, context.protocol_version, result)
