"""Messages on lines, for a server that is run over bytes from anywhere: a pipe, a socket.

A line has a limit, and one that is no message is answered with an error where that can be said.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple, Protocol

from toolcrib.gateway import sdk
from toolcrib.sources.mcp.lines import LONGEST_LINE, Line, Reader, bounded_lines
from toolcrib.sources.mcp.reply_id import reply_id

WAITING = 64
"""Messages to a client that does not read, before whoever sends has to wait."""

_GONE = (sdk.BrokenResourceError, sdk.ClosedResourceError)


class Gate(Protocol):
    """Whoever counts what is under way on a connection."""

    def came(self, message: sdk.JSONRPCMessage, /) -> sdk.ErrorData | None:
        """Why this is not taken in; None if it is."""
        ...

    def went(self, message: sdk.JSONRPCMessage, /) -> None:
        """This was sent to the client."""
        ...


class Open:
    """A gate that lets everything through."""

    def came(self, _message: sdk.JSONRPCMessage) -> None:
        """Always."""

    def went(self, _message: sdk.JSONRPCMessage) -> None:
        """The same."""


class Streams(NamedTuple):
    """What `Server.run` takes."""

    read: sdk.MemoryObjectReceiveStream[sdk.Item]
    write: sdk.MemoryObjectSendStream[sdk.SessionMessage]


@asynccontextmanager
async def message_streams(
    reader: Reader,
    send: Callable[[bytes], Awaitable[None]],
    gate: Gate | None = None,
    *,
    longest: int = LONGEST_LINE,
) -> AsyncGenerator[Streams]:
    """The messages of a client that writes to `reader`, and to one that `send` reaches.

    `send` may raise `OSError` when the client is gone.
    """
    incoming, read = sdk.create_memory_object_stream[sdk.Item](0)
    write, outgoing = sdk.create_memory_object_stream[sdk.SessionMessage](WAITING)
    answers = write.clone()
    gate = gate or Open()
    sending = asyncio.ensure_future(_send(outgoing, send, incoming, gate))
    receiving = asyncio.ensure_future(_receive(reader, incoming, answers, gate, longest))
    try:
        yield Streams(read, write)
        write.close()
        answers.close()
        await sending  # what was answered last is on its way
    finally:
        for task in (receiving, sending):
            task.cancel()
        await asyncio.gather(receiving, sending, return_exceptions=True)
        for stream in (incoming, read, write, answers, outgoing):
            stream.close()


async def _receive(
    reader: Reader,
    incoming: sdk.MemoryObjectSendStream[sdk.Item],
    answers: sdk.MemoryObjectSendStream[sdk.SessionMessage],
    gate: Gate,
    longest: int,
) -> None:
    with suppress(*_GONE, OSError):
        async for line in bounded_lines(reader, longest=longest):
            message = _message(line)
            refused = gate.came(message.message) if message else _unreadable(line, longest)
            if refused:
                await answers.send(_answer(reply_id(line.content), refused))
            elif message:
                await incoming.send(message)
    incoming.close()


async def _send(
    outgoing: sdk.MemoryObjectReceiveStream[sdk.SessionMessage],
    send: Callable[[bytes], Awaitable[None]],
    incoming: sdk.MemoryObjectSendStream[sdk.Item],
    gate: Gate,
) -> None:
    with suppress(*_GONE, OSError):
        async for item in outgoing:
            gate.went(item.message)
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await send(text.encode() + b"\n")
        return
    incoming.close()  # nobody reads any more


def _message(line: Line) -> sdk.SessionMessage | None:
    """The message on a line; None if there is none."""
    if not line.whole:
        return None
    try:
        message = sdk.jsonrpc_message_adapter.validate_json(line.content, by_name=False)
    except ValueError:
        return None
    return sdk.SessionMessage(message)


def _unreadable(line: Line, longest: int) -> sdk.ErrorData | None:
    """What is wrong with a line that is no message; None if there is nothing on it."""
    if not line.whole:
        told = f"a message has at most {longest:,} bytes; send less"
        return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=told)
    told = "this line is no JSON-RPC message"
    return sdk.ErrorData(code=sdk.PARSE_ERROR, message=told) if line.content.strip() else None


def _answer(id: int | str | None, error: sdk.ErrorData) -> sdk.SessionMessage:
    return sdk.SessionMessage(sdk.JSONRPCError(jsonrpc="2.0", id=id, error=error))
