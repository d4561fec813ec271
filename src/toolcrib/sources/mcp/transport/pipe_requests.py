"""Calls of tools over the pipes of a process, past the SDK's session: a line out, a line in.

The session takes a task, two queues and five models for each request. Nothing of that is needed
between two pipes: a call is a line, and its reply is found by its id. The session keeps the rest of
the connection: the handshake, lists, what the server asks, and every server that is not a process.
Ids are clear of those that the session gives, and each is the progress token of its call too.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal, Protocol, TypeAlias, TypeGuard, cast, runtime_checkable

from pydantic_core import to_json

from toolcrib.model import JsonObject
from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.jsonrpc import PlainReply

FIRST_ID = 2**30
OnProgress: TypeAlias = Callable[[float, float | None, str], None]


@runtime_checkable
class LineWriter(Protocol):
    """The input of a process."""

    async def wait_for_room(self) -> None:
        """Return when the process has read enough of what was written, or is gone."""
        ...

    def write_line(self, line: bytes) -> None:
        """Hand a line over. Raises `ClosedResourceError` when nobody reads it any more."""
        ...


@runtime_checkable
class LineSource(Protocol):
    """The output of a process."""

    def take_lines(self, take: Callable[[bytes], bool]) -> None:
        """Ask `take` first whether it takes a line, as `LineReader` does."""
        ...


@dataclass(frozen=True, slots=True)
class _Waiting:
    reply: "asyncio.Future[dict[str, Any]]"
    on_progress: OnProgress


class PipeRequests:
    """Those of one connection that have no reply yet."""

    def __init__(self, writer: LineWriter) -> None:
        self._writer = writer
        self._ids = count(FIRST_ID)
        self._waiting: dict[int, _Waiting] = {}
        self._has_ended = False

    async def send(
        self, method: str, params: JsonObject, on_progress: OnProgress
    ) -> dict[str, Any]:
        """Send a request; the result. Raises `MCPError`, also when the server is gone.

        Cancelling it tells the server so.
        """
        if self._has_ended:
            raise _closed()
        id, reply = next(self._ids), asyncio.get_running_loop().create_future()
        meta = {**cast("JsonObject", params.get("_meta") or {}), "progressToken": id}
        request = {"id": id, "method": method, "params": {**params, "_meta": meta}}
        self._waiting[id] = _Waiting(reply, on_progress)
        try:
            await self._writer.wait_for_room()
            return await self._reply(id, _line(request))
        except sdk.ClosedResourceError:
            raise _closed() from None
        finally:
            del self._waiting[id]

    def take(self, message: sdk.JSONRPCMessage) -> bool:
        """Whether a message of the server was for one of these; then nobody else gets it."""
        if isinstance(message, sdk.JSONRPCNotification):
            return message.method == "notifications/progress" and self._progress(message)
        if isinstance(message, sdk.JSONRPCRequest) or not (waiting := self._of(message.id)):
            return False
        if isinstance(message, sdk.JSONRPCResponse):
            return _settled(waiting, message.result)
        if not waiting.reply.done():
            waiting.reply.set_exception(sdk.MCPError.from_error_data(message.error))
        return True

    def take_reply(self, reply: PlainReply) -> bool:
        """The same of a reply that came on a line of its own."""
        waiting = self._waiting.get(reply.id)
        return waiting is not None and _settled(waiting, reply.result)

    @property
    def is_waiting(self) -> bool:
        """Whether there is a request without a reply."""
        return bool(self._waiting)

    def end(self) -> None:
        """No reply will come any more."""
        self._has_ended = True
        for waiting in self._waiting.values():
            if not waiting.reply.done():
                waiting.reply.set_exception(_closed())

    async def _reply(self, id: int, line: bytes) -> dict[str, Any]:
        self._writer.write_line(line)
        try:
            return await self._waiting[id].reply
        except asyncio.CancelledError:
            params = {"requestId": id, "reason": "caller cancelled"}
            cancelled = _line({"method": "notifications/cancelled", "params": params})
            with suppress(sdk.ClosedResourceError):
                self._writer.write_line(cancelled)
            raise

    def _of(self, id: object) -> _Waiting | None:
        """The request of this id, which may come back as a text."""
        key = sdk.coerce_request_id(id) if isinstance(id, str) else id
        return self._waiting.get(key) if isinstance(key, int) else None

    def _progress(self, message: sdk.JSONRPCNotification) -> bool:
        params = message.params or {}
        waiting = self._of(params.get("progressToken"))
        if waiting and _is_number(done := params.get("progress")):
            total, text = params.get("total"), params.get("message")
            whole = float(total) if _is_number(total) else None
            waiting.on_progress(float(done), whole, text if isinstance(text, str) else "")
        return waiting is not None


def _settled(waiting: _Waiting, result: dict[str, Any]) -> Literal[True]:
    if not waiting.reply.done():
        waiting.reply.set_result(result)
    return True


def _line(message: JsonObject) -> bytes:
    return to_json({"jsonrpc": "2.0", **message}) + b"\n"


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _closed() -> sdk.MCPError:
    return sdk.MCPError(sdk.CONNECTION_CLOSED, "Connection closed")
