"""The files of clients on the disk: where each lies, read whole, written in one step.

A file keeps its mode and its links.
"""

import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from toolcrib.errors import ConfigError
from toolcrib.system import read_plain_file, write_private_file

MOST_BYTES = 64 * 1024 * 1024
"""Claude Code keeps its history in the file that its servers stand in."""

Platform = Literal["linux", "macos", "windows"]
BaseFolder = Literal["home", "xdg", "library", "roaming", "codex", "claude"]
"""A folder that clients keep their files below. `xdg` is ~/.config unless XDG_CONFIG_HOME says
otherwise; CODEX_HOME and CLAUDE_CONFIG_DIR move `codex`, else ~/.codex, and `claude`, else ~."""

_FOLDERS: Mapping[BaseFolder, tuple[str, str]] = {
    "home": ("", ""),
    "xdg": ("XDG_CONFIG_HOME", ".config"),
    "library": ("", "Library/Application Support"),
    "roaming": ("APPDATA", "AppData/Roaming"),
    "codex": ("CODEX_HOME", ".codex"),
    "claude": ("CLAUDE_CONFIG_DIR", ""),
}


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A file below a base folder."""

    base: BaseFolder
    file: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The system, whose home it is, and the variables that move folders about."""

    platform: Platform
    home: Path
    environ: Mapping[str, str]

    def path(self, location: FileLocation) -> Path:
        variable, folder = _FOLDERS[location.base]
        named = self.environ.get(variable) if variable else None
        return (Path(named) if named else self.home / folder) / location.file


def this_machine(environ: Mapping[str, str]) -> Machine:
    """The one that this process runs on."""
    others: dict[str, Platform] = {"darwin": "macos", "win32": "windows"}
    return Machine(others.get(sys.platform, "linux"), Path.home(), environ)


def read_file(path: Path) -> str | None:
    """The text just as it is, line ends and all; None if there is no file. Raises `ConfigError`."""
    try:
        content = read_plain_file(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: is not UTF-8; save it as UTF-8") from error


def check_unchanged(path: Path, expected: str | None) -> None:
    """Raises `ConfigError` where somebody else has written the file meanwhile."""
    if read_file(path) != expected:
        raise ConfigError(f"{path}: somebody else has just written it; look again and repeat")


def write_file(path: Path, text: str, expected: str | None) -> None:
    """Replace the file by this text, if it still holds what is expected.

    A new file is for its owner alone. Raises `ConfigError`, and then the old one stays.
    """
    check_unchanged(path, expected)
    try:
        real = path.resolve()
        mode = stat.S_IMODE(real.stat().st_mode) if expected is not None else 0o600
        real.parent.mkdir(parents=True, exist_ok=True)
        write_private_file(real, text.encode())
        real.chmod(mode)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror}") from error


def remove_file(path: Path, expected: str) -> None:
    """Remove the file, if it still holds what is expected. Raises `ConfigError`."""
    check_unchanged(path, expected)
    try:
        path.resolve().unlink()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be removed: {error.strerror}") from error
