"""The Streamable HTTP transport of the SDK, with a bound on replies and an eye on refusals."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from toolcrib.sources.mcp import sdk
from toolcrib.system import LONGEST_LINE
from toolcrib.text import Redactor

if TYPE_CHECKING:
    from toolcrib.sources.mcp.oauth.authorizer import Authorizer
from toolcrib.sources.mcp.http_client import bounded_http_client

HTTP_UNAUTHORIZED = 401
HTTP_NOT_FOUND = 404
SESSION = "mcp-session-id"
LOGGERS = (
    *("mcp.client.streamable_http", "mcp.client.auth.oauth2", "httpx2"),
    *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")),
)
"""Those that say what is sent and what comes, addresses included, before we see it."""


class StreamableHttpTransport:
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
        client = bounded_http_client(self._headers, self._authorizer)
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
