"""Problems of the configuration: each is a warning once, and not of every command again.

`toolcrib doctor` and `toolcrib servers` show what is wrong each time they are asked.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from toolcrib import system
from toolcrib.cli.screen import warn

FILE = "warnings.json"
AGAIN_S = 24 * 60 * 60.0
"""After so long a problem that is still there is a warning again."""
MOST_BYTES = 1024 * 1024


def warn_once(state_folder: Path, area: str, problems: Iterable[str]) -> None:
    """Warn of problems that nobody was warned of lately in this area.

    A problem that was gone meanwhile is new. If the file cannot be used, all are shown.
    """
    current = {hashlib.sha256(each.encode()).hexdigest()[:16]: each for each in problems}
    path, now = state_folder / FILE, time.time()
    before = _read(path).get(area, {})
    recent = {key: before[key] for key in current if now - before.get(key, 0.0) < AGAIN_S}
    for key, problem in current.items():
        if key not in recent:
            warn(problem)
    if recent.keys() != current.keys() or before.keys() != current.keys():
        _write(path, area, {key: recent.get(key, now) for key in current})


def _read(path: Path) -> Mapping[str, dict[str, float]]:
    with suppress(OSError, ValueError, RecursionError):
        areas = _object(json.loads(system.read_private_file(path, MOST_BYTES)))
        return {area: _times(each) for area, each in areas.items()}
    return {}


def _times(value: object) -> dict[str, float]:
    return {key: at for key, at in _object(value).items() if isinstance(at, float)}


def _object(value: object) -> Mapping[str, object]:
    """The object, or an empty one: a broken file is no reason to fail."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _write(path: Path, area: str, times: Mapping[str, float]) -> None:
    with suppress(OSError):
        system.make_private_folder(path.parent)
        with system.file_locked(path):
            system.write_private_file(path, json.dumps({**_read(path), area: times}).encode())
