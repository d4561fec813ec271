"""What the other scripts install, once: into a folder of the virtual environment in use."""

import fcntl
import json
from collections.abc import Callable, Mapping
from pathlib import Path

STAMP = "installed.json"


def install_once(folder: Path, wanted: Mapping[str, object], install: Callable[[], None]) -> None:
    """Install what is wanted unless it is there. Safe to call from several processes at once."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_installed(folder, wanted):
            install()
            (folder / STAMP).write_text(json.dumps(wanted))


def is_installed(folder: Path, wanted: Mapping[str, object]) -> bool:
    """Whether just this was installed here, to its end."""
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text() == json.dumps(wanted)
