"""Text, JSON and addresses from a server, made safe: short_line, bounded, not sent in plain text.

What is longer, deeper or larger than its bound is cut or refused. See also `text.Redactor`.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from toolcrib.model import Json
from toolcrib.text import without_hidden

READ_AHEAD = 8
"""How many times the wanted length is read, as spaces and hidden characters are removed."""
DEEPEST = 32
LARGEST_SCHEMA = 64 * 1024
_PLAIN = (str, int, float, type(None))
_ODD = ("\\ud", "NaN", "Infinity")
"""Only a JSON text with one of these may have a lone surrogate, or a number that is none."""
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class TooLarge(Exception):
    """The value is deeper or larger than its bound."""


def short_line(text: str, most: int) -> str:
    """The text on one line of printable characters; if it is too long, its beginning."""
    line = _line(text[: READ_AHEAD * most])
    return line if len(line) <= most else line[: most - 1] + "…"


def short_line_end(text: str, most: int) -> str:
    """The same; if it is too long, its end."""
    line = _line(text[-READ_AHEAD * most :])
    return line if len(line) <= most else "…" + line[len(line) - most + 1 :]


def _line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in without_hidden(text)).split())


def bounded_json(value: Json, *, deepest: int = DEEPEST, largest: int = LARGEST_SCHEMA) -> Json:
    """The value without lone surrogates, NaN and infinities. Raises `TooLarge`.

    What has none of these is not copied.
    """
    return measured_json(value, deepest=deepest, largest=largest)[0]


def measured_json(value: Json, *, deepest: int, largest: int) -> tuple[Json, int]:
    """The same, and its size in bytes."""
    text = _plain_text(value, deepest)
    bounded = _bounded_value(value, deepest) if text is None else value
    size = len(json.dumps(bounded) if text is None else text)
    if size > largest:
        raise TooLarge(f"is larger than {largest // 1024} KiB")
    return bounded, size


def without_surrogates(text: str, most: int) -> str:
    """At most so many characters of the text, without lone surrogates."""
    return text[:most].encode("utf-8", "replace").decode()


def _plain_text(value: Json, deepest: int) -> str | None:
    """The JSON of a value that need not be changed; None if one has to look more closely."""
    if _may_be_deeper(value, deepest):
        return None
    try:
        text = json.dumps(value)
    except TypeError:
        return None
    return None if any(sign in text for sign in _ODD) else text


def _may_be_deeper(value: Json, deepest: int) -> bool:
    """Whether there is an object or a list within more than so many others, or something odd."""
    level: list[Any] = [value]
    for _ in range(deepest):
        outer = [each for each in level if not isinstance(each, _PLAIN)]
        if not outer:
            return False
        if not all(type(one) in (dict, list) for one in outer):
            return True
        level = [each for one in outer for each in _children(one)]
    return not all(isinstance(each, _PLAIN) for each in level)


def _children(value: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _bounded_value(value: Json, deepest: int) -> Json:
    if isinstance(value, str):
        return without_surrogates(value, len(value))
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, Mapping | Sequence):
        return value
    if deepest == 0:
        raise TooLarge(f"is nested deeper than {DEEPEST}")
    if isinstance(value, Mapping):
        return {
            without_surrogates(key, len(key)): _bounded_value(each, deepest - 1)
            for key, each in value.items()
        }
    return [_bounded_value(each, deepest - 1) for each in value]


def is_plaintext(url: str) -> bool:
    """Whether others on the way could read what is sent there: not https, and not this machine."""
    parts = urlsplit(url)
    return parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK)
