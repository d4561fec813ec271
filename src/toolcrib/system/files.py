"""Files: plain ones that somebody names, and private ones that are ours alone.

A plain file is read whole, up to a limit, and anything else is refused at once: a pipe would be
waited for without end, and a device read without one.

A private file is 0600 in a folder of 0700, is never read or written through a link, and is written
whole or not at all. Whoever writes back what they have read first does both within `file_locked`:
else two of them would lose what one has written.
"""

import errno
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import BinaryIO

from toolcrib.system.process_tree import is_running

LOCK_S = 30.0
_TEMPORARY = ".tmp"


def read_plain_file(path: Path, most: int) -> bytes:
    """All of it. Raises `OSError`, also for a pipe or a device, or more than `most` bytes."""
    return _read(path, most, getattr(os, "O_BINARY", 0))


def make_private_folder(folder: Path) -> None:
    """Make the folder, readable for nobody else."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def read_private_file(path: Path, most: int) -> bytes:
    """All of it. Raises `OSError`, also for a link, a pipe, or more than `most` bytes."""
    return _read(path, most, getattr(os, "O_NOFOLLOW", 0))


def _read(path: Path, most: int, flag: int) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | flag
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file; name one", str(path))
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most} bytes; split it", str(path))
    return content


class FileLock:
    """A lock on a file, against all other threads and processes, until it is released.

    Makes the folder. Raises `TimeoutError` if another holds the lock for longer than `within_s`,
    and `OSError`. When the process ends, the system releases it. Any thread may release it.
    """

    def __init__(self, path: Path, within_s: float = 0.0) -> None:
        import filelock  # noqa: PLC0415 - only who writes needs it

        make_private_folder(path.parent)
        lock_file = path.with_name(f".{path.name}.lock")
        self._lock = filelock.FileLock(lock_file, timeout=within_s, mode=0o600, thread_local=False)
        try:
            self._lock.acquire()
        except filelock.Timeout:
            reason = f"is locked by another process for more than {within_s:.0f} s"
            raise TimeoutError(0, reason, str(path)) from None

    def release(self) -> None:
        """Let others take it."""
        self._lock.release()


@contextmanager
def file_locked(path: Path) -> Generator[None]:
    """Hold the lock of this file, from reading it to writing it back. Not to be nested.

    Raises `OSError`, also where another holds it for longer than `LOCK_S`.
    """
    lock = FileLock(path, LOCK_S)
    try:
        yield
    finally:
        lock.release()


def write_private_file(path: Path, content: bytes) -> None:
    """Put the content in the file's place in one step: readers see the old one or the new one.

    Raises `OSError`, and then the old one stays. The name of the temporary file ends in our
    process id, by which `sweep_temporary_files` knows it.
    """
    with private_file_replaced(path) as file:
        file.write(content)


def write_private_copy(path: Path, content: bytes) -> None:
    """The same, without waiting for the disk: for what can be had again.

    A machine that loses its power may have anything in its place, until `sync_files`.
    """
    with _temporary_file(path) as (temporary, file):
        file.write(content)
        file.close()
        temporary.replace(path)


def sync_files(folder: Path, paths: Iterable[Path]) -> None:
    """Have these files of a folder on the disk; those that are gone are gone. Raises `OSError`."""
    for path in paths:
        with suppress(FileNotFoundError), path.open("rb") as file:
            os.fsync(file.fileno())
    _sync_folder(folder)


@contextmanager
def private_file_replaced(path: Path) -> Generator[BinaryIO]:
    """The same, for what is written bit by bit; it takes its place when the block has ended."""
    with _temporary_file(path) as (temporary, file):
        yield file
        _finish(file)
        temporary.replace(path)
    _sync_folder(path.parent)


def create_private_file(path: Path, content: bytes) -> None:
    """The same, but a file that is there already stays, whoever made it and whenever."""
    with _temporary_file(path) as (temporary, file), suppress(FileExistsError):
        file.write(content)
        _finish(file)
        path.hardlink_to(temporary)
    _sync_folder(path.parent)


def _finish(file: BinaryIO) -> None:
    """Have all of it on the disk, and let go of it: an open file cannot be renamed everywhere."""
    file.flush()
    os.fsync(file.fileno())
    file.close()


@contextmanager
def _temporary_file(path: Path) -> Generator[tuple[Path, BinaryIO]]:
    """A temporary file beside the path, open to be written, gone afterwards."""
    temporary = path.with_name(f".{path.name}.{get_ident()}.{os.getpid()}{_TEMPORARY}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            yield temporary, file
    finally:
        with suppress(OSError):
            temporary.unlink()


def sweep_temporary_files(folder: Path) -> None:
    """Remove the temporary files of processes that have ended."""
    for path in folder.glob(f".*{_TEMPORARY}"):
        owner = path.name.removesuffix(_TEMPORARY).rpartition(".")[2]
        if not (owner.isdecimal() and is_running(int(owner))):
            with suppress(OSError):
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the rename last. A system that cannot open a folder does not need this."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
