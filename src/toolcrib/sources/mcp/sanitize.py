"""Text, JSON and addresses from a server, made safe: short_line, bounded, not sent in plain text.

What is longer, deeper or larger than its bound is cut or refused. See also `text.Redactor`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from toolcrib.model import Json
from toolcrib.text import without_hidden

READ_AHEAD = 8
"""How many times the wanted length is read, as spaces and hidden characters are removed."""
DEEPEST = 32
LARGEST_SCHEMA = 64 * 1024
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
    """A copy without lone surrogates, NaN and infinities. Raises `TooLarge`."""
    return measured_json(value, deepest=deepest, largest=largest)[0]


def measured_json(value: Json, *, deepest: int, largest: int) -> tuple[Json, int]:
    """The same, and its size in bytes."""
    bounded = _bounded_value(value, deepest)
    size = len(json.dumps(bounded))
    if size > largest:
        raise TooLarge(f"is larger than {largest // 1024} KiB")
    return bounded, size


def without_surrogates(text: str, most: int) -> str:
    """At most so many characters of the text, without lone surrogates."""
    return text[:most].encode("utf-8", "replace").decode()


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
