"""Where the files of clients lie on a machine."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Platform = Literal["linux", "macos", "windows"]
Root = Literal["home", "xdg", "library", "roaming", "codex", "claude"]
"""A folder that files are named from. `xdg` is ~/.config unless XDG_CONFIG_HOME says otherwise,
`codex` is ~/.codex unless CODEX_HOME does, `claude` is ~ unless CLAUDE_CONFIG_DIR does."""

_FOLDERS: Mapping[Root, tuple[str, str]] = {
    "home": ("", ""),
    "xdg": ("XDG_CONFIG_HOME", ".config"),
    "library": ("", "Library/Application Support"),
    "roaming": ("APPDATA", "AppData/Roaming"),
    "codex": ("CODEX_HOME", ".codex"),
    "claude": ("CLAUDE_CONFIG_DIR", ""),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A file, named from a root."""

    root: Root
    file: str


@dataclass(frozen=True, slots=True)
class Machine:
    """The system, whose home it is, and the variables that move folders about."""

    platform: Platform
    home: Path
    environ: Mapping[str, str]

    def path(self, place: Place) -> Path:
        variable, folder = _FOLDERS[place.root]
        named = self.environ.get(variable) if variable else None
        return (Path(named) if named else self.home / folder) / place.file


def this_machine(environ: Mapping[str, str]) -> Machine:
    """The one that this process runs on."""
    others: dict[str, Platform] = {"darwin": "macos", "win32": "windows"}
    return Machine(others.get(sys.platform, "linux"), Path.home(), environ)
