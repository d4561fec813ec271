"""What went wrong with the catalog file, and what to do about it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import apsw

from toolcrib.errors import StoreError

DAMAGE = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)

_REMEDIES: dict[type[Exception], str] = {
    apsw.FullError: "the disk is full: free some space and do it again; nothing was changed",
    apsw.ReadOnlyError: "it may be read but not written: allow writing, or name another file",
    apsw.PermissionsError: "access is denied: change its owner or mode, or name another file",
    apsw.CantOpenError: "it cannot be opened: check that its folder is there and can be written",
    apsw.BusyError: "another process has been writing for too long: end it, or try again later",
    apsw.IOError: "the disk does not answer: check that it is there and has space",
    apsw.ConnectionClosedError: "it was closed: open it again",
}
_UNMADE = "it cannot be made: check its folder, or name another file"

FAULTS = tuple(_REMEDIES)
"""What the world does to a file. Any other error of SQLite is a mistake of ours, and stays one."""


def explain(path: Path | str, error: Exception) -> str:
    """One sentence for a fault or an `OSError`: the file, the next step, the cause as given."""
    remedy = next((_REMEDIES[kind] for kind in FAULTS if isinstance(error, kind)), _UNMADE)
    return f"{path}: {remedy} ({error})"


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Whatever goes wrong with the file in this block is a `StoreError` that explains it."""
    try:
        yield
    except (*DAMAGE, *FAULTS, OSError) as error:
        raise StoreError(explain(path, error)) from error


def set_aside(path: Path) -> Path:
    """Rename a damaged file to `<name>.corrupt-<n>` and say so in the log. Returns the new path.

    A fresh one takes its place; nothing is deleted. A process
    that still has the old one open keeps it under its new name: SQLite notices the move.
    """
    aside = _free_name(path)
    for suffix in ("", "-wal", "-shm"):
        file = Path(f"{path}{suffix}")
        if file.exists():
            file.rename(f"{aside}{suffix}")
    message = "%s is damaged: kept aside as %s, and a fresh one takes its place"
    logging.getLogger(__name__).warning(message, path, aside)
    return aside


def _free_name(path: Path) -> Path:
    names = (path.with_name(f"{path.name}.corrupt-{number}") for number in count(1))
    return next(name for name in names if not name.exists())
