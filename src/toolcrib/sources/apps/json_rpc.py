"""JSON-RPC 2.0 as both ends of an app's connection read and write it: strictly.

What two readers could read differently is refused: a key given twice, NaN, a message that is
neither request, notification nor reply, a batch.
"""

import json
from dataclasses import dataclass, field
from typing import TypeAlias, TypeGuard

from toolcrib.model import Json, JsonObject
from toolcrib.strict_json import has_more_json_values, json_deeper_than, parse_strictly

MOST_BYTES = 4 * 1024 * 1024
MOST_DEPTH = 64
MOST_VALUES = 100_000
LONGEST_METHOD = 64
LARGEST_ID = 2**53

NOT_JSON = -32700
NOT_A_REQUEST = -32600
NO_SUCH_METHOD = -32601
BAD_PARAMS = -32602
FAILED = -32000
NOT_KNOWN = -32001
NAME_IN_USE = -32002
OVERLOADED = -32003
CANCELLED = -32800


class BadMessage(ValueError):
    """This is not a message of the protocol. `code` is the error code to answer with."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class RemoteError(Exception):
    """The other end answered with an error."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A request. It has one reply, with the same id."""

    id: int
    method: str
    params: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class RpcNotification:
    """A notification. It has no reply."""

    method: str
    params: JsonObject = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class RpcReply:
    """The result of a request."""

    id: int
    result: Json


@dataclass(frozen=True, slots=True)
class RpcFailure:
    """The error of a request. No id where the id could not be read."""

    id: int | None
    code: int
    message: str
    data: Json = None


RpcMessage: TypeAlias = RpcRequest | RpcNotification | RpcReply | RpcFailure


def write(message: RpcMessage) -> str:
    """The text of a message. Raises `BadMessage` for what is no JSON, or too much of it."""
    try:
        text = json.dumps(_object_of(message), separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadMessage(NOT_JSON, f"this is not a JSON value: {error}") from None
    if len(text) > MOST_BYTES:
        raise BadMessage(NOT_A_REQUEST, f"more than {MOST_BYTES:,} bytes; send less")
    return text


def read(text: str | bytes) -> RpcMessage:
    """The message of a text. Raises `BadMessage`."""
    if isinstance(text, bytes):
        raise BadMessage(NOT_JSON, "a binary frame; send text")
    if has_more_json_values(text.encode("utf-8", "replace"), MOST_VALUES):
        raise BadMessage(NOT_A_REQUEST, f"more than {MOST_VALUES:,} values; send fewer")
    try:
        value = parse_strictly(text)
    except (ValueError, RecursionError) as error:
        raise BadMessage(NOT_JSON, f"not readable as JSON: {error}") from None
    if not is_object(value) or value.get("jsonrpc") != "2.0" or json_deeper_than(value, MOST_DEPTH):
        raise BadMessage(NOT_A_REQUEST, "not one JSON-RPC 2.0 object of moderate depth")
    return _request_in(value) if "method" in value else _reply_in(value)


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether this JSON value is an object."""
    return isinstance(value, dict)


def _request_in(value: JsonObject) -> RpcRequest | RpcNotification:
    method, params = value["method"], value.get("params", {})
    if not isinstance(method, str) or not 0 < len(method) <= LONGEST_METHOD:
        raise BadMessage(NOT_A_REQUEST, "a method is a short text")
    if not is_object(params):
        raise BadMessage(NOT_A_REQUEST, "params is an object")
    _only(value, {"jsonrpc", "id", "method", "params"})
    return (
        RpcRequest(_id(value), method, params) if "id" in value else RpcNotification(method, params)
    )


def _reply_in(value: JsonObject) -> RpcReply | RpcFailure:
    _only(value, {"jsonrpc", "id", "result", "error"})
    match value:
        case {"result": result, **rest} if "error" not in rest:
            return RpcReply(_id(value), result)
        case {"error": {"code": int(code), "message": str(message), **rest}} if (
            "result" not in value
        ):
            id = None if value.get("id") is None else _id(value)
            return RpcFailure(id, code, message, rest.get("data"))
        case _:
            raise BadMessage(NOT_A_REQUEST, "neither method nor one of result and error")


def _id(value: JsonObject) -> int:
    id = value.get("id")
    if isinstance(id, bool) or not isinstance(id, int) or not 0 <= id <= LARGEST_ID:
        raise BadMessage(NOT_A_REQUEST, f"an id is a whole number from 0 to {LARGEST_ID}")
    return id


def _only(value: JsonObject, keys: set[str]) -> None:
    if strange := sorted(value.keys() - keys):
        raise BadMessage(NOT_A_REQUEST, f"there is no key {strange[0]!r:.80} in a message")


def _object_of(message: RpcMessage) -> JsonObject:
    head: dict[str, Json] = {"jsonrpc": "2.0"}
    match message:
        case RpcRequest(id, method, params):
            return head | {"id": id, "method": method, "params": params}
        case RpcNotification(method, params):
            return head | {"method": method, "params": params}
        case RpcReply(id, result):
            return head | {"id": id, "result": result}
        case RpcFailure(id, code, text, data):
            error: dict[str, Json] = {"code": code, "message": text}
            return head | {"id": id, "error": error if data is None else error | {"data": data}}
