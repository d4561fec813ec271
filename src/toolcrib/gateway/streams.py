"""Messages on lines, for a server that is run over bytes from anywhere: a pipe, a socket.

A line has a limit, and one that is no message is answered with an error where that can be said.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from toolcrib.gateway import sdk
from toolcrib.sources.mcp.lines import LONGEST_LINE, Line, Reader, bounded_lines
from toolcrib.sources.mcp.reply_id import reply_id

WAITING = 64
"""Messages to a client that does not read, before whoever sends has to wait."""

_GONE = (sdk.BrokenResourceError, sdk.ClosedResourceError)


class Streams(NamedTuple):
    """What `Server.run` takes."""

    read: sdk.MemoryObjectReceiveStream[sdk.Item]
    write: sdk.MemoryObjectSendStream[sdk.SessionMessage]


@asynccontextmanager
async def message_streams(
    reader: Reader, send: Callable[[bytes], Awaitable[None]], *, longest: int = LONGEST_LINE
) -> AsyncGenerator[Streams]:
    """The messages of a client that writes to `reader`, and to one that `send` reaches.

    `send` may raise `OSError` when the client is gone.
    """
    incoming, read = sdk.create_memory_object_stream[sdk.Item](0)
    write, outgoing = sdk.create_memory_object_stream[sdk.SessionMessage](WAITING)
    answers = write.clone()
    sending = asyncio.ensure_future(_send(outgoing, send, incoming))
    receiving = asyncio.ensure_future(_receive(reader, incoming, answers, longest))
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
    longest: int,
) -> None:
    with suppress(*_GONE, OSError):
        async for line in bounded_lines(reader, longest=longest):
            message = _message(line)
            if message:
                await incoming.send(message)
            elif line.content.strip():
                await answers.send(_refused(line, longest))
    incoming.close()


async def _send(
    outgoing: sdk.MemoryObjectReceiveStream[sdk.SessionMessage],
    send: Callable[[bytes], Awaitable[None]],
    incoming: sdk.MemoryObjectSendStream[sdk.Item],
) -> None:
    with suppress(*_GONE, OSError):
        async for item in outgoing:
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


def _refused(line: Line, longest: int) -> sdk.SessionMessage:
    """What is answered to a line that cannot be read, under its id if that can be made out."""
    code, text = (
        (sdk.PARSE_ERROR, "this line is no JSON-RPC message")
        if line.whole
        else (sdk.INVALID_REQUEST, f"a message has at most {longest:,} bytes; send less")
    )
    error = sdk.ErrorData(code=code, message=text)
    return sdk.SessionMessage(
        sdk.JSONRPCError(jsonrpc="2.0", id=reply_id(line.content), error=error)
    )
