"""The last count of a file that is sealed, kept beside it: who puts an older copy back is seen."""

import hashlib
import hmac
import os
from pathlib import Path

LONGEST = 256


class Counter:
    """One small file, sealed by the key. It only ever says a higher number than before."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._key = key

    def read(self) -> int | None:
        """The number; None if there is no file. Raises `ValueError` for one that is not ours."""
        try:
            with self.path.open("rb") as file:
                content = file.read(LONGEST)
        except FileNotFoundError:
            return None
        number, _, _ = content.partition(b" ")
        if not number.isdigit() or not hmac.compare_digest(content, self._sealed(int(number))):
            raise ValueError(f"{self.path} was altered")
        return int(number)

    def write(self, number: int) -> None:
        """Put the number in place of the last one, in one step. Raises `OSError`."""
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(self._sealed(number))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)

    def _sealed(self, number: int) -> bytes:
        mac = hashlib.blake2b(b"counter %d" % number, key=self._key).hexdigest()
        return b"%d %s\n" % (number, mac.encode())
