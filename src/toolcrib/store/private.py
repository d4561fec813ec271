"""A new file is for its owner's eyes only, and so is every folder made for it."""

import os
from collections.abc import Callable
from pathlib import Path

import apsw

BUSY_MS = 30_000


def make_private(path: Path) -> None:
    """Make an empty file, and the folders above it, where there is none yet."""
    for folder in reversed(path.parents):
        folder.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def open_private(path: Path, prepare: Callable[[apsw.Connection], None]) -> apsw.Connection:
    """A connection to a database that is made private and prepared; closed again if that fails."""
    make_private(path)
    db = apsw.Connection(str(path))
    try:
        db.set_busy_timeout(BUSY_MS)
        prepare(db)
    except BaseException:
        db.close()
        raise
    return db
