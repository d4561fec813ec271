"""What every answer of the dashboard says to the browser, and how an answer is sent.

Nothing but our own files is loaded, no script makes HTML but through our one policy, no other page
frames or reads ours, nothing is cached, and no address is handed on. There is no CORS.
"""

from collections.abc import Mapping

from toolcrib.http import Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types toolcrib"
)
SECURITY_HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with "no-referrer" our own forms come without an origin
    "cache-control": "no-store",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    "x-frame-options": "DENY",
}
HTML = "text/html; charset=utf-8"
EVENT_STREAM = "text/event-stream; charset=utf-8"
COOKIE = "__Host-toolcrib"


async def send_answer(
    send: Send,
    status: int,
    content: bytes = b"",
    kind: str = HTML,
    more: Mapping[str, str] | None = None,
) -> None:
    """A whole answer, with all of these headers."""
    await send_head(send, kind, status, {"content-length": str(len(content)), **(more or {})})
    await send({"type": "http.response.body", "body": content})


async def send_head(
    send: Send, kind: str, status: int = 200, more: Mapping[str, str] | None = None
) -> None:
    """The head of an answer, with all of these headers; its pieces come after it."""
    named = {**SECURITY_HEADERS, "content-type": kind, **(more or {})}
    raw = [(name.encode("ascii"), value.encode("latin-1")) for name, value in named.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def send_piece(send: Send, content: bytes, *, more: bool = True) -> None:
    """A piece of an answer; without `more`, the last one."""
    await send({"type": "http.response.body", "body": content, "more_body": more})


def cookie_set(value: str) -> str:
    """The cookie of a session: for this name alone, out of reach of scripts and other sites."""
    return f"{COOKIE}={value}; Secure; HttpOnly; SameSite=Strict; Path=/"


def cookie_of(headers: Mapping[str, str]) -> str:
    """The value of our cookie; empty if there is none, or more than one."""
    pairs = (each.strip().partition("=") for each in headers.get("cookie", "").split(";"))
    values = [value for name, _, value in pairs if name == COOKIE]
    return values[0] if len(values) == 1 else ""
