"""The messages that go through the shim: lines out of bytes, and what matters of each.

The shim reads the method, the id and the target of a message, and hands the line on as it is. A few
messages it writes by itself: failures, and notifications to the client.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, cast

LONGEST_LINE = 8 * 1024 * 1024

# Codes of our own, clear of those that MCP and its SDKs have taken.
NOT_STARTED = -32090
UNKNOWN_OUTCOME = -32091
PARSE_ERROR = -32700

# How the daemon writes an answer: the id is found without parsing all of it.
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("[^"\\]{0,200}"|-?\d{1,20}),"(?:result|error)":')


class LineSplitter:
    """Takes bytes as they come and gives whole lines, each with its end."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._pieces: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Every line that is whole now; None once for each that is too long, and skipped."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            if self._length + len(part) <= self._longest:
                yield b"".join((*self._pieces, part, b"\n"))
            elif self._length <= self._longest:
                yield None
            self._pieces, self._length = [], 0
        fitted = self._length <= self._longest
        self._length += len(rest)
        if self._length <= self._longest:
            self._pieces.append(rest)
        elif fitted:
            self._pieces = []
            yield None


class Message(NamedTuple):
    """A line with its method and its id; both are empty where it has none.

    The id is JSON text, so that the number 1 and the word "1" are not the same.
    """

    line: bytes
    method: str = ""
    id: str = ""
    target: str = ""
    """The tool, the resource or the request that it is about."""
    is_replayed: bool = False
    """Whether it repeats what the client said to a daemon that is gone."""


def read_message(line: bytes) -> Message:
    """A line of the client or the daemon. One that is no message has neither method nor id."""
    answer = _ANSWER.match(line)
    if answer:
        return Message(line, id=answer[1].decode())
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        return Message(line)
    if not isinstance(content, dict):
        return Message(line)
    return _message(line, cast("dict[str, object]", content))


def _message(line: bytes, content: dict[str, object]) -> Message:
    method, id, params = content.get("method"), content.get("id"), content.get("params")
    target = _target(cast("dict[str, object]", params)) if isinstance(params, dict) else ""
    method = method if isinstance(method, str) else ""
    return Message(line, method, json.dumps(id) if id is not None else "", target)


def _target(params: dict[str, object]) -> str:
    if "requestId" in params:
        return json.dumps(params["requestId"])
    return str(params.get("name") or params.get("uri") or "")


def with_id(line: bytes, id: str) -> bytes:
    """The same request under another id."""
    return json.dumps({**json.loads(line), "id": id}).encode() + b"\n"


def failure(id: str, code: int, message: str) -> bytes:
    """An error in place of an answer. An empty id answers no request."""
    error = json.dumps({"code": code, "message": f"toolcrib: {message}"})
    return f'{{"jsonrpc":"2.0","id":{id or "null"},"error":{error}}}\n'.encode()


def notification(method: str, **params: object) -> bytes:
    """A notification to the client."""
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    return json.dumps(message | ({"params": params} if params else {})).encode() + b"\n"
