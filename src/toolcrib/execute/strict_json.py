"""JSON, taken strictly: what two readers could read differently is refused.

Everything that is sent on went through here once, as text, so that nobody can change it after it
was approved. How much it may be is settled before it is read: what a check of arguments costs
grows with them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import cast

from toolcrib.model import Json
from toolcrib.text.json_text import deeper_than, has_more_values, read_strictly

MOST_BYTES = 4 * 1024 * 1024
MOST_DEPTH = 64
MOST_VALUES = 50_000


class NotJson(ValueError):
    """A value or a text that is no JSON, or too much of it. The message says what to do."""


def read_json(text: str, *, most_values: int = MOST_VALUES) -> Json:
    """The value of a text. Raises `NotJson`, for a key given twice too, and for NaN."""
    if len(text) > MOST_BYTES:
        raise NotJson(f"more than {MOST_BYTES:,} bytes of JSON; send less")
    if has_more_values(text.encode("utf-8", "replace"), most_values):
        raise NotJson(f"more than {most_values:,} values; send fewer at a time")
    try:
        value = read_strictly(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not readable as JSON: {error}") from None
    if deeper_than(value, MOST_DEPTH):
        raise NotJson(f"nested more than {MOST_DEPTH} deep; send it flatter")
    return value


def plain(value: object) -> Json:
    """A copy that is JSON and nothing else. Raises `NotJson`."""
    hold(value)
    return read_json(canonical(value))


def hold(
    value: object, *, most_values: int = MOST_VALUES, most_characters: int = MOST_BYTES
) -> None:
    """Return if a value is no more than this. Raises `NotJson` as soon as it is known to be."""
    waiting: list[object] = [value]
    values = characters = 0
    while waiting:
        each = waiting.pop()
        values += 1
        if isinstance(each, str):
            characters += len(each)
        elif isinstance(each, Mapping):
            inner = cast("Mapping[object, object]", each)
            characters += sum(len(key) for key in inner if isinstance(key, str))
            waiting.extend(inner.values())
        elif isinstance(each, list | tuple):
            waiting.extend(cast("Sequence[object]", each))
        if values + len(waiting) > most_values:
            raise NotJson(f"more than {most_values:,} values; send fewer at a time")
        if characters > most_characters:
            raise NotJson(f"more than {most_characters:,} characters; send less")


def canonical(value: object) -> str:
    """The one text of a value, whatever the order of its keys. Raises `NotJson`."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(f"this is not a JSON value: {error}") from None


def digest(value: Json) -> str:
    """A SHA-256 over the canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
