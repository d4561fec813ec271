"""The SDK's streamable HTTP transport, with a bound on what comes and an eye on who is let in."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.lines import LONGEST_LINE

CONNECT_S = 10.0
UNAUTHORIZED = 401


class HttpTransport:
    """One address. `needs_login` once the server has asked who we are."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = {**headers, "accept-encoding": "identity"}
        self.needs_login = False

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        """What the SDK's transport gives. Redirects stay within the origin."""
        client = sdk.httpx2.AsyncClient(
            headers=self._headers,
            timeout=sdk.httpx2.Timeout(None, connect=CONNECT_S),
            transport=_Bounded(sdk.httpx2.AsyncHTTPTransport()),
            event_hooks={"response": [self._look]},
        )
        async with (
            client,
            sdk.streamable_http_client(
                self._url, http_client=client, max_sse_event_size=LONGEST_LINE
            ) as streams,
        ):
            yield streams

    async def _look(self, response: "sdk.httpx2.Response") -> None:
        self.needs_login |= response.status_code == UNAUTHORIZED


class _Bounded(sdk.httpx2.AsyncBaseTransport):
    """Refuses a packed body, which may grow without end, and one that is too large.

    Event streams may go on for as long as they like: each event has its own limit.
    """

    def __init__(self, inner: "sdk.httpx2.AsyncHTTPTransport") -> None:
        self._inner = inner

    async def handle_async_request(self, request: "sdk.httpx2.Request") -> "sdk.httpx2.Response":
        response = await self._inner.handle_async_request(request)
        headers = response.headers
        if headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise sdk.httpx2.DecodingError("the server packed its reply unasked", request=request)
        if not headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Counted(response)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(sdk.httpx2.AsyncByteStream):
    """The body of a response, up to the limit."""

    def __init__(self, response: "sdk.httpx2.Response") -> None:
        self._inner = cast("sdk.httpx2.AsyncByteStream", response.stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._inner:
            length += len(chunk)
            if length > LONGEST_LINE:
                raise sdk.httpx2.ReadError("its reply is too large")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
