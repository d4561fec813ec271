"""Text on disk: UTF-8 or refused, read up to a limit, written all at once or not at all."""

import os
import shutil
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from uuid import uuid4

from toolcrib.tools.roots import roots

MAX_BYTES = 1024 * 1024


def regular_file(path: str) -> Path:
    """The real path of a file within the roots: no folder, no device, no pipe."""
    place = roots().resolve(path)
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; list it instead")
    if not place.exists():
        raise FileNotFoundError(f"there is no file {place}; list its folder to see what there is")
    if not place.is_file():
        raise ValueError(f"{place} is a device or a pipe; name a regular file")
    return place


def decode(content: bytes, place: Path) -> str:
    """The text of these bytes; an error where they are none."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{place} is not UTF-8 text; it cannot be read as text") from error
    if "\0" in text:
        raise ValueError(f"{place} is a binary file; it cannot be read as text")
    return text


def open_plain(place: Path) -> BufferedReader:
    """A file that no call has named."""
    return place.open("rb")


def read_text(place: Path, opening: Callable[[Path], BufferedReader] = open_plain) -> str:
    """All of a file of at most `MAX_BYTES`."""
    with opening(place) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{place} is larger than {MAX_BYTES} bytes; read a part of it")
    return decode(content, place)


def write_text(
    place: Path, text: str, check: Callable[[int, Path], None] = lambda _descriptor, _place: None
) -> None:
    """Put the text there; whoever reads meanwhile sees the old file or the new one, never half.

    Makes the folders that are missing, and keeps the mode of a file that it replaces. `check` is
    shown the new file before anything is in it, open and beside its place, and may raise.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f".{uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            check(file.fileno(), temporary)
            file.write(text.encode())
        if place.exists():
            shutil.copymode(place, temporary)
        os.replace(temporary, place)  # noqa: PTH105 - the name says what matters: it is atomic
    finally:
        temporary.unlink(missing_ok=True)
