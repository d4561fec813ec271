"""Text on disk: UTF-8 or refused, read up to a limit, written all at once or not at all."""

import os
import shutil
from pathlib import Path
from uuid import uuid4

MAX_BYTES = 1024 * 1024


def open_path(path: str) -> Path:
    """The path that was meant, with `~` for the home folder."""
    return Path(path).expanduser()


def regular_file(path: str) -> Path:
    """A path that is a file: no folder, no device, no pipe."""
    place = open_path(path)
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


def read_text(place: Path) -> str:
    """All of a file of at most `MAX_BYTES`."""
    with place.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"{place} is larger than {MAX_BYTES} bytes; read a part of it")
    return decode(content, place)


def write_text(place: Path, text: str) -> None:
    """Put the text there; whoever reads meanwhile sees the old file or the new one, never half.

    Makes the folders that are missing, keeps the mode of a file that it replaces, and writes to
    the file behind a link, not over the link.
    """
    place = place.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    beside = place.with_name(f".{uuid4().hex}.tmp")
    try:
        beside.write_bytes(text.encode())
        if place.exists():
            shutil.copymode(place, beside)
        os.replace(beside, place)  # noqa: PTH105 - the name says what matters: it is atomic
    finally:
        beside.unlink(missing_ok=True)
