"""The one door to the MCP SDK: what we use of it, by the names it promises to keep.

Importing this takes about half a second, so only what runs once a server is started does. The
private names are the types of what a transport yields, and how a session stamps what it sends.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

import httpx2

from toolcrib.system import require_package

require_package("mcp", "2.3", "2.4", "an MCP server")

from anyio import (
    BrokenResourceError,
    CancelScope,
    ClosedResourceError,
    create_memory_object_stream,
    create_task_group,
)
from anyio.abc import AsyncResource, TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, MCPError
from mcp.client import ClientSession, Transport
from mcp.client._transport import ReadStream, TransportStreams, WriteStream
from mcp.client.session import (
    ClientRequestContext,
    _later_revision_fields,  # pyright: ignore[reportPrivateUsage]
)
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import request_within_origin, stream_within_origin
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    LOG_LEVEL_META_KEY,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequest,
    CallToolResult,
    CompleteRequest,
    CompleteResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    DiscoverResult,
    ElicitRequestParams,
    ElicitResult,
    EmptyResult,
    ErrorData,
    GetPromptRequest,
    GetPromptResult,
    Implementation,
    InputRequest,
    InputRequiredResult,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ListRootsResult,
    PaginatedRequestParams,
    ReadResourceRequest,
    ReadResourceResult,
    Request,
    SubscribeRequest,
    UnsubscribeRequest,
    jsonrpc_message_adapter,
)
from mcp_types.methods import validate_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from opentelemetry import context as otel_context
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic import BaseModel, TypeAdapter, ValidationError

# Codes of our own, in the range that JSON-RPC leaves to implementations: made up on this side for
# a reply that came and could not be taken in.
TOO_LARGE = -32098
UNREADABLE = -32097
# What a server itself has answered with the code that the SDK has for a connection that is gone.
SERVERS_OWN_CLOSED = -32096

Item: TypeAlias = SessionMessage | Exception


class _AsSent(TypedDict):
    mode: Literal["json"]
    by_alias: bool
    exclude_none: bool


AS_SENT: _AsSent = {"mode": "json", "by_alias": True, "exclude_none": True}
"""How a model is dumped to what the wire has."""

__all__ = [
    "AS_SENT",
    "CLIENT_CAPABILITIES_META_KEY",
    "CONNECTION_CLOSED",
    "HEADER_MISMATCH",
    "LOG_LEVEL_META_KEY",
    "METHOD_NOT_FOUND",
    "MISSING_REQUIRED_CLIENT_CAPABILITY",
    "SERVERS_OWN_CLOSED",
    "TOO_LARGE",
    "UNREADABLE",
    "AsyncResource",
    "BaseModel",
    "BrokenResourceError",
    "CallToolRequest",
    "CallToolResult",
    "CancelScope",
    "Client",
    "ClientRequestContext",
    "ClientSession",
    "ClosedResourceError",
    "CompleteRequest",
    "CompleteResult",
    "CreateMessageRequestParams",
    "CreateMessageResult",
    "DiscoverResult",
    "ElicitRequestParams",
    "ElicitResult",
    "EmptyResult",
    "ErrorData",
    "GetPromptRequest",
    "GetPromptResult",
    "Implementation",
    "InputRequest",
    "InputRequiredResult",
    "Item",
    "JSONRPCError",
    "JSONRPCMessage",
    "JSONRPCNotification",
    "JSONRPCRequest",
    "JSONRPCResponse",
    "ListRootsResult",
    "MCPError",
    "MemoryObjectReceiveStream",
    "MemoryObjectSendStream",
    "PaginatedRequestParams",
    "ReadResourceRequest",
    "ReadResourceResult",
    "ReadStream",
    "Request",
    "SessionMessage",
    "SubscribeRequest",
    "TaskGroup",
    "Transport",
    "TransportStreams",
    "TypeAdapter",
    "UnsubscribeRequest",
    "ValidationError",
    "WriteStream",
    "coerce_request_id",
    "create_memory_object_stream",
    "create_task_group",
    "httpx2",
    "in_trace",
    "is_traced",
    "jsonrpc_message_adapter",
    "later_fields",
    "read_result",
    "request_within_origin",
    "stamped",
    "stream_within_origin",
    "streamable_http_client",
]

T = TypeVar("T")


def stamped(session: ClientSession, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The params as the session sends them: in the modern era, with who sends them in `_meta`."""
    meta = params.get("_meta")
    own = {**params, "_meta": dict(meta)} if meta else dict(params)
    session._stamp({"method": method, "params": own}, {})  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return own


def later_fields(session: ClientSession, method: str) -> frozenset[str]:
    """The fields of a result that the session drops: those of later revisions than its own."""
    return _later_revision_fields(method, session.protocol_version or LATEST_HANDSHAKE_VERSION)


@contextmanager
def in_trace(meta: Mapping[str, str]) -> Generator[None]:
    """Let what the session sends be part of the trace that this `_meta` names.

    The session writes into `_meta` where it thinks it is: there it would put the client's span,
    where ours belongs.
    """
    if not meta:
        yield
        return
    token = otel_context.attach(TraceContextTextMapPropagator().extract(meta))
    try:
        yield
    finally:
        otel_context.detach(token)


def is_traced() -> bool:
    """Whether calls are followed with OpenTelemetry: then the SDK sends them, and tells it."""
    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def read_result(
    session: ClientSession, method: str, result: Mapping[str, Any], kind: TypeAdapter[T]
) -> T:
    """The result as the session reads it, by the revision that was agreed on.

    Raises `ValidationError`.
    """
    validate_server_result(method, session.protocol_version or LATEST_HANDSHAKE_VERSION, result)
    later = later_fields(session, method)
    return kind.validate_python(
        {key: value for key, value in result.items() if key not in later}, by_name=False
    )
