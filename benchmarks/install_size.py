"""What a plain install of Toolcrib takes on the disk, package by package, and who asks for each.

python -m benchmarks.install_size [--wheel dist/toolcrib-VERSION-py3-none-any.whl] [REQUIREMENT ...]

Installs by `pip install --target` into a folder that is gone afterwards, without compiled files,
and counts the bytes of the files that each package records. A requirement such as
`toolcrib[postgres]` is measured in place of the plain package. Without `--wheel` it is built from
this folder.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LARGE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class InstalledPackage:
    """A package, the bytes of its files, and the packages that ask for it as they are installed."""

    name: str
    version: str
    size: int
    wanted_by: Sequence[str]


def install(wanted: Sequence[str], target: Path) -> None:
    quiet = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    command = [sys.executable, "-m", "pip", "install", *quiet, "--target", str(target), *wanted]
    subprocess.run(command, check=True, cwd=ROOT)  # noqa: S603 - pip, with what the caller says


def packages(folder: Path, extras: frozenset[str] = frozenset()) -> list[InstalledPackage]:
    """Those in a folder, the largest first. `extras` are those of Toolcrib that were asked for."""
    found = {str(canonicalize_name(each.name)): each for each in distributions(path=[str(folder)])}
    asked = {"toolcrib": {*extras}}
    for each in found.values():  # so that those of `pyjwt[crypto]` count as wanted by pyjwt
        for wanted in _requirements(each, ()):
            asked.setdefault(str(canonicalize_name(wanted.name)), set()).update(wanted.extras)
    wants = {
        name: {str(canonicalize_name(one.name)) for one in _requirements(each, asked.get(name, ()))}
        for name, each in found.items()
    }
    listed = [
        InstalledPackage(
            name,
            each.version,
            _size(each),
            sorted(other for other, wanted in wants.items() if name in wanted),
        )
        for name, each in found.items()
    ]
    return sorted(listed, key=lambda each: -each.size)


def _requirements(package: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """What it asks for on this machine, with these extras."""
    read = [Requirement(line) for line in package.requires or ()]
    return [
        each
        for each in read
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


def _size(package: Distribution) -> int:
    files = [Path(str(package.locate_file(file))) for file in package.files or ()]
    return sum(file.stat().st_size for file in files if file.is_file())


def table(found: Sequence[InstalledPackage]) -> str:
    """As markdown: the large ones by name, the rest in one row."""
    large = [each for each in found if each.size >= LARGE_BYTES]
    small = [each for each in found if each.size < LARGE_BYTES]
    rows = [
        f"| {each.name} {each.version} | {each.size / 1e6:.1f} | {', '.join(each.wanted_by)} |"
        for each in large
    ]
    rest = f"| {len(small)} more | {sum(each.size for each in small) / 1e6:.1f} | |"
    total = f"| **{len(found)} packages** | **{sum(each.size for each in found) / 1e6:.1f}** | |"
    return "\n".join(["| package | MB | wanted by |", "|---|--:|---|", *rows, rest, total])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, default=ROOT)
    parser.add_argument("requirement", nargs="*", default=["toolcrib"])
    given = parser.parse_args()
    wanted = [Requirement(each) for each in given.requirement]
    with TemporaryDirectory() as folder:
        own = {each.name: each.extras for each in wanted}.get("toolcrib", set[str]())
        named = f"toolcrib{'[' + ','.join(sorted(own)) + ']' if own else ''}"
        others = [str(each) for each in wanted if each.name != "toolcrib"]
        install([f"{named} @ {given.wheel.resolve().as_uri()}", *others], Path(folder))
        print(table(packages(Path(folder), frozenset(own))))


if __name__ == "__main__":
    main()
