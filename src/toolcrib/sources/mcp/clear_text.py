"""Whether others on the way could read what is sent to an address."""

from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def in_the_clear(url: str) -> bool:
    """True but for https, and for http that does not leave this machine."""
    parts = urlsplit(url)
    return parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK)
