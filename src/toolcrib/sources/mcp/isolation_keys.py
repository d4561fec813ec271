"""The keys of an entry that say in which box its command runs."""

from collections.abc import Mapping
from pathlib import Path

from toolcrib.model import Json
from toolcrib.sources.mcp.fields import Fields
from toolcrib.sources.mcp.server import Isolation, IsolationTool, PathMode

KEYS = ("isolation_paths", "isolation_network", "isolation_image")


def read_isolation(fields: Fields, folder: Path) -> Isolation | None:
    """The box; None, and a problem where something is said of one, if there is none.

    Paths are taken from the folder of the file. What cannot be read lets nothing through.
    """
    tool = fields.choice("isolation", IsolationTool, None)
    if tool is None:
        for key in KEYS:
            if fields.has(key) and not fields.has("isolation"):
                fields.problem(f"{key!r} means nothing without `isolation`")
        return None
    network = fields.flag("isolation_network") if fields.has("isolation_network") else True
    wanted = 'an object of paths, each "ro" or "rw"'
    none: Mapping[str, PathMode] = {}
    paths = fields.custom("isolation_paths", _paths, none, wanted)
    placed: dict[str, PathMode] = {
        str(folder / Path(path).expanduser()): mode for path, mode in paths.items()
    }
    return Isolation(tool, tuple(placed.items()), network, fields.text("isolation_image"))


def _paths(value: Json) -> Mapping[str, PathMode] | None:
    if not isinstance(value, Mapping):
        return None
    read: dict[str, PathMode] = {}
    for path, mode in value.items():
        if mode not in ("ro", "rw") or not path or "\0" in path:
            return None
        read[path] = "rw" if mode == "rw" else "ro"
    return read
