"""Lines out of bytes, what a line says as far as the shim has to know, and messages of its own."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, cast

# Codes of our own, clear of those that MCP and its SDKs have taken.
NOT_STARTED = -32090
UNKNOWN_OUTCOME = -32091
PARSE_ERROR = -32700

# How the daemon writes an answer: its id is known without reading all of it.
_ANSWER = re.compile(rb'\{"jsonrpc":"2\.0","id":("[^"\\]{0,200}"|-?\d{1,20}),"(?:result|error)":')


class Message(NamedTuple):
    """A line with its method and its id; both are empty where it has none.

    The id is JSON text, so that the number 1 and the word "1" are not the same.
    """

    line: bytes
    method: str = ""
    id: str = ""
    about: str = ""
    """The tool, the resource or the request that it is about."""
    is_greeting: bool = False
    """Whether it is ours: a repetition of what the client said to a daemon that is gone."""


def read_message(line: bytes) -> Message:
    """A line of the client's or the daemon's. What is no message has neither method nor id."""
    answer = _ANSWER.match(line)
    if answer:
        return Message(line, id=answer[1].decode())
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return Message(line)
    if not isinstance(said, dict):
        return Message(line)
    return _message(line, cast("dict[str, object]", said))


def _message(line: bytes, said: dict[str, object]) -> Message:
    method, id, params = said.get("method"), said.get("id"), said.get("params")
    about = _about(cast("dict[str, object]", params)) if isinstance(params, dict) else ""
    named = method if isinstance(method, str) else ""
    return Message(line, named, json.dumps(id) if id is not None else "", about)


def _about(params: dict[str, object]) -> str:
    if "requestId" in params:
        return json.dumps(params["requestId"])
    return str(params.get("name") or params.get("uri") or "")


def with_id(line: bytes, id: str) -> bytes:
    """The same request under another id."""
    return json.dumps({**json.loads(line), "id": id}).encode() + b"\n"


def failure(id: str, code: int, message: str) -> bytes:
    """An answer that says that there is none. An empty id is nobody's."""
    error = json.dumps({"code": code, "message": f"toolcrib: {message}"})
    return f'{{"jsonrpc":"2.0","id":{id or "null"},"error":{error}}}\n'.encode()


def notice(method: str, **params: object) -> bytes:
    """A notification to the client."""
    said: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    return json.dumps(said | ({"params": params} if params else {})).encode() + b"\n"


# Lines out of pieces, of bounded length.

LONGEST_LINE = 8 * 1024 * 1024


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
