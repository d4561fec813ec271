"""The servers of the set: which package, at which version, and how it is started.

Each has a folder of its own: two servers rarely want the same versions of what they share.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from scripts.npm import node, npm_install
from scripts.once import install_once
from scripts.pypi import pip_install

FILE = Path(__file__).with_name("servers.json")
NODE = 22


@dataclass(frozen=True, slots=True)
class Package:
    """An MCP server on npm or PyPI. Every value of `env` is made up; no server needs a true one."""

    server: str
    registry: Literal["npm", "pypi"]
    package: str
    version: str
    program: str
    beside: Sequence[str] = ()
    """What is installed with it, for an author who left a bound out."""
    env: Mapping[str, str] = field(default_factory=dict[str, str])

    def install(self, folder: Path) -> None:
        """Install it into this folder, unless it is there."""
        install_once(folder, {self.package: self.version}, lambda: self._install(folder / "here"))

    def command(self, folder: Path) -> Sequence[str]:
        """How to start what was installed into this folder."""
        if self.registry == "pypi":
            return [str(folder / "here" / "bin" / self.program)]
        home = folder / "here" / "node_modules" / self.package
        facts = json.loads((home / "package.json").read_text(encoding="utf-8-sig"))
        named: str | Mapping[str, str] = facts["bin"]
        script = named if isinstance(named, str) else named[self.program]
        return [node(NODE), str(home / script)]

    def environment(self, home: Path, path: str) -> Mapping[str, str]:
        """Its environment: what it asks for, and nothing of the person who starts it."""
        programs = f"{Path(node(NODE)).parent}:{path}"
        return {"PATH": programs, "HOME": str(home), "LANG": "C.UTF-8", "CI": "1", **self.env}

    def _install(self, here: Path) -> None:
        if self.registry == "npm":
            npm_install(here, {self.package: self.version}, least=NODE)
        else:
            others = dict.fromkeys(self.beside, "")
            pip_install(here, {self.package: f"=={self.version}", **others})


def packages(file: Path = FILE) -> Sequence[Package]:
    """All of them, by name."""
    every: Sequence[Mapping[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return sorted((Package(**each) for each in every), key=lambda each: each.server)
