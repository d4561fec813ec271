"""Programs of PyPI, in a virtual environment of their own."""

import venv
from collections.abc import Mapping
from pathlib import Path

from scripts.npm import run

QUIET = ("--disable-pip-version-check", "--quiet", "--no-warn-script-location")


def pip_install(folder: Path, packages: Mapping[str, str]) -> None:
    """Make an environment with these packages; a version stands behind its sign, `==1.2`."""
    venv.create(folder, with_pip=True, clear=True)
    wanted = [f"{name}{version}" for name, version in packages.items()]
    run(str(folder / "bin" / "python"), "-m", "pip", "install", *QUIET, *wanted)
