"""JSON, taken strictly: what two readers could read differently is refused.

Everything that is sent on went through here once, as text, so that nobody can change it after it
was approved.
"""

import hashlib
import json

from toolcrib.model import Json
from toolcrib.text.json_text import deeper_than, read_strictly

MOST_BYTES = 4 * 1024 * 1024
MOST_DEPTH = 64


class NotJson(ValueError):
    """A value or a text that is no JSON, or too much of it. The message says what to do."""


def read_json(text: str) -> Json:
    """The value of a text. Raises `NotJson`, for a key given twice too, and for NaN."""
    if len(text) > MOST_BYTES:
        raise NotJson(f"more than {MOST_BYTES:,} bytes of JSON; send less")
    try:
        value = read_strictly(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not readable as JSON: {error}") from None
    if deeper_than(value, MOST_DEPTH):
        raise NotJson(f"nested more than {MOST_DEPTH} deep; send it flatter")
    return value


def plain(value: object) -> Json:
    """A copy that is JSON and nothing else. Raises `NotJson`."""
    return read_json(canonical(value))


def canonical(value: object) -> str:
    """The one text of a value, whatever the order of its keys. Raises `NotJson`."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(f"this is no JSON value: {error}") from None


def digest(value: Json) -> str:
    """A SHA-256 over the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
