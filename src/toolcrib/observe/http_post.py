"""One POST after another to one address: no redirect is followed, no proxy asked, nothing kept."""

from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

TIMEOUT_S = 10.0
HURRIED_S = 1.0
LONGEST_REPLY = 64 * 1024
FIRST_REFUSAL = 300
CONTENT_TYPE: Final = "application/x-protobuf"
TRY_AGAIN: Final = frozenset({408, 429, 500, 502, 503, 504})
"""Answers that say that the same may be taken later."""


class PostFailed(Exception):
    """It was not taken. `is_final`: it will not be taken later either."""

    def __init__(self, message: str, *, is_final: bool) -> None:
        super().__init__(message)
        self.is_final = is_final


class HttpPost:
    """Sends bodies to an address that begins with http: or https:."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._at = urlsplit(url)
        self._headers = {"Content-Type": CONTENT_TYPE, **headers}

    def send(self, body: bytes, *, hurried: bool = False) -> bytes:
        """The body of the reply. Raises `PostFailed`, whose message has no header in it."""
        connection = self._connection(HURRIED_S if hurried else TIMEOUT_S)
        try:
            connection.request("POST", self._at.path, body, self._headers)
            reply = connection.getresponse()
            content = reply.read(LONGEST_REPLY)
        except TimeoutError:
            raise PostFailed("it does not answer in time", is_final=False) from None
        except (OSError, HTTPException) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            raise PostFailed(f"it cannot be reached ({why})", is_final=False) from None
        finally:
            connection.close()
        if reply.status >= FIRST_REFUSAL:
            problem = f"it answers {self._at.path} with {reply.status}"
            raise PostFailed(problem, is_final=reply.status not in TRY_AGAIN)
        return content

    def _connection(self, timeout_s: float) -> HTTPConnection:
        host, port = self._at.hostname or "", self._at.port
        if self._at.scheme == "https":
            return HTTPSConnection(host, port, timeout=timeout_s)
        return HTTPConnection(host, port, timeout=timeout_s)
