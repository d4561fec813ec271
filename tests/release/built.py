"""The files of a release that `make release` has built, and the Pythons to install them on."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIST = Path(ROOT, os.environ.get("TOOLCRIB_DIST", "no such folder"))
PYTHONS = ("3.11", "3.12", "3.13")
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"

built = pytest.mark.skipif(not DIST.is_dir(), reason="nothing is built: run `make release`")
"""For tests of what is in dist/: they mean nothing for a build of some other day."""


def the(pattern: str) -> Path:
    """The one file of the release with such a name."""
    (file,) = DIST.glob(pattern)
    return file


def wheel() -> Path:
    return the("*.whl")


@cache
def python(version: str) -> str | None:
    """A Python of this version that answers: on the PATH, or in a folder of pyenv."""
    candidates = [shutil.which(f"python{version}"), *PYENV.glob(f"{version}.*/bin/python")]
    return next((str(each) for each in candidates if each and _answers(str(each), version)), None)


def _answers(program: str, version: str) -> bool:
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    told = subprocess.run([program, "-c", code], capture_output=True, text=True, check=False)
    return told.stdout.strip() == version
