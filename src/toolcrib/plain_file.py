"""The bytes of a file that somebody names: a plain one, of bounded size, or an error at once.

A pipe would be waited for without end, and a device read without one.
"""

import errno
import os
import stat
from pathlib import Path


def read_plain_file(path: Path, most: int) -> bytes:
    """All of it. Raises `OSError`, also for what is no plain file or has more bytes than that."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file; name one", str(path))
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most} bytes; split it", str(path))
    return content
