"""Strangers' text on a page: escaped, kept to itself, with what hides in it spelt out.

Everything that a server, a client or a model wrote is shown through `spelt`. htpy escapes it;
`<bdi>` keeps its direction from its neighbours; what nobody would see is written as `⟨U+200B⟩`.
"""

import json
import re

import htpy as h

from toolcrib.model import Json
from toolcrib.text import show_hidden

LONGEST_LINE = 120
_SPELT = re.compile(r"(⟨(?:U\+[0-9A-F]{4,6}|[0-9]+ blanks)⟩)")


def spelt(text: object) -> h.Element:
    """A text of somebody else."""
    return h.bdi[_marked(visible(str(text)))]


def spelt_short(text: object, most: int = LONGEST_LINE) -> h.Element:
    """The beginning of a text of any length, so that its place on a page has a bound."""
    shown = visible(str(text)[: most + 1])
    return h.bdi[_marked(shown if len(shown) <= most else f"{shown[:most]}…")]


def spelt_lines(text: str) -> h.Element:
    """A longer one, with its line ends."""
    return h.bdi(".lines")[_marked(visible(text))]


def spelt_change(text: str, other: str) -> h.Element:
    """A text that was spelt out before; what is different in another one stands out."""
    start, end = _common(text, other)
    last = len(text) - end
    parts = text[:start], text[start:last], text[last:]
    before, middle, after = (_marked(visible(each)) for each in parts)
    return h.bdi(".lines")[before, h.strong[middle] if parts[1] else None, after]


def visible(text: str) -> str:
    """The text with everything written out that a browser would not show."""
    shown = show_hidden(text)
    return "".join(c if c.isprintable() or c in "\n\t" else f"⟨U+{ord(c):04X}⟩" for c in shown)


def json_text(value: Json) -> str:
    """A value as a person reads it."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _marked(shown: str) -> list[h.Node]:
    parts = _SPELT.split(shown)
    return [h.mark[part] if place % 2 else part for place, part in enumerate(parts)]


def _common(text: str, other: str) -> tuple[int, int]:
    """How many characters two texts have in common, at the beginning and then at the end.

    Nothing that is spelt out is divided.
    """
    most = min(len(text), len(other))
    start = next((at for at in range(most) if text[at] != other[at]), most)
    if text.rfind("⟨", 0, start) > text.rfind("⟩", 0, start):
        start = text.rfind("⟨", 0, start)
    most -= start
    end = next((at for at in range(most) if text[-1 - at] != other[-1 - at]), most)
    tail = text[len(text) - end :]
    if 0 <= tail.find("⟩") < (tail.find("⟨") if "⟨" in tail else len(tail)):
        end -= tail.find("⟩") + 1
    return start, end
