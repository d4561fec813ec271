"""Programs of PyPI, in a virtual environment of their own, by the pip of the one in use."""

import sys
import venv
from collections.abc import Mapping
from pathlib import Path

from scripts.npm import run

QUIET = ("--disable-pip-version-check", "--quiet", "--no-warn-script-location")


def pip_install(folder: Path, packages: Mapping[str, str]) -> None:
    """Make an environment with these packages; a version stands behind its sign, `==1.2`."""
    venv.create(folder, clear=True)
    wanted = [f"{name}{version}" for name, version in packages.items()]
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    run(*pip, "install", *QUIET, *wanted)
