"""Copies of the files that people write, as they were when they could last be used.

Whoever edits such a file may leave it broken. Then its last good copy holds until the file is
mended, in the process that runs and in the next one.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from toolcrib.system.files import make_private_folder, read_private_file, write_private_file

FOLDER = "last_good"
MOST_BYTES = 4 * 1024 * 1024


class LastGoodCopies:
    """One private folder of copies: such files may hold secrets.

    A copy that cannot be written is no error; then there is nothing to go back to.
    """

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder / FOLDER

    def keep(self, file: Path, content: bytes) -> None:
        """Keep this content of the file: it can be used."""
        if self.read(file) == content:
            return
        with suppress(OSError):
            make_private_folder(self._folder)
            write_private_file(self._copy(file), content)

    def read(self, file: Path) -> bytes | None:
        """The content of the file when it could last be used; None if there is no copy."""
        try:
            return read_private_file(self._copy(file), MOST_BYTES)
        except OSError:
            return None

    def forget(self, file: Path) -> None:
        """Drop the copy: the file was removed."""
        with suppress(OSError):
            self._copy(file).unlink(missing_ok=True)

    def _copy(self, file: Path) -> Path:
        return self._folder / f"{hashlib.sha256(str(file.absolute()).encode()).hexdigest()}.copy"
