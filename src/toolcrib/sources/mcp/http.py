"""The SDK's streamable HTTP transport, with a bound on what comes and an eye on who is let in."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.lines import LONGEST_LINE
from toolcrib.sources.mcp.reply_id import reply_id
from toolcrib.text.redactor import Redactor

if TYPE_CHECKING:
    from toolcrib.sources.mcp.authorizer import Authorizer

CONNECT_S = 10.0
HTTP_OK = 200
HTTP_UNAUTHORIZED = 401
HTTP_NOT_FOUND = 404
HTTP_TOO_LARGE = 413
SESSION = "mcp-session-id"
LOGGERS = (
    *("mcp.client.streamable_http", "mcp.client.auth.oauth2", "httpx2"),
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)
"""Those that say what is sent and what comes, addresses included, before we see it."""


class HttpTransport:
    """One address.

    `needs_login` once the server has asked who we are, `expired` once it knows our session no more.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        authorizer: "Authorizer | None" = None,
        redactor: Redactor | None = None,
    ) -> None:
        self._url = url
        self._headers = headers
        self._authorizer = authorizer
        self._redactor = redactor or Redactor()
        self._asked = self.expired = False

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        """What the SDK's transport gives. Redirects stay within the origin."""
        client = http_client(self._headers, self._authorizer)
        client.event_hooks = {"response": [self._look]}
        with self._redactor.over_logs(*LOGGERS):
            async with (
                client,
                sdk.streamable_http_client(
                    self._url, http_client=client, max_sse_event_size=LONGEST_LINE
                ) as streams,
            ):
                yield streams

    @property
    def needs_login(self) -> bool:
        """With an authorizer, a refusal counts only when it has done what it can."""
        return self._authorizer.refused if self._authorizer else self._asked

    async def _look(self, response: "sdk.httpx2.Response") -> None:
        status, session = response.status_code, SESSION in response.request.headers
        self._asked |= status == HTTP_UNAUTHORIZED
        self.expired |= status == HTTP_NOT_FOUND and session


def http_client(
    headers: Mapping[str, str], authorizer: "sdk.httpx2.Auth | None" = None
) -> "sdk.httpx2.AsyncClient":
    """A client that takes in no more than it should."""
    return sdk.httpx2.AsyncClient(
        headers={**headers, "accept-encoding": "identity"},
        auth=authorizer,
        timeout=sdk.httpx2.Timeout(None, connect=CONNECT_S),
        transport=_Bounded(sdk.httpx2.AsyncHTTPTransport()),
    )


class _Bounded(sdk.httpx2.AsyncBaseTransport):
    """Replaces a body that is too large, or packed and so may be, by an error in its place.

    An exception would cost every other call on the connection. Event streams may go on for as long
    as they like: each event has its own limit.
    """

    def __init__(self, inner: "sdk.httpx2.AsyncHTTPTransport") -> None:
        self._inner = inner

    async def handle_async_request(self, request: "sdk.httpx2.Request") -> "sdk.httpx2.Response":
        response = await self._inner.handle_async_request(request)
        headers = response.headers
        if headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            return _refused(
                request, sdk.UNREADABLE, "its reply came compressed, though nobody asked for that"
            )
        if headers.get("content-type", "").startswith("text/event-stream"):
            return response
        body = await _body(response)
        if body is None:
            return _refused(request, sdk.TOO_LARGE, "its reply is too large")
        return sdk.httpx2.Response(response.status_code, headers=headers, content=body)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _body(response: "sdk.httpx2.Response") -> bytes | None:
    """The whole body; None where it passes the limit."""
    chunks: list[bytes] = []
    length = 0
    try:
        async for chunk in response.aiter_raw():
            length += len(chunk)
            if length > LONGEST_LINE:
                return None
            chunks.append(chunk)
    finally:
        await response.aclose()
    return b"".join(chunks)


def _refused(request: "sdk.httpx2.Request", code: int, words: str) -> "sdk.httpx2.Response":
    """An answer in the server's place, to the request whose answer cannot be taken in."""
    id = reply_id(request.content) if request.method == "POST" else None
    error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}}
    status = HTTP_OK if id is not None else HTTP_TOO_LARGE
    return sdk.httpx2.Response(status, json=error)
