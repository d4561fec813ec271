"""JSON-RPC messages of a line or an event, and errors in the place of those that cannot be read.

What is plain is read here without the models of the SDK, which cost many times as much.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from toolcrib.sources.mcp import sdk
from toolcrib.system import PipeLine

_PLAIN_KEYS = frozenset({"content", "structuredContent", "isError"})
_TEXT_KEYS = frozenset({"type", "text"})
_NO_OBJECT: dict[str, Any] = {}
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')
_LAST = re.compile(rb',\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


class PlainReply(NamedTuple):
    """A result, and the request that it is for."""

    id: int
    result: dict[str, Any]


def plain_reply(line: bytes) -> PlainReply | None:
    """The reply on a line, if that has the three fields of one and no more; else None.

    Whatever else there is on a line is for `message_of` to tell.
    """
    try:
        match from_json(line):
            case {"jsonrpc": "2.0", "id": int(id), "result": {**result}, **more} if not more:
                return PlainReply(id, cast("dict[str, Any]", result)) if type(id) is int else None
            case _:
                return None
    except ValueError:
        return None


def is_plain_result(result: Mapping[str, Any]) -> bool:
    """Whether a result of a tool is texts, and maybe an object, and nothing else.

    The models of every revision leave such a result as it is.
    """
    content = result.get("content")
    return (
        result.keys() <= _PLAIN_KEYS
        and type(result.get("isError", False)) is bool
        and type(result.get("structuredContent", _NO_OBJECT)) is dict
        and isinstance(content, list)
        and all(map(_is_text, cast("list[Any]", content)))
    )


def _is_text(block: Any) -> bool:  # noqa: ANN401 - JSON
    if not isinstance(block, dict):
        return False
    fields = cast("dict[str, Any]", block)
    is_whole = fields.keys() == _TEXT_KEYS
    return is_whole and fields["type"] == "text" and isinstance(fields["text"], str)


def reply_id(line: bytes) -> int | None:
    """The id of a reply that cannot be read, if it stands first or last in the line; else None."""
    found = _FIRST.match(line) or _LAST.search(line[-256:])
    return int(found[1]) if found else None


def message_of(line: PipeLine) -> sdk.SessionMessage | None:
    """The message on a line; an error in its place if only its id can be read; None if nothing.

    So one call fails at once, and not at its deadline.
    """
    if line.whole:
        with suppress(ValueError):
            message = sdk.jsonrpc_message_adapter.validate_json(line.content, by_name=False)
            return sdk.SessionMessage(message)
    id = reply_id(line.content)
    if id is None:
        return None
    code, text = (
        (sdk.UNREADABLE, "its reply cannot be read")
        if line.whole
        else (sdk.TOO_LARGE, "its reply is too large")
    )
    error = sdk.ErrorData(code=code, message=text)
    return sdk.SessionMessage(sdk.JSONRPCError(jsonrpc="2.0", id=id, error=error))
