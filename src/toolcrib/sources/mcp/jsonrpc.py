"""JSON-RPC messages of a line or an event, and errors in the place of those that cannot be read."""

import re
from contextlib import suppress

from toolcrib.sources.mcp import sdk
from toolcrib.system import PipeLine

_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')
_LAST = re.compile(rb',\s*"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


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
