"""A real OpenID Connect provider in a process of its own, and tokens, by it and by others."""

import base64
import json
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from scripts.install_oidc_provider import NODE, install
from scripts.npm import node
from tests.waiting import HANG_S

SCRIPT = Path(__file__).with_name("provider.mjs")
SECRET = "a secret of tests"


class SigningKey:
    """A private key, and what is published of it."""

    def __init__(self, id: str, kind: str = "RSA") -> None:
        self.id = id
        self.private = (
            rsa.generate_private_key(65537, 2048)
            if kind == "RSA"
            else ec.generate_private_key(ec.SECP256R1())
        )

    @property
    def jwk(self) -> dict[str, Any]:
        """All of it, as the provider needs it."""
        if isinstance(self.private, rsa.RSAPrivateKey):
            made = RSAAlgorithm.to_jwk(self.private, as_dict=True)
        else:
            made = ECAlgorithm.to_jwk(self.private, as_dict=True)
        return {name: value for name, value in made.items() if name != "key_ops"} | {
            "kid": self.id,
            "use": "sig",
        }

    def public_pem(self) -> bytes:
        """What everybody may know, as a text that HS256 would take for its secret."""
        key = self.private.public_key()
        return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


class Provider:
    """Answers within `running`, on one port, any number of times, with the keys it has then."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._install = install()
        self.port = free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        self.keys = [SigningKey("first")]
        self.set_groups(robot=["eng"], alice=["eng"])

    def set_groups(self, **groups: Sequence[str]) -> None:
        """Who is in which groups, from the next token on."""
        (self._folder / "groups.json").write_text(json.dumps(groups))

    @contextmanager
    def running(self) -> Generator[None]:
        """The provider answers meanwhile."""
        keys = {"keys": [each.jwk for each in self.keys]}
        (self._folder / "jwks.json").write_text(json.dumps(keys))
        module = self._install / "node_modules" / "oidc-provider" / "lib" / "index.js"
        words = [node(NODE), str(SCRIPT), str(module), str(self.port), str(self._folder)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                assert process.stdout
                said = process.stdout.readline()
                assert said == b"ready\n", process.stderr and process.stderr.read().decode()
                yield
            finally:
                process.kill()

    def robot_token(self, resource: str, client: str = "robot", scope: str = "tools") -> str:
        """A token of a program, by the provider itself: client credentials."""
        basic = base64.b64encode(f"{client}:{urllib.parse.quote(SECRET)}".encode()).decode()
        given = {"grant_type": "client_credentials", "resource": resource, "scope": scope}
        request = urllib.request.Request(
            f"{self.issuer}/token",
            urllib.parse.urlencode(given).encode(),
            {"Authorization": f"Basic {basic}"},
        )
        with urllib.request.urlopen(request, timeout=HANG_S) as reply:
            return json.load(reply)["access_token"]

    def signed(
        self,
        key: SigningKey | None = None,
        algorithm: str = "RS256",
        headers: Mapping[str, Any] | None = None,
        more: Mapping[str, Any] | None = None,
        **claims: Any,
    ) -> str:
        """A token that is good but for what is said here. A claim that is None is left out."""
        signer = key or self.keys[0]
        now = time.time()
        right = {"iss": self.issuer, "sub": "alice", "groups": ["eng"], "scope": "tools"}
        times = {"iat": int(now), "exp": int(now) + 600}
        given = {
            n: v for n, v in {**right, **times, **claims, **(more or {})}.items() if v is not None
        }
        named = {"kid": signer.id, "typ": "at+jwt", **(headers or {})}
        kept = {name: value for name, value in named.items() if value is not None}
        return jwt.encode(given, signer.private, algorithm, kept)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
