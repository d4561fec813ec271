"""What Toolcrib keeps for itself on this machine: no tool may read or write there."""

import os
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path, user_data_path

from toolcrib.run_folder import run_folders
from toolcrib.settings import Settings, config_folder


@dataclass(frozen=True, slots=True)
class Own:
    """Folders with all that is in them, and single files.

    Files whose names begin with the name of such a file, and lie beside it, belong to it: a
    database has its journals there.
    """

    folders: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "Own":
        """Our folders, and what the settings name elsewhere: code, secrets, what was done."""
        kept = (settings.state_folder, user_data_path("toolcrib"), user_cache_path("toolcrib"))
        running = map(Path, run_folders(os.environ))
        return cls((config_folder(), *kept, *running), tuple(filter(None, _files(settings))))


def _files(settings: Settings) -> tuple[Path | None, ...]:
    in_memory = settings.store_path == ":memory:"
    store = () if in_memory else (Path(settings.store_path), settings.audit_path)
    modules = (Path(each) for each in settings.tool_modules if each.endswith(".py"))
    return (settings.file, *store, *settings.mcp_config, *settings.tools, *modules)
