"""What a release consists of: all that belongs into it, and nothing else."""

import hashlib
import json
import subprocess
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import PurePosixPath
from typing import Any

import pytest

from scripts.build_release import SUMS
from tests.release.built import DIST, ROOT, built, the, wheel
from toolcrib.cli.guide import PAGES

pytestmark = [pytest.mark.release, built]

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = f"toolcrib-{PROJECT['version']}"
INFO = f"{NAME}.dist-info"
IN_WHEEL = {
    "METADATA",
    "RECORD",
    "WHEEL",
    "entry_points.txt",
    "licenses/LICENSE",
    "licenses/NOTICE",
}
IN_SOURCES = {
    ".gitignore",  # by which hatchling leaves out what is not tracked
    "CHANGELOG.md",
    "LICENSE",
    "NOTICE",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "pyproject.toml",
}


def tracked() -> set[str]:
    """Every file of the package that is in the repository, by its path below src/."""
    command = ["git", "ls-files", "-z", "src"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return {name.removeprefix("src/") for name in listed.split("\0") if name}


def guide() -> set[str]:
    """The pages that `toolcrib help` prints, by their path below docs/."""
    docs = ROOT / "docs"
    return {page.relative_to(docs).as_posix() for pages in PAGES for page in docs.glob(pages)}


def test_there_is_what_is_promised_and_nothing_else():
    names = {file.name for file in DIST.iterdir()}
    assert names == {f"{NAME}.tar.gz", f"{NAME}-py3-none-any.whl", f"{NAME}.cdx.json", SUMS}


def test_the_wheel_has_the_package_and_its_licences():
    with zipfile.ZipFile(wheel()) as archive:
        names = set(archive.namelist())
    pages = {f"toolcrib/docs/{page}" for page in guide()}
    assert names == tracked() | pages | {f"{INFO}/{name}" for name in IN_WHEEL}


def test_the_sources_have_what_the_wheel_is_made_of():
    with tarfile.open(the("*.tar.gz")) as archive:
        files = {each.name for each in archive.getmembers() if not each.isdir()}
    names = {str(PurePosixPath(each).relative_to(NAME)) for each in files}
    pages = {f"docs/{page}" for page in guide()}
    assert names == {f"src/{name}" for name in tracked()} | pages | IN_SOURCES


def test_the_wheel_says_what_it_is():
    with zipfile.ZipFile(wheel()) as archive:
        said = message_from_string(archive.read(f"{INFO}/METADATA").decode())
        licence = archive.read(f"{INFO}/licenses/LICENSE")
    assert (said["Name"], said["Version"]) == ("toolcrib", PROJECT["version"])
    assert said["License-Expression"] == "Apache-2.0"
    assert said.get_all("License-File") == PROJECT["license-files"]
    assert licence == (ROOT / "LICENSE").read_bytes()


def test_the_checksums_are_those_of_the_files():
    lines = [line.split("  ") for line in (DIST / SUMS).read_text().splitlines()]
    assert {name for _, name in lines} == {file.name for file in DIST.iterdir()} - {SUMS}
    for digest, name in lines:
        assert hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest


def test_the_sbom_names_every_package_with_version_and_licence():
    sbom = json.loads(the("*.cdx.json").read_text())
    assert sbom["bomFormat"] == "CycloneDX"
    about = sbom["metadata"]["component"]
    assert (about["name"], about["version"]) == ("toolcrib", PROJECT["version"])
    components = {each["name"].lower().replace("_", "-"): each for each in sbom["components"]}
    needed = {line.split(">")[0].split("[")[0].lower() for line in PROJECT["dependencies"]}
    assert needed <= set(components)
    assert not [name for name, each in components.items() if not each.get("version")]
    assert not [name for name, each in components.items() if not each.get("licenses")]


def test_the_sbom_says_nothing_of_the_machine_that_made_it():
    text = the("*.cdx.json").read_text()
    assert "file://" not in text
    assert str(ROOT) not in text


def test_the_changelog_has_this_version_first():
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    first = next(line for line in lines if line.startswith("## "))
    assert first.split()[1] == PROJECT["version"]
