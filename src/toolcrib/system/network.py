"""Which addresses are of the open internet, and which address a name stands for.

The ranges are our own list, of IANA's registries of special addresses: what Python calls global
differs from version to version, and has had holes.
"""

import asyncio
import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
_NAT64 = IPv6Network("64:ff9b::/96")
_INTERNET = (IPv4Network("0.0.0.0/0"), IPv6Network("2000::/3"), _NAT64)
_SPECIAL = tuple(
    map(
        ip_network,
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24"
        " 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24"
        " 224.0.0.0/3 2001::/23 2001:db8::/32 3fff::/20".split(),
    )
)


async def addresses_of(host: str, port: int | None = None) -> list[Address]:
    """All addresses of a host, IPv4 before IPv6. Raises `ValueError` where there is none."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ValueError(f"there is no host {host!r}; check the address") from error
    addresses = (ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)
    return sorted(addresses, key=lambda address: address.version)


def is_public(address: Address) -> bool:
    """Whether an address, and any IPv4 address hidden in it, is one of the open internet."""
    return all(_is_public(one) for one in _parts(address))


def _is_public(one: Address) -> bool:
    return any(one in each for each in _INTERNET) and not any(one in each for each in _SPECIAL)


def _parts(address: Address) -> Iterator[Address]:
    yield address
    if isinstance(address, IPv6Address):
        if address in _NAT64:
            yield IPv4Address(int(address) & 0xFFFFFFFF)
        yield from filter(None, [address.sixtofour])
