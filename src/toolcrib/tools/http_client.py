"""The one way out to the web: the address is looked up once, checked, and then connected to.

A name that resolves to this machine or to a private network is refused, whichever way it is
written and at every redirect; and since the connection goes to the address that was checked, the
name cannot point elsewhere a moment later. Proxies of the environment are not used: they would
look the name up again.
"""

import asyncio
from dataclasses import dataclass

import httpx2

from toolcrib.system import addresses_of, is_public

MAX_BYTES = 2 * 1024 * 1024
MAX_REDIRECTS = 5
TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class HttpPage:
    """What a server answered. `truncated`: there was more than `MAX_BYTES`."""

    url: str
    status: int
    content_type: str
    encoding: str
    content: bytes
    truncated: bool


async def fetch(url: str, *, allow_private: bool = False) -> HttpPage:
    """GET a page over http or https. Raises `ValueError`, `TimeoutError` or `httpx2.HTTPError`.

    `allow_private` is for whoever wires tools, never for a model.
    """
    async with asyncio.timeout(TIMEOUT_S):
        target = httpx2.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            answer = await _get(target, allow_private=allow_private)
            if isinstance(answer, HttpPage):
                return answer
            target = answer
    raise ValueError(f"{url} redirects more than {MAX_REDIRECTS} times; give the final address")


async def _get(url: httpx2.URL, *, allow_private: bool) -> HttpPage | httpx2.URL:
    """The page at exactly this address, or the address that it redirects to."""
    if url.scheme not in {"http", "https"} or not url.host:
        raise ValueError(f"{url} is not an http or https address; give one")
    pinned = url.copy_with(host=await _resolve(url, allow_private=allow_private))
    headers = {"Host": url.netloc.decode(), "User-Agent": "toolcrib", "Accept-Encoding": "identity"}
    name = {"sni_hostname": url.raw_host.decode()}
    async with (
        httpx2.AsyncClient(trust_env=False) as client,
        client.stream("GET", pinned, headers=headers, extensions=name) as response,
    ):
        return await _read(response, url)


async def _read(response: httpx2.Response, url: httpx2.URL) -> HttpPage | httpx2.URL:
    if response.has_redirect_location:
        return url.join(response.headers["Location"])
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > MAX_BYTES:
            break
    return HttpPage(
        url=str(url),
        status=response.status_code,
        content_type=response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
        encoding=response.encoding or "utf-8",
        content=bytes(content[:MAX_BYTES]),
        truncated=len(content) > MAX_BYTES,
    )


async def _resolve(url: httpx2.URL, *, allow_private: bool) -> str:
    """One address of the host, IPv4 before IPv6. A private one among them refuses them all."""
    addresses = await addresses_of(url.host, url.port)
    if not allow_private and not all(map(is_public, addresses)):
        raise ValueError(f"{url.host!r} is on this machine or a private network: not fetched")
    return str(addresses[0])
