"""One SQLite file of ours: made private, opened, brought up to date, its faults explained.

A new file is for its owner's eyes only, and so is every folder made for it. It says in
`user_version` how many steps of migration it has behind it, and in `application_id` that it is
ours. What goes wrong with it is a `StoreError` that says what to do. A damaged file is set aside,
never deleted. Which tables a file has is for its own module to say.
"""

import logging
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Literal

import apsw

from toolcrib.errors import StoreError

BUSY_MS = 30_000
AGAIN_S = 0.01
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


def write_ahead(db: apsw.Connection) -> None:
    """Let readers go on while somebody writes: by a log beside the file, in whatever process.

    SQLite refuses to begin with that, at once, while another process does the same.
    """
    end = time.monotonic() + BUSY_MS / 1000
    while True:
        try:
            db.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > end:
                raise
            time.sleep(AGAIN_S)
        else:
            return


def explain_fault(path: Path | str, error: Exception) -> str:
    """One sentence for a fault or an `OSError`: the file, the next step, the cause as given."""
    remedy = next((_REMEDIES[kind] for kind in FAULTS if isinstance(error, kind)), _UNMADE)
    return f"{path}: {remedy} ({error})"


@contextmanager
def explained_faults(path: Path) -> Generator[None]:
    """Whatever goes wrong with the file in this block is a `StoreError` that explains it."""
    try:
        yield
    except (*DAMAGE, *FAULTS, OSError) as error:
        raise StoreError(explain_fault(path, error)) from error


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


@contextmanager
def transaction(
    db: apsw.Connection, mode: Literal["IMMEDIATE", "DEFERRED"] = "IMMEDIATE"
) -> Generator[None]:
    """Commit when the block ends, roll back when it raises. IMMEDIATE is for whoever writes.

    Not apsw's own `with db`: that one fails where SQLite, out of space, has rolled back by itself.
    """
    db.execute(f"BEGIN {mode}")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def migrate(db: apsw.Connection, steps: Sequence[str], application: int) -> None:
    """Bring the file up to date, each step in a transaction of its own.

    Raises `StoreError` for a file of a newer Toolcrib and for another program's database, and
    leaves both as they are.
    """
    _refuse_foreign(db, application)
    while (done := _version(db)) < len(steps):
        with transaction(db):
            if _version(db) == done:  # nobody else took this step while we waited
                db.execute(steps[done])
                db.pragma("user_version", done + 1)
    if done > len(steps):
        raise StoreError(
            f"{db.filename} was written by a newer Toolcrib (version {done} of the file, "
            f"{len(steps)} is known here); upgrade toolcrib, or name another file"
        )


def _refuse_foreign(db: apsw.Connection, application: int) -> None:
    made = db.execute("SELECT EXISTS (SELECT 1 FROM sqlite_schema)").get
    # Only then: another process may be making it now, tables and id in one transaction.
    if made and db.pragma("application_id") != application:
        raise StoreError(f"{db.filename} is another program's database; name another file")


def _version(db: apsw.Connection) -> int:
    return int(db.pragma("user_version"))
