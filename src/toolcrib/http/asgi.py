"""The words of ASGI, as far as we use them, and the answers that we write ourselves.

A refusal always has the next step.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

AUTHENTICATED = "toolcrib.is_known"
"""The key, in a scope's state, of the function to call once a request has shown a credential."""
HEADERS = "toolcrib.headers"
"""The key, in a scope, of its headers by name in small letters."""


class HttpRefusal(Exception):
    """A status, one word for programs, and a sentence with cause and remedy."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = headers or {}


async def send_json(
    status: int, body: object, send: Send, headers: Mapping[str, str] | None = None
) -> None:
    """A whole answer, which nobody may cache."""
    kind = {"content-type": "application/json"}
    await send_content(status, json.dumps(body).encode(), send, {**kind, **(headers or {})})


async def send_content(status: int, content: bytes, send: Send, headers: Mapping[str, str]) -> None:
    """The same of any content; the headers say what it is."""
    named = {
        "content-length": str(len(content)),
        "cache-control": "no-store",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        **headers,
    }
    raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": content})
