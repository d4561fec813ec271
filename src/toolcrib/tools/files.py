"""Look at files and folders; nothing here changes one."""

from collections.abc import Iterator, Sequence
from functools import partial
from io import SEEK_END, BufferedReader
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from pydantic import Field

from toolcrib.tools.file_tree import glob_filter, walk_files
from toolcrib.tools.roots import roots, uses_files
from toolcrib.tools.text_files import MAX_BYTES, decode, regular_file

Line = Annotated[int, Field(ge=1)]
Count = Annotated[int, Field(ge=1, le=10_000)]


class FilePart(TypedDict):
    """Lines of a file, and whether there are more after them."""

    text: str
    first_line: int
    lines: int
    more: bool


class DirectoryEntry(TypedDict):
    """One thing in a folder. The size of a folder is 0."""

    name: str
    type: Literal["file", "folder", "other"]
    bytes: int


class FoundFiles(TypedDict):
    """Paths, and whether there are more than these."""

    paths: list[str]
    more: bool


@uses_files
def read_file(path: str, first_line: Line = 1, max_lines: Count = 2000) -> FilePart:
    """Read a UTF-8 text file, or the part of it that begins at a line.

    One read returns at most 1 MiB, in whole lines.

    Args:
        path: The file; `~` is the home folder, a relative path begins in the first root.
        first_line: The line to begin at, counted from 1.
        max_lines: How many lines to return at most.
    """
    place = regular_file(path)
    with roots().open(place) as file:
        lines = iter(partial(_line, file, place), b"")
        skipped = sum(map(len, islice(lines, first_line - 1)))
        part = _fitting(islice(lines, max_lines))
        end = file.seek(0, SEEK_END)
    text = decode(b"".join(part), place)
    more = skipped + sum(map(len, part)) < end
    return FilePart(text=text, first_line=first_line, lines=len(part), more=more)


@uses_files
def list_directory(path: str = ".") -> list[DirectoryEntry]:
    """List the files and folders in a folder, sorted by name, hidden ones too.

    Args:
        path: The folder; `~` is the home folder, a relative path begins in the first root.
    """
    return [_entry(one) for one in sorted(roots().resolve(path).iterdir())]


@uses_files
def find_files(pattern: str, folder: str = ".", max_results: Count = 200) -> FoundFiles:
    """Find files by name, in a folder and all the folders below it.

    Hidden files and folders are left out.

    Args:
        pattern: A glob such as `*.py`, `report-202?.csv` or `src/**/test_*.py`.
        folder: The folder to look in.
        max_results: How many paths to return at most.
    """
    root = roots().resolve(folder)
    fits = glob_filter(pattern)
    found = (
        path for path in walk_files(root, roots().is_own) if fits(path.relative_to(root).as_posix())
    )
    paths = [str(path) for path in islice(found, max_results + 1)]
    return FoundFiles(paths=paths[:max_results], more=len(paths) > max_results)


def _line(file: BufferedReader, place: Path) -> bytes:
    line = file.readline(MAX_BYTES + 1)
    if len(line) > MAX_BYTES:
        raise ValueError(f"{place} has a line of more than {MAX_BYTES} bytes; it is not text")
    return line


def _fitting(lines: Iterator[bytes]) -> Sequence[bytes]:
    """The first lines that are `MAX_BYTES` together."""
    part: list[bytes] = []
    room = MAX_BYTES
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        part.append(line)
    return part


def _entry(path: Path) -> DirectoryEntry:
    if path.is_dir():
        return DirectoryEntry(name=path.name, type="folder", bytes=0)
    size = path.lstat().st_size
    return DirectoryEntry(name=path.name, type="file" if path.is_file() else "other", bytes=size)
