"""The one way out to the web: the address is looked up once, checked, and then connected to.

A name that resolves to this machine or to a private network is refused, whichever way it is
written and at every redirect; and since the connection goes to the address that was checked, the
name cannot point elsewhere a moment later. Proxies of the environment are not used: they would
look the name up again.
"""

import asyncio
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import httpx2

MAX_BYTES = 2 * 1024 * 1024
MAX_REDIRECTS = 5
TIMEOUT_S = 30.0

_NAT64 = IPv6Network("64:ff9b::/96")


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
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(url.host, url.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ValueError(f"there is no host {url.host!r}; check the address") from error
    addresses = [ip_address(entry[4][0]) for entry in found]
    if not allow_private and not all(map(is_public, addresses)):
        raise ValueError(f"{url.host!r} is on this machine or a private network: not fetched")
    return str(min(addresses, key=lambda address: address.version))


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether an address, and any IPv4 address hidden in it, is one of the open internet."""
    return all(one.is_global and not one.is_multicast for one in _parts(address))


def _parts(address: IPv4Address | IPv6Address) -> Iterator[IPv4Address | IPv6Address]:
    yield address
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            yield IPv4Address(int(address) & 0xFFFFFFFF)
        yield from filter(None, [address.ipv4_mapped, address.sixtofour])
        yield from address.teredo or ()
