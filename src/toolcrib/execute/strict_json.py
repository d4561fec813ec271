"""JSON, taken strictly: what two readers could read differently is refused.

Everything that is sent on went through here once, as text, so that nobody can change it after it
was approved.
"""

import hashlib
import json
from collections.abc import Sequence

from toolcrib.model import Json

MOST_BYTES = 4 * 1024 * 1024
MOST_DEPTH = 64


class NotJson(ValueError):
    """A value or a text that is no JSON, or too much of it. The message says what to do."""


def read_json(text: str) -> Json:
    """The value of a text. Raises `NotJson`, for a key given twice too, and for NaN."""
    if len(text) > MOST_BYTES:
        raise NotJson(f"more than {MOST_BYTES:,} bytes of JSON; send less")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not readable as JSON: {error}") from None
    if _deeper_than(value, MOST_DEPTH):
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


def _object(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is no JSON number")


def _deeper_than(value: Json, levels: int) -> bool:
    match value:
        case dict():
            inner = value.values()
        case list():
            inner = value
        case _:
            return False
    return not levels or any(_deeper_than(each, levels - 1) for each in inner)
