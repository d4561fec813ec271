"""Where the gateway listens for HTTP, and what protects it there.

On loopback nothing more is needed. Beyond it, a key must never cross a network in the clear: either
we speak TLS, or a proxy does and we hear that proxy alone. And clients must be told by name which
hosts we answer to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from toolcrib.errors import ConfigError
from toolcrib.http import Certificate, TrustedProxies, is_loopback, network_of
from toolcrib.settings import GatewaySettings

MCP_PATH = "/mcp"


@dataclass(frozen=True)
class Binding:
    """An address, and either TLS, or proxies that are trusted, or loopback alone."""

    address: str
    tls: tuple[Path, Path] | None = None
    behind_proxy: bool = False
    trusted: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: GatewaySettings) -> "Binding":
        """The binding that these settings ask for.

        Raises `ConfigError` for one that would be open, or that nobody could use.
        """
        for problem in _problems(settings):
            raise ConfigError(problem)
        certificate, key = settings.tls_certificate, settings.tls_key
        tls = (certificate, key) if certificate and key else None
        proxies = settings.trusted_proxies if settings.behind_proxy else ()
        return cls(settings.bind, tls, settings.behind_proxy, proxies, settings.hosts)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches it, and no proxy that others reach."""
        return is_loopback(self.address) and not self.behind_proxy

    @cached_property
    def proxies(self) -> TrustedProxies:
        """Those whose word about the client's address counts."""
        return TrustedProxies(map(network_of, self.trusted))

    def certificate(self) -> Certificate | None:
        """What TLS is spoken with; None where none is. Raises `ConfigError`."""
        return Certificate(*self.tls) if self.tls else None

    def url(self, port: int) -> str:
        """Where MCP is served."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{'https' if self.tls else 'http'}://{host}:{port}{MCP_PATH}"

    @property
    def protection(self) -> str:
        """What keeps strangers out, beside keys: for people."""
        if self.is_local and not self.tls:
            return "this machine only"
        parts = ["TLS"] if self.tls else []
        if self.behind_proxy:
            parts.append(f"behind {', '.join(self.trusted)}")
        return f"{', '.join(parts)}; hosts: {', '.join(self.hosts) or 'loopback'}"

    def can_become(self, other: "Binding") -> bool:
        """Whether a running gateway can be bound like the other without a new start."""
        return (self.address, bool(self.tls), self.behind_proxy) == (
            other.address,
            bool(other.tls),
            other.behind_proxy,
        )


def _problems(settings: GatewaySettings) -> Iterator[str]:
    """What is wrong with how it is to be bound, each with the next step."""
    beyond = not is_loopback(settings.bind)
    has_tls = bool(settings.tls_certificate and settings.tls_key)
    if bool(settings.tls_certificate) != bool(settings.tls_key):
        yield "TLS needs `gateway.tls_certificate` and `gateway.tls_key`; set the other one too"
    if settings.behind_proxy and not settings.trusted_proxies:
        yield (
            "`gateway.behind_proxy` needs to know the proxy; name its address in"
            " `gateway.trusted_proxies`"
        )
    if settings.trusted_proxies and not settings.behind_proxy:
        yield "`gateway.trusted_proxies` is for a proxy; set `gateway.behind_proxy = true`"
    if beyond and not has_tls and not settings.behind_proxy:
        yield (
            f"`gateway.bind` is {settings.bind}, which others reach, and keys would cross the"
            " network in the clear; set `gateway.tls_certificate` and `gateway.tls_key`, or, if a"
            " proxy in front speaks TLS, `gateway.behind_proxy = true` and"
            " `gateway.trusted_proxies`"
        )
    if (beyond or settings.behind_proxy) and not settings.hosts:
        yield (
            "others reach the gateway by a name; put it into `gateway.hosts`, such as"
            ' `hosts = ["tools.example.com"]`, with the port if it is not that of the scheme'
        )
    if (beyond or settings.behind_proxy or has_tls) and _lacks_resource(settings):
        yield (
            "tokens are for the address that clients use; write it to `gateway.oauth.resource`,"
            " such as https://tools.example.com/mcp"
        )


def _lacks_resource(settings: GatewaySettings) -> bool:
    return bool(settings.oauth.issuer) and not settings.oauth.resource
