"""One daemon for each set of settings: a lock, and a file that says where the daemon is.

The lock counts: the system releases it when the process ends, however it ends. The file is a note
for others. Somebody who tidies up may remove both: see `still_ours`.
"""

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from toolcrib.connect import DaemonFiles, DaemonInfo, NoDaemon
from toolcrib.errors import ConfigError
from toolcrib.system import write_private_file

POLL_S = 0.1
LOOK_S = 0.3
"""Whoever asks whether a daemon starts holds the lock for a moment."""


class DaemonLock:
    """The right to be the daemon of these files. Raises `ConfigError` if another process is."""

    def __init__(self, files: DaemonFiles, wait_s: float = 0.0) -> None:
        self.files = files
        try:
            files.make_folder()
        except NoDaemon as error:
            raise ConfigError(str(error)) from error
        self._is_lost = False
        self._lock = _open(files)
        until = time.monotonic() + max(wait_s, LOOK_S)
        while not _try_lock(self._lock):
            if time.monotonic() >= until:
                os.close(self._lock)
                raise ConfigError(_held_by(files))
            time.sleep(POLL_S)
        for path in (files.socket, files.operator):  # of one that was killed
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108 - `DaemonFiles` has plain paths

    def publish(self, info: DaemonInfo) -> None:
        """Write down where the daemon is, in one step."""
        write_private_file(Path(self.files.info), json.dumps(info._asdict()).encode())

    def still_ours(self) -> bool:
        """Whether the lock is still ours. If its file was removed, it is taken again.

        False when another process was faster: then it is theirs for good.
        """
        if self._is_lost or _is_at(self._lock, self.files.lock):
            return not self._is_lost
        try:
            self.files.make_folder()
            lock = _open(self.files)
        except (NoDaemon, OSError):
            self._is_lost = True
            return False
        self._is_lost = not _try_lock(lock)
        os.close(lock if self._is_lost else self._lock)
        self._lock = self._lock if self._is_lost else lock
        return not self._is_lost

    def close(self) -> None:
        """Remove the note and the sockets, if they are ours, and release the lock."""
        for path in (self.files.info, self.files.socket, self.files.operator):
            with suppress(FileNotFoundError):
                if not self._is_lost:
                    os.unlink(path)  # noqa: PTH108
        os.close(self._lock)


def _open(files: DaemonFiles) -> int:
    return os.open(files.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_at(lock: int, path: str) -> bool:
    """Whether this open file is still the one of this name."""
    try:
        return os.path.samestat(os.fstat(lock), os.lstat(path))
    except OSError:
        return False


def _held_by(files: DaemonFiles) -> str:
    info = files.read_info()
    who = f"process {info.pid}, at {info.address or info.port}" if info else "one that starts"
    return (
        f"a gateway of these settings runs already ({who}); stop it with `toolcrib gateway stop`,"
        " or take its address from `toolcrib gateway status`"
    )
