"""The headers of a request, each once, and whether a stranger's page could have sent it."""

import re
from collections.abc import Collection, Iterable, Mapping

from toolcrib.gateway.http.refusal import Refusal

MOST_HEADERS = 100
# Two of these would let two readers read two different things.
ONCE = frozenset({"host", "origin", "authorization", "content-length", "content-type"})
ONCE_TOO = frozenset({"transfer-encoding", "mcp-session-id", "mcp-protocol-version"})
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def headers_of(raw: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """By name in small letters. Raises `Refusal` for too many, and for two where one is meant."""
    found: dict[str, str] = {}
    pairs = list(raw)
    if len(pairs) > MOST_HEADERS:
        raise Refusal(431, "too_many_headers", f"more than {MOST_HEADERS} headers; send fewer")
    for name, value in pairs:
        key = name.decode("latin-1").lower()
        if key in found and key in ONCE | ONCE_TOO:
            raise Refusal(400, "bad_request", f"the header {key} was sent twice; send it once")
        found[key] = value.decode("latin-1")
    if "content-length" in found and "transfer-encoding" in found:
        raise Refusal(400, "bad_request", "two lengths for one body; send one")
    return found


def check_host(headers: Mapping[str, str], port: int, more: Collection[str]) -> None:
    """Whether the request is meant for us. Raises `Refusal`: a page may point its name at us."""
    host = headers.get("host", "")
    allowed = {f"{name}:{port}" for name in LOOPBACK} | {name.lower() for name in more}
    if not _HOST.fullmatch(host) or host.lower() not in allowed:
        told = "this Host header is not served; use 127.0.0.1 with the port, or set `gateway.hosts`"
        raise Refusal(421, "bad_host", told)


def check_origin(headers: Mapping[str, str], allowed: Collection[str]) -> None:
    """Whether no page of a stranger's sent it. Raises `Refusal`."""
    origin = headers.get("origin")
    if origin is not None and origin not in allowed:
        told = "pages of this origin are refused; if it is yours, add it to `gateway.origins`"
        raise Refusal(403, "bad_origin", told)
    if origin is None and headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise Refusal(403, "bad_origin", "requests from web pages are refused; use an MCP client")


def check_content(headers: Mapping[str, str]) -> None:
    """Whether the body is JSON, which no plain form of a page can send. Raises `Refusal`."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        told = "only JSON is taken; send `Content-Type: application/json`"
        raise Refusal(415, "not_json", told)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal(415, "not_json", "the body is compressed; send it plain")


def bearer_of(headers: Mapping[str, str]) -> str:
    """The credential of a request. Raises `Refusal` if it has none where it belongs."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise unauthorized("there is no token; send `Authorization: Bearer KEY`")
    return secret.strip()


def unauthorized(why: str) -> Refusal:
    """What whoever has no good credential is told."""
    return Refusal(401, "unauthorized", why, {"www-authenticate": 'Bearer realm="toolcrib"'})
