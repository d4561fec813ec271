"""The gateway's one door to the MCP SDK: what it uses of it, by the names it promises to keep.

Importing this takes about half a second, so only what serves does. The private names are where the
SDK keeps what it knows of a connection, and its loop for the modern era.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias, TypedDict

from toolcrib.system import require_package

require_package("mcp", "2.3", "2.4", "the gateway")

from anyio import BrokenResourceError, CancelScope, ClosedResourceError
from anyio.abc import AsyncResource
from mcp import MCPError
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.runner import (
    _has_modern_envelope as has_modern_envelope,  # pyright: ignore[reportPrivateUsage]
)
from mcp.server.runner import (
    _serve_modern_stream as serve_modern_stream,  # pyright: ignore[reportPrivateUsage]
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
from mcp_types.methods import SERVER_RESULTS, validate_server_result
from mcp_types.version import (
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_json

from toolcrib.sources.mcp import is_plain_result

Context: TypeAlias = ServerRequestContext[Any, Any]
Result: TypeAlias = dict[str, Any]
"""A result as it goes on the wire: what comes from elsewhere is handed on, not modelled again."""
Item: TypeAlias = SessionMessage | Exception


CALL_MARK: Final = b'"tools/call"'
_CALL: Final = TypeAdapter(JSONRPCRequest)
_RESULT_TYPE = "resultType"


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
    "ReadStream",
    "ResourceUpdated",
    "ResourcesListChanged",
    "Result",
    "Server",
    "ServerEvent",
    "ServerMessageMetadata",
    "ServerRequestContext",
    "SessionMessage",
    "SetLevelRequestParams",
    "SubscribeRequestParams",
    "SubscriptionsListenRequestParams",
    "SubscriptionsListenResult",
    "ToolsListChanged",
    "TransportSecuritySettings",
    "UnsubscribeRequestParams",
    "ValidationError",
    "WriteStream",
    "call_on",
    "client_name",
    "connection_of",
    "fits",
    "has_modern_envelope",
    "is_modern",
    "is_traced",
    "jsonrpc_message_adapter",
    "result_json",
    "sendable",
    "serve_modern_stream",
    "to_json",
]


def is_modern(context: Context) -> bool:
    """Whether a request is of the era without connections: 2026-07-28 and later."""
    return context.protocol_version in MODERN_PROTOCOL_VERSIONS


def call_on(line: bytes) -> JSONRPCRequest | None:
    """The call of a tool that is all there is on a line; None for whatever else it may be."""
    if CALL_MARK not in line:
        return None
    try:
        request = _CALL.validate_json(line, by_name=False)
    except ValueError:
        return None
    return request if request.method == "tools/call" else None


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


def result_json(method: str, version: str, result: Mapping[str, Any]) -> bytes:
    """The result as it goes on the wire in this revision, checked. Raises `ValidationError`.

    The model would leave a result of plain texts as it is.
    """
    own = {key: value for key, value in result.items() if key != _RESULT_TYPE}
    if method == "tools/call" and is_plain_result(own):
        return to_json(own)
    kind = _result_adapter(method, version)
    checked = kind.validate_python(result, by_name=False)
    return kind.dump_json(checked, by_alias=True, exclude_none=True)


@cache
def _result_adapter(method: str, version: str) -> TypeAdapter[Any]:
    kind: Any = SERVER_RESULTS[method, version]
    return TypeAdapter(kind)


def is_traced() -> bool:
    """Whether requests are followed with OpenTelemetry: then the SDK serves them, and tells it."""
    return not isinstance(get_tracer_provider(), ProxyTracerProvider)


def sendable(context: Context, key: str, listed: Result) -> Result:
    """The list without what the SDK would refuse to send, for which it would refuse all of it."""
    if _fits(context, listed):
        return listed
    return listed | {key: [each for each in listed[key] if _fits(context, listed | {key: [each]})]}


def _fits(context: Context, result: Result) -> bool:
    return fits(context.method, context.protocol_version, result)
