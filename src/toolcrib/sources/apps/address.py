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
from toolcrib.sources.private_file import Lock, make_folder, read_bytes, runs, write_bytes

VARIABLE = "TOOLCRIB_APPS_FILE"
MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Address:
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
            if not (pid.isdecimal() and runs(int(pid))):
                path.unlink()


def write_address(path: Path, address: Address) -> None:
    """Raises `SourceError`."""
    try:
        make_folder(path.parent)
        write_bytes(path, json.dumps(asdict(address)).encode())
    except OSError as error:
        told = f"{path} cannot be written ({error.strerror}); check space and permissions"
        raise SourceError(told) from error


def read_address(path: Path) -> Address:
    """Raises `SourceError` when there is none: nobody lets apps join."""
    try:
        match json.loads(read_bytes(path, MOST_BYTES)):
            case {"port": int(port), "token": str(token), "pid": int(pid)}:
                return Address(port, token, pid)
            case _:
                raise SourceError(
                    f"{path} is not an address that can be used; start Toolcrib again"
                )
    except (OSError, ValueError) as error:
        raise SourceError(
            f"{path}: no Toolcrib that lets apps join is running; start `toolcrib serve`"
        ) from error


class Claim:
    """The right to the public file. When the process ends, the system lets go of it."""

    def __init__(self, folder: Path) -> None:
        """Raises `SourceError` when another process has it."""
        self.file = public_file(folder)
        try:
            self._lock = Lock(self.file)
        except TimeoutError as error:
            told = "another Toolcrib lets apps join already; stop that one, or let it serve"
            raise SourceError(told) from error
        except OSError as error:
            told = f"{self.file} cannot be locked ({error.strerror}); check the permissions"
            raise SourceError(told) from error

    def close(self) -> None:
        """Take the file away and let others have the right."""
        with suppress(OSError):
            self.file.unlink()
        self._lock.release()
