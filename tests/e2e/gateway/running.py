"""A gateway as its users run it: programs in a home of their own, and the doors to them."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.e2e.gateway.visits import Door
from tests.sources.mcp.faking import left_of

SETTINGS = """\
plugins = false

[embed]
embedder = "none"
"""
PROGRAM = "from toolcrib.cli import main; main()"


@dataclass(frozen=True, slots=True)
class Gateway:
    """The home of one, in an own folder. Nothing runs before somebody comes to a door."""

    folder: Path

    @property
    def env(self) -> dict[str, str]:
        places = {"HOME": str(self.folder), "TOOLCRIB_RUN_FOLDER": str(self.folder / "run")}
        return {"PATH": os.environ["PATH"], **places}

    def command(self, *words: str) -> tuple[str, ...]:
        config = str(self.folder / "config.toml")
        return (sys.executable, "-P", "-c", PROGRAM, "--config", config, *words)

    def run(self, *words: str) -> str:
        """Run a command to its end; what it prints."""
        done = subprocess.run(
            self.command(*words), env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def connect(self, *words: str) -> Door:
        """The shim, which starts the daemon."""
        return Door(self.command("connect", *words), env=self.env)

    def stdio(self, *words: str) -> Door:
        """A process of its own."""
        return Door(self.command("serve", "--stdio", *words), env=self.env)

    @contextmanager
    def daemon(self) -> Generator[Mapping[str, Any]]:
        """The daemon runs meanwhile; what it wrote down about itself."""
        serve = self.command("serve", "--json")
        with subprocess.Popen(serve, env=self.env, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout
                assert process.stdout.readline(), "the daemon does not start"
                yield self.runtime()
            finally:
                process.terminate()

    def runtime(self) -> dict[str, Any]:
        """What the running daemon wrote down about itself."""
        [file] = (self.folder / "run").glob("*.json")
        return json.loads(file.read_text())

    def http(self, profile: str = "", key: str = "") -> Door:
        """The address of the running daemon, with this key, or one made for the profile."""
        path = f"/mcp/{profile}" if profile else "/mcp"
        port, token = self.runtime()["port"], key or self.new_key(profile or "default")
        return Door(url=f"http://127.0.0.1:{port}{path}", token=token)

    def new_key(self, profile: str = "default") -> str:
        """Another key for a profile."""
        name = f"key-{uuid4().hex}"
        return json.loads(self.run("keys", "add", name, "--profile", profile, "--json"))["key"]

    def stop(self) -> None:
        """Stop the daemon, if one runs, and see it gone."""
        if [*(self.folder / "run").glob("*.json")]:
            pid = self.runtime()["pid"]
            self.run("gateway", "stop")
            assert left_of([pid]) == {}


@contextmanager
def gateway_over(
    folder: Path, servers: Mapping[str, Mapping[str, Any]], settings: str = ""
) -> Generator[Gateway]:
    """A gateway in front of these servers, which it has met once. Its daemon ends with it."""
    file = folder / ".config" / "toolcrib" / "servers.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"mcpServers": servers}))
    (folder / "config.toml").write_text(SETTINGS + settings)
    made = Gateway(folder)
    made.run("refresh")
    try:
        yield made
    finally:
        made.stop()
