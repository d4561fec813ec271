"""One text for one JSON value, whatever order its keys came in, and the hash of it."""

import hashlib
import json


def canonical(value: object) -> str:
    """The value as JSON: keys sorted, no white space, ASCII alone."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def digest(value: object) -> str:
    """A SHA-256 over the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
