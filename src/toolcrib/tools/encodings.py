"""Fingerprints, encodings and fresh identifiers."""

import base64
import hashlib
from typing import Annotated, Literal
from uuid import uuid4

from pydantic import Field


def hash_text(
    text: str, algorithm: Literal["sha256", "sha512", "sha1", "md5", "blake2b"] = "sha256"
) -> str:
    """Compute the fingerprint of a text, in hexadecimal.

    Args:
        text: The text, hashed as UTF-8.
        algorithm: The hash. MD5 and SHA-1 are for comparing with old systems, not for safety.
    """
    return hashlib.new(algorithm, text.encode(), usedforsecurity=False).hexdigest()


def encode_base64(text: str, *, url_safe: bool = False) -> str:
    """Encode a text as Base64.

    Args:
        text: The text, encoded as UTF-8.
        url_safe: Whether to write `-` and `_` in place of `+` and `/`.
    """
    encode = base64.urlsafe_b64encode if url_safe else base64.b64encode
    return encode(text.encode()).decode()


def decode_base64(data: str) -> str:
    """Decode Base64, also the URL-safe kind, to the text that it holds.

    Args:
        data: The Base64 text; padding at its end may be missing.
    """
    standard = "".join(data.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True).decode()
    except UnicodeDecodeError as error:
        raise ValueError("the data is valid Base64, but what it holds is not UTF-8 text") from error
    except ValueError as error:
        raise ValueError(f"this is not Base64 ({error}); copy all of it") from error


def generate_uuid(count: Annotated[int, Field(ge=1, le=100)] = 1) -> list[str]:
    """Generate random identifiers (UUID version 4).

    Args:
        count: How many to generate.
    """
    return [str(uuid4()) for _ in range(count)]
