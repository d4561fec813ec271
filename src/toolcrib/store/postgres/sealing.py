"""Keys for one purpose of one tenant, made from the secret that the replicas share.

A seal or an encrypted text of one tenant is good for nothing in the rows of another.
"""

import hashlib
import hmac
import os
from collections.abc import Iterable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from toolcrib.strict_json import canonical_json

NONCE_BYTES = 12


def derived_key(key: bytes, purpose: str, tenant: str) -> bytes:
    """A key of 32 bytes."""
    text = canonical_json([purpose, tenant]).encode()
    return hashlib.blake2b(text, key=key, digest_size=32).digest()


class Sealer:
    """Seals values: whoever lacks the key can alter none, and put none in another's place."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def seal(self, values: Iterable[object]) -> bytes:
        """The seal of some values that JSON can say."""
        return hashlib.blake2b(canonical_json(list(values)).encode(), key=self._key).digest()

    def is_sealed(self, seal: object, values: Iterable[object]) -> bool:
        """Whether it is the seal of these values."""
        try:
            return isinstance(seal, bytes) and hmac.compare_digest(seal, self.seal(values))
        except TypeError:  # something that no row of ours has
            return False


class Encryption:
    """Encrypts texts, each bound to what it is about."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)

    def encrypt(self, text: bytes, about: str) -> bytes:
        """The text, for whoever has the key and says the same about it."""
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, text, about.encode())

    def decrypt(self, sealed: bytes, about: str) -> bytes | None:
        """The text; None for what was encrypted with another key, altered, or put elsewhere."""
        try:
            return self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], about.encode())
        except (InvalidTag, ValueError):
            return None
