"""The daemon's hold on its place: one daemon for each set of settings, and a file that says where.

The lock is the truth: the system lets go of it when the process ends, however it ends. The file is
a note for others. Whoever tidies up may remove both: see `still_ours`.
"""

import fcntl
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from toolcrib.connect import DaemonFiles, DaemonInfo, NoDaemon, make_daemon_folder, read_daemon_info
from toolcrib.errors import ConfigError
from toolcrib.system import write_private_file

POLL_S = 0.1


class DaemonLock:
    """The right to be the daemon of a place. Raises `ConfigError` if another process has it."""

    def __init__(self, place: DaemonFiles, wait_s: float = 0.0) -> None:
        self.place = place
        try:
            make_daemon_folder(place)
        except NoDaemon as error:
            raise ConfigError(str(error)) from error
        self._is_lost = False
        self._lock = _opened(place)
        until = time.monotonic() + wait_s
        while not _locked(self._lock):
            if time.monotonic() >= until:
                os.close(self._lock)
                raise ConfigError(_held_by(place))
            time.sleep(POLL_S)
        for path in (place.socket, place.operator):  # of one that was killed
            with suppress(FileNotFoundError):
                os.unlink(path)  # noqa: PTH108 - a place is made of plain paths

    def tell(self, runtime: DaemonInfo) -> None:
        """Write down where the daemon is, in one step."""
        write_private_file(Path(self.place.file), json.dumps(runtime._asdict()).encode())

    def still_ours(self) -> bool:
        """Whether the place is ours still. If the lock was removed, it is taken again.

        False when another process was there before us: the place is theirs for good.
        """
        if self._is_lost or _is_at(self._lock, self.place.held):
            return not self._is_lost
        try:
            make_daemon_folder(self.place)
            lock = _opened(self.place)
        except (NoDaemon, OSError):
            self._is_lost = True
            return False
        self._is_lost = not _locked(lock)
        os.close(lock if self._is_lost else self._lock)
        self._lock = self._lock if self._is_lost else lock
        return not self._is_lost

    def close(self) -> None:
        """Take the note and the sockets away, if they are ours, and let others have the place."""
        for path in (self.place.file, self.place.socket, self.place.operator):
            with suppress(FileNotFoundError):
                if not self._is_lost:
                    os.unlink(path)  # noqa: PTH108
        os.close(self._lock)


def _opened(place: DaemonFiles) -> int:
    return os.open(place.held, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _locked(lock: int) -> bool:
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


def _held_by(place: DaemonFiles) -> str:
    runtime = read_daemon_info(place)
    who = f"process {runtime.pid}, at 127.0.0.1:{runtime.port}" if runtime else "one that starts"
    return (
        f"a gateway of these settings runs already ({who}); stop it with `toolcrib gateway stop`,"
        " or take its address from `toolcrib gateway status`"
    )
