"""The last lines of a log file, and those that come: across the file that it becomes when full."""

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path

from toolcrib.sources.mcp import old_log

POLL_S = 0.3


def last_lines(path: Path, most: int) -> list[str]:
    """The last so many lines, the newest last; none where there is no log."""
    kept: deque[str] = deque(maxlen=most)
    for each in (old_log(path), path):
        with suppress(FileNotFoundError), each.open("rb") as file:
            kept += (_text(line) for line in file)
    return list(kept)


def new_lines(path: Path) -> Iterator[str]:
    """What is written from now on, line by line, for ever: also to the file that comes after."""
    at = path.stat().st_size if path.exists() else 0
    while True:
        with suppress(FileNotFoundError), path.open("rb") as file:
            file.seek(at)
            yield from _while_there(path, file)
        at = 0
        time.sleep(POLL_S)


def _while_there(path: Path, file: BufferedReader) -> Iterator[str]:
    """The lines that come to an open file, until another is in its place."""
    unread, is_there = b"", True
    while is_there:
        is_there = _is_at(path, file)  # looked at first: what it has by then is read to the end
        *lines, unread = (unread + file.read()).split(b"\n")
        yield from map(_text, lines)
        if not lines:
            time.sleep(POLL_S)


def _is_at(path: Path, file: BufferedReader) -> bool:
    """Whether an open file is still the one at its path."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    return False


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\n")
