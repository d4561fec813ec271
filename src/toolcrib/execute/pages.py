"""A long text in pages of so many tokens at most, cut between lines where there are any."""

from bisect import bisect_right
from collections.abc import Sequence

from toolcrib.text import FEWEST_CHARACTERS_A_TOKEN, most_tokens


def page_starts(text: str, tokens: int) -> Sequence[int]:
    """Where each page begins, the first at 0. No page is empty, but that of an empty text.

    A page has at most so many tokens, by `most_tokens`, and at least one character.
    """
    starts = [0]
    while (end := _page_end(text, starts[-1], tokens)) < len(text):
        starts.append(end)
    return starts


def page_at(starts: Sequence[int], offset: int) -> int:
    """The number of the page that a character is on, from 1."""
    return bisect_right(starts, offset)


def line_count(text: str) -> int:
    """How many lines a text has; one that does not end with a line break has its last, too."""
    return text.count("\n") + (not text.endswith("\n"))


def size_in_words(text: str) -> str:
    """How large a text is as UTF-8: `812 bytes`, `41.5 KB`, `3.0 MB`."""
    size = float(len(text.encode("utf-8", "replace")))
    if size < 1_000:  # noqa: PLR2004 - bytes in a kilobyte
        return f"{size:.0f} bytes"
    return f"{size / 1_000:.1f} KB" if size < 999_950 else f"{size / 1_000_000:.1f} MB"  # noqa: PLR2004


def _page_end(text: str, start: int, tokens: int) -> int:
    window = text[start : start + int(tokens * FEWEST_CHARACTERS_A_TOKEN)]
    fits = _fitting(window, tokens)
    if start + fits >= len(text):
        return len(text)
    line_end = window.rfind("\n", fits // 2, fits)
    return start + (line_end + 1 if line_end >= 0 else fits)


def _fitting(window: str, tokens: int) -> int:
    """How many characters from the beginning are within so many tokens; one at least."""
    if most_tokens(window) <= tokens:
        return len(window)
    fits = bisect_right(range(len(window)), tokens, key=lambda size: most_tokens(window[:size]))
    return max(1, fits - 1)
