"""Lines of a long text that have a word or fit a pattern, with the lines around them.

    12-  before it
    13:  the line that fits
    14-  after it

Of a long line the piece that fits is shown. The time is bounded, and so is what comes out.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from toolcrib.text import compile_pattern

MOST_MATCHES = 500
CONTEXT_LINES = 2
PIECE = 400
OVERLAP = 100
SEARCH_S = 5.0
_LOOKS_AT_CLOCK = 1_000
"""After so many pieces: to look is dearer than to search one."""


@dataclass(frozen=True, slots=True)
class LineMatch:
    """A line that fits: its number from 1, where it begins, and of it the piece that fits."""

    number: int
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class LineMatches:
    """The first matches, in order. `whole`: whether all of the text was looked at."""

    matches: Sequence[LineMatch]
    whole: bool


def find_lines(text: str, query: str) -> LineMatches:
    """The lines with these words, in either case; `/.../` is a pattern. Raises `BadPattern`."""
    fits = _test_for(query)
    deadline = time.monotonic() + SEARCH_S
    matches: list[LineMatch] = []
    for looked, (number, offset, piece, new) in enumerate(_pieces(text)):
        if looked % _LOOKS_AT_CLOCK == 0 and time.monotonic() > deadline:
            return LineMatches(matches, whole=False)
        if fits(piece) and (not new or _is_new(piece, new, fits)):
            if len(matches) == MOST_MATCHES:
                return LineMatches(matches, whole=False)
            matches.append(LineMatch(number, offset, piece))
    return LineMatches(matches, whole=True)


def as_grep(text: str, matches: Sequence[LineMatch]) -> Iterator[tuple[LineMatch, str]]:
    """Each match with the lines around it, each line once, as `grep -n` shows them.

    A match that does not follow on the one before begins with a line break.
    """
    last = 0
    for place, match in enumerate(matches):
        following = matches[place + 1].number if place + 1 < len(matches) else match.number + PIECE
        start = text.rfind("\n", 0, match.offset) + 1
        before = [line for line in _lines_before(text, start, match.number) if line[0] > last]
        after = [line for line in _lines_after(text, match) if line[0] < following]
        lines = [f"{number}-{_cut(line)}" for number, line in before]
        lines.append(f"{match.number}:{match.text}")
        lines += [f"{number}-{_cut(line)}" for number, line in after]
        apart = last and match.number - len(before) > last + 1
        yield match, "\n".join(["", *lines] if apart else lines)
        last = match.number + len(after)


def _test_for(query: str) -> Callable[[str], bool]:
    if len(query) > 2 and query[0] == query[-1] == "/":  # noqa: PLR2004 - the slashes
        return compile_pattern(query[1:-1])
    folded = query.casefold()
    return lambda piece: folded in piece.casefold()


def _pieces(text: str) -> Iterator[tuple[int, int, str, int]]:
    """Number of the line, offset, piece, and how much of it the piece before has shown."""
    offset = number = 0
    while offset < len(text):
        number += 1
        end = text.find("\n", offset)
        end = len(text) if end < 0 else end
        yield number, offset, text[offset : min(end, offset + PIECE)], 0
        for start in range(offset + PIECE - OVERLAP, end - OVERLAP, PIECE - OVERLAP):
            yield number, start, text[start : min(end, start + PIECE)], OVERLAP
        offset = end + 1


def _is_new(piece: str, overlap: int, fits: Callable[[str], bool]) -> bool:
    """Whether it is not the part alone that fits which the piece before has shown."""
    return not fits(piece[:overlap]) or fits(piece[overlap:])


def _lines_before(text: str, start: int, number: int) -> list[tuple[int, str]]:
    lines: list[tuple[int, str]] = []
    while start and len(lines) < CONTEXT_LINES:
        before = text.rfind("\n", 0, start - 1) + 1
        lines.insert(0, (number - len(lines) - 1, text[before : start - 1]))
        start = before
    return lines


def _lines_after(text: str, match: LineMatch) -> Iterator[tuple[int, str]]:
    end = text.find("\n", match.offset)
    for number in range(match.number + 1, match.number + 1 + CONTEXT_LINES):
        if end < 0 or end + 1 >= len(text):
            return
        start, end = end + 1, text.find("\n", end + 1)
        yield number, text[start : end if end >= 0 else len(text)]


def _cut(line: str) -> str:
    return line if len(line) <= PIECE else f"{line[:PIECE]}…"
