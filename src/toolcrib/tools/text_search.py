"""Search in the text of files."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, TypedDict

from pydantic import Field

from toolcrib.text import compile_pattern
from toolcrib.tools.file_tree import glob_filter, walk_files
from toolcrib.tools.roots import roots, uses_files
from toolcrib.tools.text_files import read_text

LONGEST_LINE = 300


class TextMatch(TypedDict):
    """A line that fits. Of a long line, its beginning."""

    path: str
    line: int
    text: str


class TextMatches(TypedDict):
    """Lines that fit, in the order of the files, and whether there are more than these."""

    matches: list[TextMatch]
    more: bool


@uses_files
def search_text(
    text: str,
    folder: str = ".",
    files: str = "*",
    *,
    regex: bool = False,
    max_results: Annotated[int, Field(ge=1, le=1000)] = 100,
) -> TextMatches:
    """Search the contents of text files for lines with a word, a phrase or a pattern.

    Letters fit in either case. Hidden files, binary files and files above 1 MiB are left out.

    Args:
        text: What the line has to contain.
        folder: The folder to search, with all the folders below it.
        files: A glob that names the files to search, such as `*.md`.
        regex: Whether the text is a regular expression (no look-around, no back-references).
        max_results: How many lines to return at most.
    """
    fits = compile_pattern(text) if regex else _containing(text)
    root = roots().resolve(folder)
    found = list(islice(_matches(root, glob_filter(files), fits), max_results + 1))
    return TextMatches(matches=found[:max_results], more=len(found) > max_results)


def _containing(text: str) -> Callable[[str], bool]:
    folded = text.casefold()
    return lambda line: folded in line.casefold()


def _matches(
    root: Path, chosen: Callable[[str], bool], fits: Callable[[str], bool]
) -> Iterator[TextMatch]:
    for path in walk_files(root, roots().is_own):
        if chosen(path.relative_to(root).as_posix()):
            for number, line in enumerate(_lines(path), start=1):
                if fits(line):
                    yield TextMatch(path=str(path), line=number, text=line.strip()[:LONGEST_LINE])


def _lines(path: Path) -> list[str]:
    """No lines where there is no text to search: binary, too large, or not ours to read."""
    try:
        place = roots().resolve(str(path)) if path.is_symlink() else path
        return read_text(place, roots().open).splitlines() if place.is_file() else []
    except (OSError, ValueError):
        return []
