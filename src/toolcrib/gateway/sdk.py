"""The gateway's one door to the MCP SDK: what it uses of it, by the names it promises to keep.

Importing this takes about half a second, so only what serves does.
"""

from typing import TypeAlias

from anyio import create_memory_object_stream, create_task_group
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.server.models import InitializationOptions
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

Item: TypeAlias = SessionMessage | Exception

__all__ = [
    "INVALID_REQUEST",
    "PARSE_ERROR",
    "InitializationOptions",
    "Item",
    "MemoryObjectReceiveStream",
    "MemoryObjectSendStream",
    "Server",
    "SessionMessage",
    "ValidationError",
    "create_memory_object_stream",
    "create_task_group",
    "jsonrpc_message_adapter",
]
