"""Whether a SQLite file was looked through since it was last changed.

Looking through a large file takes long. So a note beside it says which version of it was sound; a
version that we have written ourselves over a sound one is sound too. The note protects from damage
alone and nothing else relies on it: what another hand has changed is found by the seals.
"""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from toolcrib.system import read_private_file, write_private_file

LONGEST_NOTE = 256


class CheckedFile:
    """The note of one file. Without one, or with an older one, the file is looked through."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._note = path.with_suffix(".checked")

    def check(self, db: apsw.Connection) -> None:
        """Look the file through, unless that was done. Raises `CorruptError` if it is damaged."""
        now = self._version()
        if self._noted() != now:
            self._look_through(db)
            self._write(now)

    @contextmanager
    def writing(self) -> Generator[None]:
        """Whoever writes the file does it in this block: what was sound stays so."""
        is_sound = self._noted() == self._version()
        yield
        if is_sound:
            self._write(self._version())

    def doubt(self) -> None:
        """Something speaks for damage: whoever opens it next looks it through."""
        with suppress(OSError):
            self._note.unlink()

    @staticmethod
    def _look_through(db: apsw.Connection) -> None:
        if db.pragma("quick_check") != "ok":
            raise apsw.CorruptError(f"{db.filename} fails its check")

    def _version(self) -> bytes:
        status = self._path.stat()
        times = status.st_mtime_ns, status.st_ctime_ns
        return b"%d %d %d %d\n" % (status.st_ino, status.st_size, *times)

    def _noted(self) -> bytes:
        try:
            return read_private_file(self._note, LONGEST_NOTE)
        except OSError:
            return b""

    def _write(self, version: bytes) -> None:
        with suppress(OSError):  # then it is looked through once more
            write_private_file(self._note, version)
