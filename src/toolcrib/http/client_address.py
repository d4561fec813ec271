"""Who is at the other end: the peer of the connection, or whom a trusted proxy names.

A proxy adds the address of its own peer at the right end of `X-Forwarded-For`. So the client is the
last address there that is no trusted proxy's; what stands left of it is the client's own word. From
a peer that is not trusted, the header counts for nothing.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TypeAlias

from toolcrib.http.asgi import Scope

FORWARDED_FOR = b"x-forwarded-for"
MOST_HOPS = 32

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


class TrustedProxies:
    """The proxies whose word counts. None of them: nobody's does."""

    def __init__(self, networks: Iterable[Network] = ()) -> None:
        self._networks = tuple(networks)

    def has(self, peer: str) -> bool:
        """Whether this peer is one of them."""
        return self._has(address_of(peer))

    def client(self, scope: Scope) -> str:
        """The address that a request comes from; "" if the connection has none."""
        at = address_of(peer_of(scope))
        hops = _hops(scope) if self._has(at) else []
        while hops and self._has(at) and (hop := address_of(hops.pop())):
            at = hop
        return str(at or "")

    def _has(self, address: Address | None) -> bool:
        return address is not None and any(address in each for each in self._networks)


def peer_of(scope: Scope) -> str:
    """The other end of the connection itself; "" if it has no address."""
    client = scope.get("client")
    return str(client[0]) if client else ""


@lru_cache(maxsize=256)
def address_of(text: str) -> Address | None:
    """An address as it is compared: IPv4 within IPv6 is IPv4. None if it is no address."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def network_of(text: str) -> Network:
    """An address, or a network such as 10.0.0.0/8. Raises `ValueError`."""
    return ip_network(text.strip())


def is_loopback(peer: str) -> bool:
    """Whether it is this machine."""
    address = address_of(peer)
    return address is not None and address.is_loopback


def _hops(scope: Scope) -> list[str]:
    """The addresses that the header names, the nearest last."""
    lines = [value for name, value in scope["headers"] if name.lower() == FORWARDED_FOR]
    words = b",".join(lines).decode("latin-1").split(",")
    return [stripped for word in words if (stripped := word.strip())][-MOST_HOPS:]
