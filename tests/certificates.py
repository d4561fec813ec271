"""Certificates for tests of TLS, by an authority that only the test trusts."""

import ssl
from pathlib import Path

import trustme

HOST = "tools.example.com"


class Authority:
    """Makes certificates, and a context that trusts them."""

    def __init__(self) -> None:
        self._authority = trustme.CA()

    def issue(self, folder: Path, *hosts: str) -> tuple[Path, Path]:
        """Write a certificate with its chain, and its key; their files."""
        folder.mkdir(exist_ok=True)
        made = self._authority.issue_cert(*(hosts or (HOST, "127.0.0.1", "::1", "localhost")))
        certificate, key = folder / "certificate.pem", folder / "key.pem"
        certificate.write_bytes(b"".join(each.bytes() for each in made.cert_chain_pems))
        key.write_bytes(made.private_key_pem.bytes())
        key.chmod(0o600)
        return certificate, key

    def write(self, file: Path) -> Path:
        """Write what a client has to trust."""
        self._authority.cert_pem.write_to_path(str(file))
        return file

    def context(self) -> ssl.SSLContext:
        """What a client of such a server needs."""
        context = ssl.create_default_context()
        self._authority.configure_trust(context)
        return context
