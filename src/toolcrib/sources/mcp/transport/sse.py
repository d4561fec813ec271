"""The old HTTP+SSE transport: one stream for all that comes, a POST for each message.

Not the SDK's: there an event that is too large ends the connection, and a POST that fails leaves
whoever waits for its answer to their deadline. Redirects and the address for POSTs stay within the
origin.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.http_client import bounded_http_client
from toolcrib.sources.mcp.jsonrpc import message_of
from toolcrib.sources.mcp.transport.streamable_http import (
    HTTP_NOT_FOUND,
    LOGGERS,
    StreamableHttpTransport,
)
from toolcrib.system import LONGEST_LINE, PipeLine, bounded_lines

HEAD_BYTES = 512  # of an event that is too long
MOST_UNSENT = 64  # messages to a server that does not take them
ORDER_S = 2.0  # longest that a POST holds up the next one
FAILED = -32603  # JSON-RPC's own, for an error within
STREAM = {"accept": "text/event-stream", "cache-control": "no-store"}
_GONE = (sdk.BrokenResourceError, sdk.ClosedResourceError)


class NotSse(Exception):
    """The address does not speak SSE, or sends us to another server."""


class SseTransport(StreamableHttpTransport):
    """To one address."""

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        """Open the stream, and wait for the `endpoint` event, which says where to send to."""
        client = bounded_http_client(self._headers, self._authorizer)
        client.event_hooks = {"response": [self._notice]}
        with self._redactor.over_logs(*LOGGERS):
            async with (
                client,
                sdk.stream_within_origin(client, "GET", self._url, headers=STREAM) as response,
            ):
                _check(response)
                async with self._over(client, response) as streams:
                    yield streams

    @asynccontextmanager
    async def _over(
        self, client: "sdk.httpx2.AsyncClient", response: "sdk.httpx2.Response"
    ) -> AsyncGenerator[sdk.TransportStreams]:
        incoming, read = sdk.create_memory_object_stream[sdk.Item](0)
        write, outgoing = sdk.create_memory_object_stream[sdk.SessionMessage](MOST_UNSENT)
        events = _events(response)
        try:
            endpoint = await self._endpoint(events)
            async with sdk.create_task_group() as group:
                sender = _Sender(client, endpoint, incoming, group)
                group.start_soon(_receive, events, incoming)
                group.start_soon(sender.send_all, outgoing)
                try:
                    yield read, write
                finally:
                    group.cancel_scope.cancel()
        finally:
            for stream in (incoming, read, write, outgoing):
                stream.close()

    async def _notice(self, response: "sdk.httpx2.Response") -> None:
        await super()._notice(response)
        posted = response.request.method == "POST"
        self.expired |= posted and response.status_code == HTTP_NOT_FOUND

    async def _endpoint(self, events: AsyncIterator["_Event"]) -> "sdk.httpx2.URL":
        """Where to send to. Raises `NotSse`."""
        async for event in events:
            if event.kind == "endpoint":
                return _within_origin(sdk.httpx2.URL(self._url), event.data.content.decode())
        raise NotSse("its stream ended before it said where to send to")


class _Event:
    """One event of the stream. Of an event that is too large only the beginning is kept."""

    def __init__(self) -> None:
        self.kind = "message"
        self._pieces: list[bytes] = []
        self._length = 0
        self._whole = True

    def add(self, line: PipeLine) -> None:
        name, _, value = line.content.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"event":
            self.kind = value.decode(errors="replace")
        elif name == b"data" and self._whole:
            self._pieces.append(value)
            self._length += len(value) + 1
            self._whole = line.whole and self._length <= LONGEST_LINE
            if not self._whole:
                self._pieces = [b"\n".join(self._pieces)[:HEAD_BYTES]]

    @property
    def data(self) -> PipeLine:
        return PipeLine(b"\n".join(self._pieces), self._whole)


class _Raw:
    """The bytes of a response as they come: a `ByteReader`."""

    def __init__(self, response: "sdk.httpx2.Response") -> None:
        self._chunks = response.aiter_raw()

    async def read(self, _most: int, /) -> bytes:
        return await anext(self._chunks, b"")


async def _events(response: "sdk.httpx2.Response") -> AsyncGenerator[_Event]:
    event = _Event()
    async for line in bounded_lines(_Raw(response)):
        plain = line._replace(content=line.content.removesuffix(b"\r"))
        if plain.content:
            event.add(plain)
        elif event.data.content:
            yield event
            event = _Event()


async def _receive(
    events: AsyncIterator[_Event], incoming: sdk.MemoryObjectSendStream[sdk.Item]
) -> None:
    """Hand on every message, until there are no more."""
    with suppress(*_GONE, sdk.httpx2.HTTPError):
        async for event in events:
            message = message_of(event.data) if event.kind == "message" else None
            if message:
                await incoming.send(message)
    incoming.close()


class _Sender:
    """Sends messages in their order."""

    def __init__(
        self,
        client: "sdk.httpx2.AsyncClient",
        endpoint: "sdk.httpx2.URL",
        incoming: sdk.MemoryObjectSendStream[sdk.Item],
        group: sdk.TaskGroup,
    ) -> None:
        self._client = client
        self._endpoint = endpoint
        self._incoming = incoming
        self._group = group

    async def send_all(self, outgoing: sdk.MemoryObjectReceiveStream[sdk.SessionMessage]) -> None:
        with suppress(*_GONE):
            async for item in outgoing:
                sent = asyncio.Event()
                self._group.start_soon(self._send, item, sent)
                with suppress(TimeoutError):
                    await asyncio.wait_for(sent.wait(), ORDER_S)

    async def _send(self, item: sdk.SessionMessage, sent: asyncio.Event) -> None:
        """Send one message. If the server refuses it, an error takes the place of its answer."""
        message = item.message
        body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        try:
            response = await sdk.request_within_origin(
                self._client, "POST", self._endpoint, json=body
            )
        except sdk.httpx2.HTTPError:
            self._incoming.close()  # it is gone
            return
        finally:
            sent.set()
        if response.is_success or not isinstance(message, sdk.JSONRPCRequest):
            return
        text = f"its address answers with HTTP {response.status_code}"
        error = sdk.ErrorData(code=FAILED, message=text)
        refused = sdk.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
        with suppress(*_GONE):
            await self._incoming.send(sdk.SessionMessage(refused))


def _check(response: "sdk.httpx2.Response") -> None:
    response.raise_for_status()
    kind = response.headers.get("content-type", "")
    if not kind.startswith("text/event-stream"):
        raise NotSse('it does not speak SSE; if it is a newer one, its `type` is "http"')


def _within_origin(url: "sdk.httpx2.URL", endpoint: str) -> "sdk.httpx2.URL":
    """The address that the server says to send to. Raises `NotSse` if it is of another origin."""
    to = url.join(endpoint)
    if (to.scheme, to.host, to.port) != (url.scheme, url.host, url.port) or (
        to.userinfo and to.userinfo != url.userinfo
    ):
        raise NotSse("it wants us to send to another address than its own")
    return to
