"""Change files. Nothing is replaced unless the call says so."""

import os
import shutil
from pathlib import Path

from toolcrib.tools.text_files import open_path, read_text, regular_file, write_text


def write_file(path: str, text: str, *, overwrite: bool = False) -> str:
    """Write a text file, making the folders that are missing.

    Args:
        path: The file to write; `~` is the home folder.
        text: All that the file is to contain.
        overwrite: Whether a file that is there may be replaced.
    """
    place = _free(open_path(path), overwrite=overwrite)
    write_text(place, text)
    return f"wrote {len(text.encode())} bytes to {place}"


def edit_file(path: str, old: str, new: str, *, every: bool = False) -> str:
    """Replace a passage of a text file by another one.

    Args:
        path: The file to edit.
        old: The passage as it stands in the file, with its spaces and line ends.
        new: What to put in its place; empty to delete the passage.
        every: Whether to replace the passage wherever it occurs. Otherwise it must occur once.
    """
    place = regular_file(path)
    text = read_text(place)
    count = text.count(old) if old else 0
    if not count:
        raise ValueError(f"{place} does not contain this passage; read the file and copy it")
    if count > 1 and not every:
        raise ValueError(f"{place} has this passage {count} times; give more of it, or set every")
    write_text(place, text.replace(old, new))
    return f"replaced {count} passage{'s' if count > 1 else ''} in {place}"


def move_file(path: str, to: str, *, overwrite: bool = False) -> str:
    """Move or rename a file or folder.

    Args:
        path: What to move.
        to: Its new path, or a folder to put it into under its own name.
        overwrite: Whether a file that is there may be replaced; a folder never is.
    """
    origin, target = _present(open_path(path)), open_path(to)
    target = _free(target / origin.name if target.is_dir() else target, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(origin, target)
    return f"moved {origin} to {target}"


def delete_file(path: str) -> str:
    """Delete one file for good. Folders are never deleted.

    Args:
        path: The file to delete. A link is deleted, not what it points at.
    """
    place = _present(open_path(path))
    if place.is_dir() and not place.is_symlink():
        raise IsADirectoryError(f"{place} is a folder, and folders are not deleted here")
    place.unlink()
    return f"deleted {place}"


def _present(place: Path) -> Path:
    if not os.path.lexists(place):
        raise FileNotFoundError(f"there is no {place}; list its folder to see what there is")
    return place


def _free(place: Path, *, overwrite: bool) -> Path:
    """The path, if something may be put there."""
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; name a file in it")
    if os.path.lexists(place) and not overwrite:
        raise FileExistsError(f"{place} exists; choose another path, or set overwrite")
    return place
