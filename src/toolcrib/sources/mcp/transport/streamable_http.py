"""The Streamable HTTP transport of the SDK, with bounded replies; notices refusals."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolcrib.sources.mcp import sdk
from toolcrib.sources.mcp.http_client import bounded_http_client
from toolcrib.system import LONGEST_LINE
from toolcrib.text import Redactor

if TYPE_CHECKING:
    from toolcrib.sources.mcp.oauth.authorizer import Authorizer

HTTP_UNAUTHORIZED = 401
HTTP_NOT_FOUND = 404
SESSION = "mcp-session-id"
LOGGERS = (
    *("mcp.client.streamable_http", "mcp.client.auth.oauth2", "httpx2"),
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)
"""They log what is sent and received, with addresses: secrets are removed from what they say."""


class StreamableHttpTransport:
    """To one address. `expired` once the server does not know our session any more."""

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
        self._is_unauthorized = self.expired = False

    @asynccontextmanager
    async def streams(self) -> AsyncGenerator[sdk.TransportStreams]:
        """What the SDK's transport gives. Redirects stay within the origin."""
        client = bounded_http_client(self._headers, self._authorizer)
        client.event_hooks = {"response": [self._notice]}
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
        """Whether the server refuses us, after an authorizer has tried to refresh its token."""
        return self._authorizer.refused if self._authorizer else self._is_unauthorized

    async def _notice(self, response: "sdk.httpx2.Response") -> None:
        status, session = response.status_code, SESSION in response.request.headers
        self._is_unauthorized |= status == HTTP_UNAUTHORIZED
        self.expired |= status == HTTP_NOT_FOUND and session
