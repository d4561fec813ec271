"""Tables in Markdown, printed or put into a page between two marks.

<!-- quality: begin -->
whatever stands here is replaced
<!-- quality: end -->
"""

from collections.abc import Iterable, Sequence
from pathlib import Path


class NoMarks(Exception):
    """The page has no place for the table; the message says what it needs."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. A heading that starts with ">" puts its column to the right."""
    rule = ["--:" if name.startswith(">") else "---" for name in head]
    names = [name.removeprefix(">") for name in head]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, rule, *rows))


def put(page: Path, name: str, text: str) -> None:
    """Replace what stands between the marks of this name. Raises `NoMarks` without them."""
    begin, end = (f"<!-- {name}: {mark} -->" for mark in ("begin", "end"))
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise NoMarks(f"{page} has no place for this: it needs the lines {begin} and {end}")
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
