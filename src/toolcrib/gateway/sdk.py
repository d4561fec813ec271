"""The gateway's one door to the MCP SDK: what it uses of it, by the names it promises to keep.

Importing this takes about half a second, so only what serves does. The one private name is where
the SDK keeps what it knows of a connection.
"""

from typing import Any, Literal, TypeAlias, TypedDict

from mcp import MCPError
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LOG_LEVEL_META_KEY,
    ClientCapabilities,
    CompleteRequestParams,
    CreateMessageRequest,
    CreateMessageResult,
    ElicitRequest,
    ElicitResult,
    EmptyResult,
    GetPromptRequestParams,
    ListRootsRequest,
    ListRootsResult,
    LoggingMessageNotification,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ServerNotification,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)
from mcp_types.methods import validate_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ValidationError

Context: TypeAlias = ServerRequestContext[Any, Any]
Result: TypeAlias = dict[str, Any]
"""A result as it goes on the wire: what comes from elsewhere is handed on, not modelled again."""


class _AsSent(TypedDict):
    mode: Literal["json"]
    by_alias: bool
    exclude_none: bool


AS_SENT: _AsSent = {"mode": "json", "by_alias": True, "exclude_none": True}
"""How a model is dumped to what the wire has."""

__all__ = [
    "AS_SENT",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "LOG_LEVEL_META_KEY",
    "BaseModel",
    "ClientCapabilities",
    "CompleteRequestParams",
    "Connection",
    "Context",
    "CreateMessageRequest",
    "CreateMessageResult",
    "ElicitRequest",
    "ElicitResult",
    "EmptyResult",
    "GetPromptRequestParams",
    "ListRootsRequest",
    "ListRootsResult",
    "LoggingMessageNotification",
    "MCPError",
    "PaginatedRequestParams",
    "ReadResourceRequestParams",
    "Result",
    "Server",
    "ServerMessageMetadata",
    "ServerNotification",
    "SetLevelRequestParams",
    "SubscribeRequestParams",
    "UnsubscribeRequestParams",
    "ValidationError",
    "connection_of",
    "is_modern",
    "sendable",
]


def is_modern(context: Context) -> bool:
    """Whether a request is of the era without connections: 2026-07-28 and later."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def connection_of(context: Context) -> Connection:
    """The connection of a request. One of the modern era lasts as long as the request."""
    return context.session._connection  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def sendable(context: Context, key: str, listed: Result) -> Result:
    """The list without what the SDK would refuse to send, for which it would refuse all of it."""
    if _fits(context, listed):
        return listed
    return listed | {key: [each for each in listed[key] if _fits(context, listed | {key: [each]})]}


def _fits(context: Context, result: Result) -> bool:
    try:
        validate_server_result(context.method, context.protocol_version, result)
    except ValidationError:
        return False
    return True
