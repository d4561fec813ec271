"""The built wheel, installed as people install it, on each Python: by pip, by pipx and by uv."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from scripts.build_release import uv_settings, version
from tests.release.built import PYTHONS, built, python, the, wheel

pytestmark = [pytest.mark.release, built]

BIN = Path(sys.prefix) / "bin"
CACHE = Path(sys.prefix) / "release-cache"
"""Where packages are kept from one run to the next; homes of tests are empty."""
COMPLETED = """
eval "$(_TOOLCRIB_COMPLETE=source_bash toolcrib)"
COMP_WORDS=(toolcrib sea) COMP_CWORD=1
_toolcrib_completion toolcrib
echo "${COMPREPLY[@]}"
"""


def run(command: Sequence[str | Path], **env: str) -> str:
    """What a program prints. Fails with all that it said."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def by_pip(program: str, place: Path) -> Path:
    run([program, "-m", "venv", "--without-pip", place])
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python")]
    run([*pip, "install", "--quiet", "--no-compile", wheel()], PIP_CACHE_DIR=str(CACHE / "pip"))
    run([*pip, "check"])
    return place / "bin"


def by_pipx(program: str, place: Path) -> Path:
    env = {"PIPX_HOME": str(place / "pipx"), "PIPX_BIN_DIR": str(place / "bin")}
    quick = ["--pip-args=--no-compile"]
    command = [BIN / "pipx", "install", "--quiet", "--python", program, *quick, wheel()]
    run(command, PIP_CACHE_DIR=str(CACHE / "pip"), **env)
    return place / "bin"


def by_uv(program: str, place: Path) -> Path:
    env = {"UV_TOOL_DIR": str(place / "tools"), "UV_TOOL_BIN_DIR": str(place / "bin")}
    command = [BIN / "uv", "tool", "install", "--quiet", "--python", program, wheel()]
    run(command, UV_CACHE_DIR=str(CACHE / "uv"), **uv_settings(), **env)
    return place / "bin"


WAYS = {"pip": by_pip, "pipx": by_pipx, "uv": by_uv}


@pytest.mark.parametrize("number", PYTHONS)
@pytest.mark.parametrize("way", WAYS)
def test_what_is_installed_works(way: str, number: str, tmp_path: Path):
    program = python(number)
    if program is None:
        pytest.skip(f"no Python {number} with venv and ensurepip here, on the PATH or of pyenv")
    bin_folder = WAYS[way](program, tmp_path / "place")
    path = {"PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    assert run(["toolcrib", "--version"], **path).split() == ["toolcrib", version()]
    assert run(["bash", "-c", COMPLETED], **path).split() == ["search"]
    assert _found("read a file", path) == "read_file"


def _found(query: str, path: Mapping[str, str]) -> str:
    """The best of the tools that come along, by the model that comes along."""
    told = json.loads(run(["toolcrib", "search", query, "--limit", "1", "--json"], **path))
    return str(told["hits"][0]["name"])


def test_the_sources_install_too(tmp_path: Path):
    place = tmp_path / "place"
    env = {"UV_CACHE_DIR": str(CACHE / "uv"), **uv_settings()}
    run([BIN / "uv", "venv", "--quiet", "--python", sys.executable, place], **env)
    target = ["--python", place / "bin" / "python", the("*.tar.gz")]
    run([BIN / "uv", "pip", "install", "--quiet", *target], **env)
    assert run([place / "bin" / "toolcrib", "--version"]).split() == ["toolcrib", version()]
