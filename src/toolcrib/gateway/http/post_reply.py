"""The answer to one POST of the handshake era: plain JSON if it is alone, else a stream of events.

Every client has to take both. What is said before the answer (progress, log messages, questions)
makes it a stream, and so does silence, for a stream can be kept alive. Whoever has something to say
writes it here: there is no queue and no task between a message and the connection.
"""

import asyncio

from toolcrib.gateway import sdk
from toolcrib.http import Send

PING_S = 15.0
"""A request that takes longer than this is answered by a stream, which is kept alive."""
_PING = b": ping\r\n\r\n"
_STREAM = b"text/event-stream"
_JSON = b"application/json"
_ENDED = "Session terminated before the request completed"
_SESSION = b"mcp-session-id"


class PostReply:
    """Of one request; `session_id` stands in its head. It is done after `answer` or `end`."""

    def __init__(self, send: Send, session_id: str) -> None:
        self._send, self._session_id = send, session_id.encode()
        self._turn = asyncio.Lock()
        self._loop = asyncio.get_running_loop()
        self._is_stream = False
        self._pinging: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(PING_S, self._ping)
        self._done = self._loop.create_future()

    async def say(self, message: sdk.JSONRPCMessage) -> None:
        """Send one message of the server: the answer, or something before it."""
        content = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if isinstance(message, sdk.JSONRPCResponse | sdk.JSONRPCError):
            await self.answer(content)
        else:
            await self._send_event(_event(content))

    async def answer(self, content: bytes) -> None:
        """Send the answer, as JSON. Whatever comes after it is dropped."""
        async with self._turn:
            if self._settle():
                if self._is_stream:
                    await self._send_body(_event(content))
                else:
                    await self._send_head(200, _JSON, len(content))
                    await self._send_body(content)

    async def end(self) -> None:
        """The session has ended before there was an answer."""
        async with self._turn:
            if not self._settle():
                return
            if self._is_stream:
                await self._send_body(b"")
                return
            error = sdk.ErrorData(code=sdk.INTERNAL_ERROR, message=_ENDED)
            answer = sdk.JSONRPCError(jsonrpc="2.0", id=None, error=error)
            await self._send_head(500, _JSON)
            await self._send_body(answer.model_dump_json(exclude_unset=True).encode())

    async def wait(self) -> None:
        """Return when it is done."""
        await self._done

    def close(self) -> None:
        """Nobody waits for it any more."""
        self._settle()
        if self._pinging:
            self._pinging.cancel()

    def _settle(self) -> bool:
        """End it; whether it had not ended before."""
        self._timer.cancel()
        if self._done.done():
            return False
        self._done.set_result(None)
        return True

    async def _send_event(self, event: bytes) -> None:
        async with self._turn:
            if self._done.done():
                return
            if not self._is_stream:
                self._is_stream = True
                await self._send_head(200, _STREAM)
            await self._send_body(event, more=True)
            self._timer.cancel()
            self._timer = self._loop.call_later(PING_S, self._ping)

    def _ping(self) -> None:
        self._pinging = asyncio.ensure_future(self._send_event(_PING))

    async def _send_head(self, status: int, kind: bytes, length: int | None = None) -> None:
        headers = [
            (b"content-type", kind),
            (b"cache-control", b"no-cache, no-transform"),
            (_SESSION, self._session_id),
        ]
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def _send_body(self, content: bytes, *, more: bool = False) -> None:
        await self._send({"type": "http.response.body", "body": content, "more_body": more})


def _event(content: bytes) -> bytes:
    return b"event: message\r\ndata: " + content + b"\r\n\r\n"
