"""The machine that this runs on. Values of environment variables are never told: they hold keys."""

import os
import platform
import shutil
from pathlib import Path
from typing import TypedDict


class SystemInfo(TypedDict):
    """The machine in a few words. `free_bytes` is what is left where we work."""

    system: str
    release: str
    architecture: str
    processors: int
    python: str
    working_folder: str
    free_bytes: int


def system_info() -> SystemInfo:
    """Tell the operating system, the architecture, the processors and the free disk space."""
    here = Path.cwd()
    return SystemInfo(
        system=platform.system(),
        release=platform.release(),
        architecture=platform.machine(),
        processors=os.cpu_count() or 1,
        python=platform.python_version(),
        working_folder=str(here),
        free_bytes=shutil.disk_usage(here).free,
    )


def find_command(name: str) -> str:
    """Tell whether a command is installed, and where.

    Args:
        name: The command, such as `git`.
    """
    return shutil.which(name) or f"there is no command {name!r} on this machine"


def list_environment_variables(prefix: str = "") -> list[str]:
    """List the names of the environment variables that are set; their values stay secret.

    Args:
        prefix: Only names that begin with this.
    """
    return sorted(name for name in os.environ if name.startswith(prefix))
