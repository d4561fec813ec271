"""Where the OAuth redirect lands after a login: a listener on the loopback, for one answer."""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Self
from urllib.parse import parse_qsl, urlsplit

HOST = "127.0.0.1"
PATH = "/callback"
MOST_BYTES = 16 * 1024
READ_S = 5.0
_HEAD = (
    "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n"
    "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'\r\nX-Content-Type-Options: nosniff\r\n"
    "Connection: close\r\n\r\n"
)


class LoginDenied(Exception):
    """The authorization server sent the browser back with an error instead of a code."""


class OAuthCallback:
    """Listens until it is closed. A request that does not carry our `state` is refused."""

    def __init__(self) -> None:
        self._state = ""
        self._server: asyncio.Server | None = None
        self._answer: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, port: int = 0) -> Self:
        """Listen on this port, or on any other if this one is taken."""
        self = cls()
        try:
            self._server = await asyncio.start_server(self._serve, HOST, port, limit=MOST_BYTES)
        except OSError:
            self._server = await asyncio.start_server(self._serve, HOST, 0, limit=MOST_BYTES)
        return self

    @property
    def url(self) -> str:
        return f"http://{self._authority}{PATH}"

    def expect(self, state: str) -> None:
        """Accept only the redirect that carries this state."""
        self._state = state

    async def answer(self) -> Mapping[str, str]:
        """The parameters that came back. Raises `LoginDenied`."""
        given = await self._answer
        if "error" in given:
            raise LoginDenied(f"{given['error']} {given.get('error_description', '')}".strip())
        return given

    async def close(self) -> None:
        self._answer.cancel()
        if self._server:
            self._server.close()
            await self._server.wait_closed()

    @property
    def _authority(self) -> str:
        if self._server is None:
            raise RuntimeError("used before it was open")
        return f"{HOST}:{self._server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, text = self._reply_to(head.decode("latin-1"))
                page = _HEAD.format(status=status, length=len(text.encode())) + text
                writer.write(page.encode())
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # this was no browser with an answer
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _reply_to(self, head: str) -> tuple[str, str]:
        """Status and text of the reply. The redirect that we wait for is taken."""
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        hosts = [line[5:].strip() for line in lines if line[:5].lower() == "host:"]
        if method != "GET" or target.path != PATH or hosts != [self._authority]:
            return "404 Not Found", "Nothing is here.\n"
        given = dict(parse_qsl(target.query))
        if not self._state or not secrets.compare_digest(
            given.get("state", "").encode(), self._state.encode()
        ):
            return "400 Bad Request", "This is not the login that Toolcrib waits for.\n"
        if not self._answer.done():
            self._answer.set_result(given)
        return "200 OK", "Toolcrib has the answer. You may close this page.\n"
