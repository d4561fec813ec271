"""MCP over a stream of lines: one JSON-RPC message a line, as on stdio, each of bounded length.

What is no message is answered, never guessed at; what is too much is answered at once, too.
"""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from toolcrib.execute.strict_json import NotJson, read_json
from toolcrib.gateway.admission import RETRY_S, Admission, Overloaded
from toolcrib.gateway.sdk import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Item,
    MemoryObjectReceiveStream,
    MemoryObjectSendStream,
    Server,
    SessionMessage,
    ValidationError,
    create_memory_object_stream,
    create_task_group,
    jsonrpc_message_adapter,
)
from toolcrib.sources.mcp.lines import bounded_lines

OVERLOADED = -32002
AHEAD = 32
LISTEN = "subscriptions/listen"


class LineTransport:
    """One connection of one guest. `heard` is told of every message that comes in."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        admission: Admission,
        guest: str,
        heard: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._reader, self._writer = reader, writer
        self._admission, self._guest = admission, guest
        self._heard = heard
        self._open: set[object] = set()

    async def serve(self, server: Server[Any]) -> None:
        """Until the other side ends."""
        into, read = create_memory_object_stream[Item](AHEAD)
        write, out = create_memory_object_stream[SessionMessage](AHEAD)
        try:
            async with create_task_group() as tasks:
                tasks.start_soon(self._take_in, into)
                tasks.start_soon(self._give_out, out)
                await server.run(read, write, server.create_initialization_options())
                tasks.cancel_scope.cancel()
        finally:
            for _ in self._open:
                self._admission.leave(self._guest)

    async def _take_in(self, into: MemoryObjectSendStream[Item]) -> None:
        async with into:
            async for line in bounded_lines(self._reader):
                if not line.whole:
                    await self._refuse(None, PARSE_ERROR, "the message is too long; send less")
                elif line.content.strip():
                    message = await self._message(line.content)
                    if message:
                        await into.send(message)

    async def _message(self, content: bytes) -> SessionMessage | None:
        """The message of a line; None if it was answered here."""
        try:
            said = read_json(content.decode())
        except (NotJson, UnicodeDecodeError) as error:
            return await self._refuse(None, PARSE_ERROR, str(error))
        id = said.get("id") if isinstance(said, dict) else None
        try:
            message = jsonrpc_message_adapter.validate_python(said, by_name=False)
        except ValidationError:
            return await self._refuse(id, INVALID_REQUEST, "this is no JSON-RPC message")
        told = cast("Mapping[str, Any]", said)
        self._heard(told)
        try:
            self._count(told)
        except Overloaded as error:
            return await self._refuse(id, OVERLOADED, f"overloaded: {error}")
        return SessionMessage(message)

    def _count(self, told: Mapping[str, Any]) -> None:
        """Count what is under way. A stream of news lasts, and does nothing meanwhile."""
        method, id = told.get("method"), told.get("id")
        if method == "notifications/cancelled":
            params = cast("Mapping[str, Any]", told.get("params") or {})
            self._answered(params.get("requestId"))
        elif method and id is not None and id not in self._open and method != LISTEN:
            self._admission.enter(self._guest)
            self._open.add(id)

    async def _give_out(self, out: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with out:
            async for sent in out:
                message = sent.message
                if not hasattr(message, "method"):
                    self._answered(getattr(message, "id", None))
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                self._writer.write(text.encode() + b"\n")
                await self._writer.drain()

    def _answered(self, id: object) -> None:
        if id in self._open:
            self._open.remove(id)
            self._admission.leave(self._guest)

    async def _refuse(self, id: object, code: int, why: str) -> None:
        error: dict[str, object] = {"code": code, "message": why}
        if code == OVERLOADED:
            error["data"] = {"code": "overloaded", "retry_after_s": RETRY_S}
        said = {"jsonrpc": "2.0", "id": id, "error": error}
        self._writer.write(json.dumps(said).encode() + b"\n")
        await self._writer.drain()
