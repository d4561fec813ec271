"""Changes of a text by spans: what lies outside of them stays as it is, byte for byte."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)


class Edit(NamedTuple):
    """What to put in place of a span."""

    start: int
    end: int
    text: str = ""


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits made. They must not overlap; at one place the first is first."""
    pieces: list[str] = []
    place = 0
    for edit in sorted(edits, key=lambda each: each.start):
        pieces += [text[place : edit.start], edit.text]
        place = max(place, edit.end)
    return "".join([*pieces, text[place:]])


def newline(text: str) -> str:
    """How the lines of the text end."""
    return "\r\n" if "\r\n" in text else "\n"


def indent_at(text: str, place: int) -> str | None:
    """The blanks before this place, if there is nothing else before it on its line."""
    start = text.rfind("\n", 0, place) + 1
    before = text[start:place].lstrip("\ufeff")
    return None if before.strip(" \t") else before


def line_indent(text: str, place: int) -> str:
    """The blanks at the beginning of the line that this place is in."""
    line = text[text.rfind("\n", 0, place) + 1 : place].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]


def indent_unit(text: str) -> str:
    """What one level of indentation is here: that of the first line that has any."""
    found = _INDENTED.search(text)
    return found[1] if found else "  "


def without_its_line(text: str, start: int, end: int) -> Edit:
    """Deletes the span, and the whole line if nothing else is on it."""
    before = len(text[:start].rstrip(" \t"))
    after = end + len(text[end:]) - len(text[end:].lstrip(" \t"))
    alone = before == 0 or text[before - 1] == "\n"
    for ending in ("\r\n", "\n"):
        if alone and text.startswith(ending, after):
            return Edit(before, after + len(ending))
    return Edit(start, after)
