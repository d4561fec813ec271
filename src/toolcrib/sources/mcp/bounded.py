"""JSON from elsewhere, made safe to keep: of bounded depth and size, without what is no JSON."""

import json
import math
from collections.abc import Mapping, Sequence

from toolcrib.model import Json

DEEPEST = 32
LARGEST_SCHEMA = 64 * 1024


class TooLarge(Exception):
    """The value is deeper or larger than what is kept."""


def bounded(value: Json, *, deepest: int = DEEPEST, largest: int = LARGEST_SCHEMA) -> Json:
    """A copy without lone surrogates, NaN and infinities. Raises `TooLarge`."""
    return measured(value, deepest=deepest, largest=largest)[0]


def measured(value: Json, *, deepest: int, largest: int) -> tuple[Json, int]:
    """The same, with its size in bytes."""
    kept = _kept(value, deepest)
    size = len(json.dumps(kept))
    if size > largest:
        raise TooLarge(f"is larger than {largest // 1024} KiB")
    return kept, size


def clean(text: str, most: int) -> str:
    """At most so many characters of the text, without lone surrogates."""
    return text[:most].encode("utf-8", "replace").decode()


def _kept(value: Json, deepest: int) -> Json:
    if isinstance(value, str):
        return clean(value, len(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, Mapping | Sequence):
        return value
    if deepest == 0:
        raise TooLarge(f"is nested deeper than {DEEPEST}")
    if isinstance(value, Mapping):
        return {clean(key, len(key)): _kept(each, deepest - 1) for key, each in value.items()}
    return [_kept(each, deepest - 1) for each in value]
