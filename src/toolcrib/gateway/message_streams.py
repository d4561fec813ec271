"""Messages on lines, for an MCP server that is run over bytes: of a pipe, or of a socket.

A line has a limit. A line that is no message is answered with an error. There is no task and no
queue in between: each hop would cost every call some of its time.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, Protocol, Self, TypeAlias

from toolcrib.gateway import sdk
from toolcrib.model import Json
from toolcrib.sources.mcp import reply_id
from toolcrib.strict_json import MOST_JSON_VALUES, NotJson, has_more_json_values, read_json
from toolcrib.system import LONGEST_LINE, ByteReader, LineReader, PipeLine, bounded_lines

MOST_VALUES = 2 * MOST_JSON_VALUES
"""Of one message: more than a call may have, so that a call with too many is told why."""

Send: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Hands bytes over before it first waits, then waits for room. Raises `OSError` when nobody reads
any more."""


class MessageGate(Protocol):
    """Decides what is taken from a connection, and what is sent on it."""

    def refusal(self, message: sdk.JSONRPCMessage, /) -> sdk.ErrorData | None:
        """Why a message of the client is not taken; None if it is."""
        ...

    def outgoing(self, message: sdk.JSONRPCMessage, /) -> sdk.JSONRPCMessage | None:
        """What is sent to the client for this message: itself, another, or nothing."""
        ...

    def answered(self, id: int | str, /) -> None:
        """The plain call of this id is answered, whatever the answer is."""
        ...


class OpenGate:
    """A gate that lets everything through."""

    def refusal(self, _message: sdk.JSONRPCMessage) -> None:
        """None, always."""

    def outgoing(self, message: sdk.JSONRPCMessage) -> sdk.JSONRPCMessage | None:
        """Itself, always."""
        return message

    def answered(self, _id: int | str) -> None:
        """Nothing is counted here."""


class MessageStreams(NamedTuple):
    """What `serve_stream` takes."""

    read: "MessageReader"
    write: "MessageWriter"


def message_streams(
    reader: ByteReader, send: Send, gate: MessageGate | None = None, *, longest: int = LONGEST_LINE
) -> MessageStreams:
    """The messages of a client that writes to `reader`, and to one that `send` reaches.

    When nobody reads any more, the messages end too.
    """
    gate = gate or OpenGate()
    write = MessageWriter(reader, send, gate)
    return MessageStreams(MessageReader(reader, write, gate, longest), write)


class _Stream(sdk.AsyncResource):
    """What the SDK wants of every stream. Who opened the bytes closes them."""

    async def aclose(self) -> None:
        """Nothing is ours to close."""


class MessageWriter(_Stream):
    """Sends each message as a line."""

    def __init__(self, reader: ByteReader, send: Send, gate: MessageGate) -> None:
        self._reader = reader
        self._send = send
        self._gate = gate

    async def send(self, item: sdk.SessionMessage, /) -> None:
        """Raises what the SDK takes for the end of a stream."""
        message = self._gate.outgoing(item.message)
        if message:
            await self.refuse(message)

    async def refuse(self, message: sdk.JSONRPCMessage, /) -> None:
        """The same for the answer to a message that was not taken: no request ends with it."""
        await self._send_line(message.model_dump_json(by_alias=True, exclude_unset=True).encode())

    async def send_answer(self, id: int | str, answer: bytes) -> None:
        """The same for the answer to a plain call."""
        self._gate.answered(id)
        await self._send_line(answer)

    async def _send_line(self, content: bytes) -> None:
        try:
            await self._send(content + b"\n")
        except OSError:
            if isinstance(self._reader, asyncio.StreamReader):
                self._reader.feed_eof()  # nothing more will come
            raise sdk.ClosedResourceError from None


class CallTaker(Protocol):
    """Serves plain calls of tools as they come: see `call_dispatcher`."""

    def takes(self, request: sdk.JSONRPCRequest, /) -> bool:
        """Whether `begin` is for this request."""
        ...

    def begin(self, request: sdk.JSONRPCRequest, /) -> None:
        """Serve it, from the next turn of the loop on."""
        ...


class MessageReader(_Stream):
    """Gives each message; a line that is no message is answered with an error."""

    def __init__(
        self, reader: ByteReader, answers: MessageWriter, gate: MessageGate, longest: int
    ) -> None:
        self._reader = reader
        self._lines = bounded_lines(reader, longest=longest)
        self._answers = answers
        self._gate = gate
        self._longest = longest
        self._again: deque[sdk.Item] = deque()
        self._refusal: sdk.ErrorData | None = None

    def hand_calls_to(self, taker: CallTaker, /) -> None:
        """Give plain calls to this taker, and not to whoever reads; where the bytes let us."""
        if isinstance(self._reader, LineReader):
            self._reader.take_line = partial(self._take_line, taker)

    def put_back(self, items: Sequence[sdk.Item], /) -> None:
        """Give these again, in this order, before all else."""
        self._again.extendleft(reversed(items))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> sdk.Item:
        if self._again:
            return self._again.popleft()
        try:
            async for line in self._lines:
                message = _message(line)
                problem, self._refusal = self._refusal, None
                if message and not problem:
                    problem = self._gate.refusal(message.message)
                elif not message:
                    problem = _unreadable(line, self._longest)
                if problem:
                    await self._answers.refuse(_answer(reply_id(line.content), problem))
                elif message:
                    return message
        except (OSError, sdk.ClosedResourceError):
            pass
        raise StopAsyncIteration

    def _take_line(self, taker: CallTaker, line: bytes) -> bool:
        """Have a plain call served. One that the gate refuses is read, and refused in its turn."""
        if self._again or len(line) > self._longest or has_more_json_values(line, MOST_VALUES):
            return False
        request = sdk.call_on(line)
        if request is None or not taker.takes(request):
            return False
        self._refusal = self._gate.refusal(request)
        if self._refusal is None:
            taker.begin(request)
        return self._refusal is None

    async def receive(self) -> sdk.Item:
        """The next message; raises what the SDK takes for the end of a stream."""
        async for item in self:
            return item
        raise sdk.ClosedResourceError


def id_problem(message: Json) -> str:
    """What is wrong with the id of a request, so that nobody could answer it; "" if nothing is."""
    if not isinstance(message, Mapping) or "method" not in message:
        return ""
    is_good = type(message.get("id", 0)) in (int, str)
    return "" if is_good else "the id of a request is a text or a whole number; send another"


def _id_problem_on(line: bytes) -> str:
    """The same of a line that is no message, or one without an id; "" also where it is no JSON."""
    with suppress(NotJson, UnicodeDecodeError):
        return id_problem(read_json(line.decode()))
    return ""


def _message(line: PipeLine) -> sdk.SessionMessage | None:
    """The message on a line; None if there is none."""
    if not line.whole or has_more_json_values(line.content, MOST_VALUES):
        return None
    try:
        message = sdk.jsonrpc_message_adapter.validate_json(line.content, by_name=False)
    except ValueError:
        return None
    if isinstance(message, sdk.JSONRPCNotification) and _id_problem_on(line.content):
        return None
    return sdk.SessionMessage(message)


def _unreadable(line: PipeLine, longest: int) -> sdk.ErrorData | None:
    """What is wrong with a line that is no message; None if there is nothing on it."""
    if not line.whole:
        problem = f"a message has at most {longest:,} bytes; send less"
        return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=problem)
    if has_more_json_values(line.content, MOST_VALUES):
        problem = f"a message has at most {MOST_VALUES:,} values; send fewer"
        return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=problem)
    if problem := _id_problem_on(line.content):
        return sdk.ErrorData(code=sdk.INVALID_REQUEST, message=problem)
    problem = "this line is not a JSON-RPC message"
    return sdk.ErrorData(code=sdk.PARSE_ERROR, message=problem) if line.content.strip() else None


def _answer(id: int | str | None, error: sdk.ErrorData) -> sdk.JSONRPCMessage:
    return sdk.JSONRPCError(jsonrpc="2.0", id=id, error=error)
