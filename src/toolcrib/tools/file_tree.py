"""The files below a folder, and the glob patterns that choose among them."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from toolcrib.text import compile_pattern

MAX_FILES = 50_000

_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?)")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def walk_files(folder: Path, is_own: Callable[[Path], bool]) -> Iterator[Path]:
    """Files below the folder, sorted within each folder. Raises after `MAX_FILES` of them.

    Hidden files and folders are left out, as is what `is_own` says belongs to Toolcrib itself;
    links to folders are not followed.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"there is no folder {folder}; list its parent to find one")
    for count, path in enumerate(_walk(folder, is_own)):
        if count == MAX_FILES:
            raise ValueError(f"{folder} has more than {MAX_FILES} files; name a smaller folder")
        yield path


def _walk(folder: Path, is_own: Callable[[Path], bool]) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        visible = [Path(parent, name) for name in sorted(folders) if not name.startswith(".")]
        folders[:] = [path.name for path in visible if not is_own(path)]
        yield from (Path(parent, name) for name in sorted(files) if not name.startswith("."))


def glob_filter(pattern: str) -> Callable[[str], bool]:
    """A test for relative paths with `/`: `*` and `?` stay within a name, `**` crosses folders.

    A pattern without `/` is a file's name, in any folder. Letters fit in either case.
    """
    pattern = pattern if "/" in pattern else f"**/{pattern}"
    parts = [_MEANING.get(part, re.escape(part)) for part in _WILDCARD.split(pattern)]
    return compile_pattern(f"^(?s:{''.join(parts)})$")
