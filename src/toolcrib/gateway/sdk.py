"""The gateway's one door to the MCP SDK: what it uses of it, by the names it promises to keep.

Importing this takes about half a second, so only what serves does. The one private name is where
the SDK keeps what it knows of a connection.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from anyio import (
    BrokenResourceError,
    ClosedResourceError,
    create_memory_object_stream,
    create_task_group,
)
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolRequestParams,
    ErrorData,
    JSONRPCError,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    jsonrpc_message_adapter,
)
from mcp_types.methods import validate_server_result
from mcp_types.version import (
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from pydantic import ValidationError

Context: TypeAlias = ServerRequestContext[Any, Any]
Result: TypeAlias = dict[str, Any]
"""A result as it goes on the wire: what comes from elsewhere is handed on, not modelled again."""
Item: TypeAlias = SessionMessage | Exception

__all__ = [
    "INVALID_REQUEST",
    "LATEST_HANDSHAKE_VERSION",
    "LATEST_MODERN_VERSION",
    "PARSE_ERROR",
    "BrokenResourceError",
    "CacheHint",
    "CallNext",
    "CallToolRequestParams",
    "ClosedResourceError",
    "Connection",
    "Context",
    "ErrorData",
    "HandlerResult",
    "InMemorySubscriptionBus",
    "InitializationOptions",
    "Item",
    "JSONRPCError",
    "ListenHandler",
    "MemoryObjectReceiveStream",
    "MemoryObjectSendStream",
    "NotificationOptions",
    "PaginatedRequestParams",
    "Result",
    "Server",
    "SessionMessage",
    "SubscriptionsListenRequestParams",
    "SubscriptionsListenResult",
    "ToolsListChanged",
    "ValidationError",
    "client_name",
    "connection_of",
    "create_memory_object_stream",
    "create_task_group",
    "fits",
    "is_modern",
    "jsonrpc_message_adapter",
]


def is_modern(context: Context) -> bool:
    """Whether a request is of the era without connections: 2026-07-28 and later."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(context: Context) -> Connection:
    """The connection of a request. One of the modern era lasts as long as the request."""
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def client_name(context: Context) -> str:
    """What the client calls itself, unverified; "" if it does not."""
    said = context.session.client_params
    return said.client_info.name if said else ""


def fits(method: str, version: str, result: Mapping[str, Any]) -> bool:
    """Whether a result would pass the SDK's own check of what this server sends."""
    try:
        validate_server_result(method, version, result)
    except ValidationError:
        return False
    return True
