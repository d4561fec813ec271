"""The one door to the MCP SDK: what we use of it, by the names it promises to keep.

Importing this takes about half a second, so only what runs once a server is started does. The one
private name is the type of what a transport yields.
"""

from typing import TypeAlias

import httpx2
from anyio import (
    BrokenResourceError,
    CancelScope,
    ClosedResourceError,
    create_memory_object_stream,
    create_task_group,
)
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client import ClientSession, Transport
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    CallToolResult,
    DiscoverResult,
    ErrorData,
    Implementation,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCResponse,
    PaginatedRequestParams,
    jsonrpc_message_adapter,
)
from pydantic import BaseModel, ValidationError

# Codes of our own, in the range that JSON-RPC leaves to implementations: made up on this side for
# a reply that came and could not be taken in.
TOO_LARGE = -32098
UNREADABLE = -32097

Item: TypeAlias = SessionMessage | Exception

__all__ = [
    "CONNECTION_CLOSED",
    "METHOD_NOT_FOUND",
    "TOO_LARGE",
    "UNREADABLE",
    "BaseModel",
    "BrokenResourceError",
    "CallToolResult",
    "CancelScope",
    "Client",
    "ClientSession",
    "ClosedResourceError",
    "DiscoverResult",
    "ErrorData",
    "Implementation",
    "Item",
    "JSONRPCError",
    "JSONRPCNotification",
    "JSONRPCResponse",
    "MCPError",
    "MemoryObjectReceiveStream",
    "MemoryObjectSendStream",
    "PaginatedRequestParams",
    "SessionMessage",
    "Transport",
    "TransportStreams",
    "ValidationError",
    "create_memory_object_stream",
    "create_task_group",
    "httpx2",
    "jsonrpc_message_adapter",
    "streamable_http_client",
]
