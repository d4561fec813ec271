"""What is checked of an HTTP request: its headers, and its body.

Each header counts once; the host and the origin tell whether a stranger's page could have sent it.
The body is read whole, within bounds of size and time, before anybody acts on it.
"""

import asyncio
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from toolcrib.http.asgi import HttpRefusal, Message, Receive
from toolcrib.model import Json
from toolcrib.strict_json import NotJson, read_json

MOST_HEADERS = 100
BODY_S = 20.0
LITTLE = 64 * 1024
"""A body of so many bytes is checked at once, a larger one on a thread."""
ONCE = frozenset(
    """host origin authorization content-length content-type transfer-encoding mcp-session-id
    mcp-protocol-version cookie sec-fetch-site""".split()
)
"""Two of these would let two readers read two different things."""
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """By name in small letters. Raises `HttpRefusal` for too many, and for one sent twice."""
    found: dict[str, str] = {}
    pairs = list(raw)
    if len(pairs) > MOST_HEADERS:
        raise HttpRefusal(431, "too_many_headers", f"more than {MOST_HEADERS} headers; send fewer")
    for name, value in pairs:
        key = name.decode("latin-1").lower()
        if key in found and key in ONCE:
            raise HttpRefusal(400, "bad_request", f"the header {key} was sent twice; send it once")
        found[key] = value.decode("latin-1")
    if "content-length" in found and "transfer-encoding" in found:
        raise HttpRefusal(400, "bad_request", "two lengths for one body; send one")
    return found


def check_host(headers: Mapping[str, str], port: int, more: Collection[str]) -> None:
    """Raises `HttpRefusal` unless it is meant for us: a page may point its own name at us."""
    host = headers.get("host", "")
    if not _HOST.fullmatch(host) or host.lower() not in _served_hosts(port, tuple(more)):
        problem = (
            "this Host header is not served; use 127.0.0.1 with the port, or set `gateway.hosts`"
        )
        raise HttpRefusal(421, "bad_host", problem)


@lru_cache(maxsize=16)
def _served_hosts(port: int, more: tuple[str, ...]) -> frozenset[str]:
    return frozenset({f"{name}:{port}" for name in LOOPBACK} | {name.lower() for name in more})


def check_origin(headers: Mapping[str, str], allowed: Collection[str]) -> None:
    """Raises `HttpRefusal` for a request that a stranger's page may have sent."""
    origin = headers.get("origin")
    if origin is not None and origin not in allowed:
        problem = "pages of this origin are refused; if it is yours, add it to `gateway.origins`"
        raise HttpRefusal(403, "bad_origin", problem)
    if origin is None and headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise HttpRefusal(
            403, "bad_origin", "requests from web pages are refused; use an MCP client"
        )


def check_content(headers: Mapping[str, str]) -> None:
    """Raises `HttpRefusal` unless the body is JSON, which no plain form of a page can send."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        problem = "only JSON is taken; send `Content-Type: application/json`"
        raise HttpRefusal(415, "not_json", problem)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise HttpRefusal(415, "not_json", "the body is compressed; send it plain")


def bearer_of(headers: Mapping[str, str]) -> str:
    """The credential of a request. Raises `HttpRefusal` if it has none where it belongs."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise unauthorized("there is no token; send `Authorization: Bearer KEY`")
    return secret.strip()


def unauthorized(why: str) -> HttpRefusal:
    """The refusal of a request without a good credential."""
    return HttpRefusal(401, "unauthorized", why, {"www-authenticate": 'Bearer realm="toolcrib"'})


async def read_body(receive: Receive, headers: Mapping[str, str], most: int) -> bytes:
    """All of it. Raises `HttpRefusal` where it is too much, too slow, or cut off."""
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)
    try:
        async with asyncio.timeout(BODY_S):
            return await _read_whole(receive, most)
    except TimeoutError:
        problem = f"the body took longer than {BODY_S:.0f} s; send it faster"
        raise HttpRefusal(408, "too_slow", problem) from None


async def read_json_body(
    receive: Receive, headers: Mapping[str, str], most: int, *, most_values: int
) -> tuple[bytes, Json]:
    """All of it, as `read_body`, and what it says.

    Raises `HttpRefusal` for no JSON, and for too many values too.
    """
    body = await read_body(receive, headers, most)
    if len(body) <= LITTLE:
        return body, _json_of(body, most_values)
    return body, await asyncio.to_thread(_json_of, body, most_values)


def _json_of(body: bytes, most_values: int) -> Json:
    try:
        return read_json(body.decode(), most_values=most_values)
    except (NotJson, UnicodeDecodeError) as error:
        raise HttpRefusal(400, "bad_request", f"{error}"[:200]) from None


async def _read_whole(receive: Receive, most: int) -> bytes:
    """The body, chunk by chunk: the length in a header does not count."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HttpRefusal(400, "bad_request", "the body was cut off")
        body += message.get("body", b"")
        if len(body) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(most: int) -> HttpRefusal:
    problem = f"the body has more than {most:,} bytes; send less, or set `gateway.body_bytes`"
    return HttpRefusal(413, "too_large", problem)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body, and then whatever the client does next."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_again
