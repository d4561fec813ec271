"""Where apps find us: a file with the port and the token, for nobody else to read.

A process that lets apps join holds `apps.json`, and one process at a time does. A process that
launches an app names a file of its own in the app's environment, so that the app finds whoever
started it.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from toolcrib.errors import SourceError
from toolcrib.system import (
    FileLock,
    is_running,
    make_private_folder,
    read_private_file,
    write_private_file,
)

ADDRESS_VARIABLE = "TOOLCRIB_APPS_FILE"
MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class AppAddress:
    """A port of this machine, what to say there, and whose it is."""

    port: int
    token: str
    pid: int


def public_file(folder: Path) -> Path:
    """The file that every app looks for."""
    return folder / "apps.json"


def own_file(folder: Path) -> Path:
    """The file for the apps that this process launches."""
    return folder / f"launched-by-{os.getpid()}-{os.urandom(4).hex()}.json"


def sweep_own_files(folder: Path) -> None:
    """Remove the files of processes that did not live to do so."""
    for path in folder.glob("launched-by-*.json"):
        pid = path.name.split("-")[2]
        with suppress(OSError):
            if not (pid.isdecimal() and is_running(int(pid))):
                path.unlink()


def write_address(path: Path, address: AppAddress) -> None:
    """Raises `SourceError`."""
    try:
        make_private_folder(path.parent)
        write_private_file(path, json.dumps(asdict(address)).encode())
    except OSError as error:
        message = f"{path} cannot be written ({error.strerror}); check space and permissions"
        raise SourceError(message) from error


def read_address(path: Path) -> AppAddress:
    """Raises `SourceError` when there is none: nobody lets apps join."""
    try:
        match json.loads(read_private_file(path, MOST_BYTES)):
            case {"port": int(port), "token": str(token), "pid": int(pid)}:
                return AppAddress(port, token, pid)
            case _:
                raise SourceError(
                    f"{path} is not an address that can be used; start Toolcrib again"
                )
    except (OSError, ValueError) as error:
        raise SourceError(
            f"{path}: no Toolcrib that lets apps join is running; start `toolcrib serve`"
        ) from error


class AddressClaim:
    """The right to the public file. When the process ends, the system lets go of it."""

    def __init__(self, folder: Path) -> None:
        """Raises `SourceError` when another process has it."""
        self.file = public_file(folder)
        try:
            self._lock = FileLock(self.file)
        except TimeoutError as error:
            message = "another Toolcrib lets apps join already; stop that one, or let it serve"
            raise SourceError(message) from error
        except OSError as error:
            message = f"{self.file} cannot be locked ({error.strerror}); check the permissions"
            raise SourceError(message) from error

    def close(self) -> None:
        """Take the file away and let others have the right."""
        with suppress(OSError):
            self.file.unlink()
        self._lock.release()
