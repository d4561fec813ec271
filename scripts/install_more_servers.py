"""Installs more third-party MCP servers, each at one version, for the table in docs/servers.md.

python scripts/install_more_servers.py          install them, and print where they are
python scripts/install_more_servers.py --large  those too that take hundreds of megabytes

They go into a folder of the virtual environment in use, once; a second run does nothing. All are
installed side by side: npm's for Node 22 or newer, PyPI's for both lines of the MCP SDK.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.npm import node, npm_install, npx, run
from scripts.once import install_once
from scripts.pypi import pip_install

FOLDER = Path(sys.prefix) / "mcp-servers-more"
NODE = 22
NPM = {
    "@agent-infra/mcp-server-commands": "1.2.18",
    "@cyanheads/git-mcp-server": "2.15.3",
    "@modelcontextprotocol/server-debug": "2.0.3",
    "@modelcontextprotocol/server-pdf": "2.0.4",
    "@modelcontextprotocol/server-sequential-thinking": "2026.8.31",
    "@playwright/mcp": "0.0.83",
    "chrome-devtools-mcp": "1.11.0",
    "mcp-graphql": "2.0.4",
    "mcp-shrimp-task-manager": "1.0.21",
}
LARGE_NPM = {
    "@kazuph/mcp-fetch": "1.6.3",
    "@modelcontextprotocol/server-threejs": "2.0.3",
    "@negokaz/excel-mcp-server": "0.12.0",
    "@sylphx/pdf-reader-mcp": "2.4.0",
    "mcp-server-kubernetes": "4.1.7",
    "repomix": "1.18.1",
}
PYPI = {
    "excel-mcp-server": "==2.2.2",
    "mcp-server-fetch": "==2026.10.24",
    "office-word-mcp-server": "==1.1.11",
}
PYPI_OLD = {"mcp": "<2", "mcp-server-sqlite": "==2025.4.25"}
"""Written for the first line of the SDK, though they do not say so."""
LARGE_PYPI = {"mcp-neo4j-data-modeling": "==0.8.2"}
LARGE_PYPI_OLD = {
    "mcp": "<2",
    "mcp-server-duckdb": "==1.1.0",
    "mcp-server-tree-sitter": "==0.7.0",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A folder, what goes into it, and how."""

    name: str
    packages: Mapping[str, str]
    install: Callable[[Path, Mapping[str, str]], None]


def _npm(folder: Path, packages: Mapping[str, str]) -> None:
    npm_install(folder, packages, least=NODE)


PLACES = (
    Place("npm", NPM, _npm),
    Place("pypi", PYPI, pip_install),
    Place("old", PYPI_OLD, pip_install),
)
LARGE = (
    Place("npm", LARGE_NPM, _npm),
    Place("pypi", LARGE_PYPI, pip_install),
    Place("old", LARGE_PYPI_OLD, pip_install),
)


def install(folder: Path = FOLDER, *, large: bool = False) -> Path:
    """Install what is missing; the folder. Safe to call from several processes at once."""
    _install(folder, PLACES)
    if large:
        _install(folder / "large", LARGE)
    return folder


def _install(folder: Path, places: Sequence[Place]) -> None:
    def one(place: Place) -> None:
        place.install(folder / place.name, place.packages)

    def side_by_side() -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(one, places))

    install_once(folder, {each.name: each.packages for each in places}, side_by_side)


def cache_for_npx(packages: Mapping[str, str], folder: Path = FOLDER / "npx") -> Path:
    """A cache of npm's in which npx finds these packages, without a network; the folder."""

    def one(package: str) -> None:
        run(*npx(NODE), "--yes", f"--cache={folder}", f"--package={package}", "--", "true")

    def side_by_side() -> None:
        with ThreadPoolExecutor() as pool:
            list(pool.map(one, (f"{name}@{each}" for name, each in packages.items())))

    install_once(folder, packages, side_by_side)
    return folder


def version(package: str) -> str:
    """At which version it is installed."""
    every = {name: each for place in (*PLACES, *LARGE) for name, each in place.packages.items()}
    return every[package].removeprefix("==")


def npm_command(modules: Path, package: str, *arguments: str) -> list[str]:
    """How to run the program of an npm package: the first that it names."""
    home = modules / "node_modules" / package
    named: str | dict[str, str] = json.loads((home / "package.json").read_text())["bin"]
    script = named if isinstance(named, str) else next(iter(named.values()))
    return [node(NODE), str(home / script), *arguments]


if __name__ == "__main__":
    print(install(large="--large" in sys.argv[1:]))
