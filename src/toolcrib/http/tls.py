"""A certificate for TLS that is read again when its files change.

Whoever renews one writes two files, one after the other. Until both fit each other, connections
have the certificate of before.
"""

import ssl
from pathlib import Path
from typing import NoReturn

from toolcrib.errors import ConfigError


class Certificate:
    """A certificate and its key, TLS 1.2 at least. Raises `ConfigError`.

    `context` stays the same; each new connection gets the newest certificate from it.
    """

    def __init__(self, certificate: Path, key: Path) -> None:
        self._seen = _stamps(certificate, key)
        self._newest = self.context = _loaded(certificate, key)
        self.context.sni_callback = self._choose

    def look(self, certificate: Path, key: Path) -> bool:
        """Take these files if they are others, or have changed; whether they were taken.

        Raises `ConfigError`, once for each change that cannot be used.
        """
        now = _stamps(certificate, key)
        if now == self._seen:
            return False
        self._seen = now
        self._newest = _loaded(certificate, key)
        return True

    def _choose(
        self, connection: ssl.SSLSocket | ssl.SSLObject, _name: str | None, _context: ssl.SSLContext
    ) -> None:
        """Called in each handshake, whether or not the client names a server."""
        connection.context = self._newest


def _stamps(*files: Path) -> tuple[object, ...]:
    """What tells one state of these files from another."""
    return tuple((file, _stamp(file)) for file in files)


def _stamp(file: Path) -> tuple[int, int, int] | None:
    try:
        facts = file.stat()  # through links: whoever renews a certificate makes them
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _loaded(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])

    def ask() -> NoReturn:
        raise ConfigError(f"{key} is encrypted; give `gateway.tls_key` a key without a password")

    try:
        context.load_cert_chain(certificate, key, password=ask)
    except ssl.SSLError as error:
        problem = f"{certificate} and {key} cannot be used for TLS ({error.reason or error})"
        remedy = "give a PEM certificate with its chain, and the key that belongs to it"
        raise ConfigError(f"{problem}; {remedy}") from error
    except OSError as error:
        problem = f"{certificate} or {key} cannot be read ({error.strerror})"
        remedy = "check `gateway.tls_certificate`, `gateway.tls_key` and their permissions"
        raise ConfigError(f"{problem}; {remedy}") from error
    return context
