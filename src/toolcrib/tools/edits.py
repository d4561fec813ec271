"""Change files. Nothing is replaced unless the call says so."""

import os
import shutil
from pathlib import Path

from toolcrib.tools.roots import roots, uses_files
from toolcrib.tools.text_files import read_text, regular_file, write_text


@uses_files
def write_file(path: str, text: str, *, overwrite: bool = False) -> str:
    """Write a text file, making the folders that are missing.

    Args:
        path: The file to write; `~` is the home folder.
        text: All that the file is to contain.
        overwrite: Whether a file that is there may be replaced.
    """
    _free(roots().resolve_entry(path), overwrite=overwrite)
    place = roots().resolve(path)
    _write(path, place, text)
    return f"wrote {len(text.encode())} bytes to {place}"


@uses_files
def edit_file(path: str, old: str, new: str, *, every: bool = False) -> str:
    """Replace a passage of a text file by another one.

    Args:
        path: The file to edit.
        old: The passage as it stands in the file, with its spaces and line ends.
        new: What to put in its place; empty to delete the passage.
        every: Whether to replace the passage wherever it occurs. Otherwise it must occur once.
    """
    place = regular_file(path)
    text = read_text(place, roots().open)
    count = text.count(old) if old else 0
    if not count:
        raise ValueError(f"{place} does not contain this passage; read the file and copy it")
    if count > 1 and not every:
        raise ValueError(f"{place} has this passage {count} times; give more of it, or set every")
    _write(path, place, text.replace(old, new))
    return f"replaced {count} passage{'s' if count > 1 else ''} in {place}"


@uses_files
def move_file(path: str, to: str, *, overwrite: bool = False) -> str:
    """Move or rename a file or folder.

    Args:
        path: What to move.
        to: Its new path, or a folder to put it into under its own name.
        overwrite: Whether a file that is there may be replaced; a folder never is.
    """
    origin, target = _present(roots().resolve_entry(path)), roots().resolve(to)
    into = str(target / origin.name) if target.is_dir() else to
    target = roots().resolve_entry(into)
    _free(target, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(origin, target)
    return f"moved {origin} to {target}"


@uses_files
def delete_file(path: str) -> str:
    """Delete one file for good. Folders are never deleted.

    Args:
        path: The file to delete. A link is deleted, not what it points at.
    """
    place = _present(roots().resolve_entry(path))
    if place.is_dir() and not place.is_symlink():
        raise IsADirectoryError(f"{place} is a folder, and folders are not deleted here")
    place.unlink()
    return f"deleted {place}"


def _write(path: str, place: Path, text: str) -> None:
    """Write to a real path of the roots."""
    roots().check_change(path, place)
    write_text(place, text, roots().check_open)


def _present(place: Path) -> Path:
    if not os.path.lexists(place):
        raise FileNotFoundError(f"there is no {place}; list its folder to see what there is")
    return place


def _free(place: Path, *, overwrite: bool) -> None:
    """Whether something may be put there. Raises `OSError`."""
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; name a file in it")
    if os.path.lexists(place) and not overwrite:
        raise FileExistsError(f"{place} exists; choose another path, or set overwrite")
