"""JSON in one spelling, and JSON read strictly.

`canonical_json` is the one text of a value, `json_digest` a hash of it: pins, seals and tickets
are made of these. Reading refuses what two readers could read differently: a key given twice, NaN.
Everything that is sent on went through `read_json` once, as text, so that nobody can change it
after it was approved. How much it may be is settled before it is read: what a check of arguments
costs grows with them.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import cast

from toolcrib.model import Json

MOST_JSON_BYTES = 4 * 1024 * 1024
MOST_JSON_DEPTH = 64
MOST_JSON_VALUES = 50_000
MOST_COPIED = 256 * 1024
"""So many characters fit into the bytes, however they are written."""
_LONG_INT = 2**63

# To the end where no quote closes it: so that no text is gone through twice.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


class NotJson(ValueError):
    """A value or a text that is no JSON, or too much of it. The message says what to do."""


def canonical_json(value: object) -> str:
    """The value as JSON: keys sorted, no white space, ASCII alone."""
    return _CANONICAL.encode(value)


def json_digest(value: object) -> str:
    """A SHA-256 over the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def read_json(text: str, *, most_values: int = MOST_JSON_VALUES) -> Json:
    """The value of a text. Raises `NotJson`, for a key given twice too, and for NaN."""
    if len(text) > MOST_JSON_BYTES:
        raise NotJson(f"more than {MOST_JSON_BYTES:,} bytes of JSON; send less")
    if has_more_json_values(text.encode("utf-8", "replace"), most_values):
        raise NotJson(f"more than {most_values:,} values; send fewer at a time")
    try:
        value = parse_strictly(text)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not readable as JSON: {error}") from None
    if json_deeper_than(value, MOST_JSON_DEPTH):
        raise NotJson(f"nested more than {MOST_JSON_DEPTH} deep; send it flatter")
    return value


def plain_json(value: object) -> Json:
    """A copy that is JSON and nothing else, with its keys sorted. Raises `NotJson`."""
    if check_json_size(value) <= MOST_COPIED:
        with suppress(_Unusual):
            return _copied(value, MOST_JSON_DEPTH)
    try:
        text = canonical_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJson(f"this is not a JSON value: {error}") from None
    return read_json(text)


def check_json_size(
    value: object, *, most_values: int = MOST_JSON_VALUES, most_characters: int = MOST_JSON_BYTES
) -> int:
    """How many characters a value has. Raises `NotJson` as soon as it is known to be too much."""
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
    return characters


def parse_strictly(text: str | bytes) -> Json:
    """The value of a text. Raises `ValueError`, for a key given twice too, and for NaN.

    Raises `RecursionError` for what is nested too deep to be read at all.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    return _STRICT.decode(text)


def has_more_json_values(text: bytes, most: int) -> bool:
    """Whether a JSON text has more values than this, told without reading it.

    A value is the first of all, or stands after a bracket, a brace or a comma: so this is never
    wrong about a text that has more, and errs by the empty lists and objects of one that has not.
    """
    return _marks(text) >= most and _marks(_STRING.sub(b"", text)) >= most


def json_deeper_than(value: Json, levels: int) -> bool:
    """Whether lists and objects are nested more than this deep."""
    match value:
        case dict():
            inner = value.values()
        case list():
            inner = value
        case _:
            return False
    return not levels or any(json_deeper_than(each, levels - 1) for each in inner)


class _Unusual(Exception):
    """A value that only the way through a text can judge."""


def _copied(value: object, levels: int) -> Json:
    """A copy of what has the types of JSON itself, as a text of it is read. Raises `_Unusual`."""
    kind = type(value)
    if kind is str:
        return _plain_text(value)
    if kind is dict and levels:
        inner = cast("dict[object, object]", value)
        names = sorted(map(_plain_text, inner))
        return {name: _copied(inner[name], levels - 1) for name in names}
    if kind is list and levels:
        return [_copied(each, levels - 1) for each in cast("list[object]", value)]
    if value is None or kind is bool or (kind is int and abs(cast("int", value)) < _LONG_INT):
        return cast("Json", value)
    raise _Unusual


def _plain_text(value: object) -> str:
    """A text that stays as it is in JSON: one half of a character may meet the other there."""
    if type(value) is not str:
        raise _Unusual
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise _Unusual from None
    return value


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _once_each(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


# Made once: `json.dumps` and `json.loads` would make one for each value.
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))
_STRICT = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=_no_constant)
