"""The public keys of one issuer, by which its tokens are checked.

They are fetched from where the issuer's own discovery document says, and from nowhere else: what a
token names is never followed. A request fetches nothing unless its key is unknown, and then at most
once in `PAUSE_S`, whatever strangers send; after a failure the pauses grow. Keys are fetched again
after `FRESH_S`, in the background. While the issuer does not answer they go on, for `STALE_S`.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, cast
from urllib.parse import urlsplit

from jwt import PyJWK
from jwt.exceptions import InvalidKeyError, PyJWKError

from toolcrib.gateway.oauth.person import IssuerUnreachable
from toolcrib.strict_json import read_json

FRESH_S = 300.0
STALE_S = 3_600.0
PAUSE_S = 30.0
LONGEST_PAUSE_S = 300.0
TIMEOUT_S = 5.0
MOST_BYTES = 256 * 1024
MOST_KEYS = 64
OK = 200
NOT_FOUND = 404
ALGORITHMS = frozenset(
    "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA".split()  # by a public key, each
)
_KINDS = {"RSA": ("RS", "PS"), "EC": ("ES",), "OKP": ("Ed",)}
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})

_log = logging.getLogger(__name__)


class UnknownSigningKey(Exception):
    """The issuer has no such key, as far as is known."""


class IssuerKeys:
    """Of one issuer. Made for one event loop."""

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._clock = clock
        self._keys: Mapping[str, Mapping[str, Any]] = {}
        self._fetched: float | None = None
        self._not_before = 0.0
        self._failures = 0
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, id: str, algorithm: str) -> PyJWK:
        """The key that signs so. Raises `UnknownSigningKey` and `IssuerUnreachable`."""
        if id in self._keys and self._age() < STALE_S:
            if self._age() >= FRESH_S and self._may_fetch():
                self._fetch_soon()
            return _usable(self._keys[id], algorithm)
        if self._may_fetch():
            await asyncio.shield(self._fetch_soon())
        elif self._fetching:
            await asyncio.shield(self._fetching)
        if self._age() >= STALE_S:
            raise IssuerUnreachable
        if id not in self._keys:
            raise UnknownSigningKey("the issuer has no such key")
        return _usable(self._keys[id], algorithm)

    def close(self) -> None:
        """Fetch nothing any more."""
        if self._fetching:
            self._fetching.cancel()

    def _age(self) -> float:
        return float("inf") if self._fetched is None else self._clock() - self._fetched

    def _may_fetch(self) -> bool:
        return self._fetching is None and self._clock() >= self._not_before

    def _fetch_soon(self) -> "asyncio.Task[None]":
        self._fetching = asyncio.create_task(self._fetch())
        return self._fetching

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(2 * TIMEOUT_S):
                self._keys = await asyncio.to_thread(fetch_keys, self._issuer)
            self._fetched = self._clock()
            self._failures = 0
        except (OSError, HTTPException, ValueError) as error:
            self._failures += 1
            _log.warning("the keys of %s cannot be fetched: %s", self._issuer, error)
        finally:
            pause = min(PAUSE_S * 2 ** max(0, self._failures - 1), LONGEST_PAUSE_S)
            self._not_before = self._clock() + pause
            self._fetching = None


def fetch_keys(issuer: str) -> Mapping[str, Mapping[str, Any]]:
    """The keys that the issuer publishes, by id. Raises `OSError` and `ValueError`."""
    found = _get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if found is None:
        parts = urlsplit(issuer)
        path = f"/.well-known/oauth-authorization-server{parts.path.rstrip('/')}"
        found = _get(f"{parts.scheme}://{parts.netloc}{path}")
    match found:
        case {"issuer": str(named), "jwks_uri": str(where)} if named == issuer:
            return _signing_keys(_get(where))
        case _:
            raise ValueError("its discovery document is missing, or is another issuer's")


def _signing_keys(published: object) -> Mapping[str, Mapping[str, Any]]:
    """Those by which a signature can be checked: a secret that is shared is none of them."""
    is_document = isinstance(published, dict)
    keys = cast("Mapping[str, object]", published).get("keys") if is_document else None
    if not isinstance(keys, list):
        raise ValueError("it publishes no keys")  # noqa: TRY004 - of a document, not of a value
    found: dict[str, Mapping[str, Any]] = {}
    for each in cast("list[object]", keys)[:MOST_KEYS]:
        match each:
            case {"kty": "RSA" | "EC" | "OKP", "kid": str(id)}:
                found[id] = cast("Mapping[str, Any]", each)
            case _:
                continue
    return {id: key for id, key in found.items() if key.get("use", "sig") == "sig"}


def _usable(key: Mapping[str, Any], algorithm: str) -> PyJWK:
    """The key for this algorithm. Raises `UnknownSigningKey` if it is for another one."""
    is_for = algorithm in ALGORITHMS and algorithm.startswith(_KINDS[key["kty"]])
    if not is_for or key.get("alg", algorithm) != algorithm:
        raise UnknownSigningKey("this key does not sign so")
    try:
        return PyJWK(dict(key), algorithm)
    except (PyJWKError, InvalidKeyError, ValueError) as error:
        raise UnknownSigningKey("this key cannot be read") from error


def _get(url: str) -> object:
    """The JSON at an address; None where there is none. Raises `OSError` and `ValueError`.

    No redirect is followed and no proxy asked. What is not on this machine is asked over TLS alone.
    """
    at = urlsplit(url)
    host = at.hostname or ""
    if at.scheme == "https":
        connection: HTTPConnection = HTTPSConnection(host, at.port, timeout=TIMEOUT_S)
    elif at.scheme == "http" and host in LOOPBACK:
        connection = HTTPConnection(host, at.port, timeout=TIMEOUT_S)
    else:
        raise ValueError(f"{url} is not an https address")
    try:
        path = f"{at.path or '/'}?{at.query}" if at.query else at.path or "/"
        connection.request("GET", path, headers={"Accept": "application/json"})
        reply = connection.getresponse()
        content = reply.read(MOST_BYTES + 1)
    finally:
        connection.close()
    if reply.status == NOT_FOUND:
        return None
    if reply.status != OK or len(content) > MOST_BYTES:
        raise ValueError(f"{url} answers with {reply.status} and {len(content)} bytes")
    return read_json(content.decode())
