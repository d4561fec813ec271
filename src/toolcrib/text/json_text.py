"""JSON read strictly: what two readers could read differently is refused."""

import json
import re
from collections.abc import Sequence

from toolcrib.model import Json

# To the end where no quote closes it: so that no text is gone through twice.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)


def read_strictly(text: str | bytes) -> Json:
    """The value of a text. Raises `ValueError`, for a key given twice too, and for NaN.

    Raises `RecursionError` for what is nested too deep to be read at all.
    """
    return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_constant)


def has_more_values(text: bytes, most: int) -> bool:
    """Whether a JSON text has more values than this, told without reading it.

    A value is the first of all, or stands after a bracket, a brace or a comma: so this is never
    wrong about a text that has more, and errs by the empty lists and objects of one that has not.
    """
    return _marks(text) >= most and _marks(_STRING.sub(b"", text)) >= most


def deeper_than(value: Json, levels: int) -> bool:
    """Whether lists and objects are nested more than this deep."""
    match value:
        case dict():
            inner = value.values()
        case list():
            inner = value
        case _:
            return False
    return not levels or any(deeper_than(each, levels - 1) for each in inner)


def _marks(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def _once_each(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is given twice in one object")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")
