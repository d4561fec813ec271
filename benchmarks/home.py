"""Toolcrib as its users run it: programs, in a home of their own."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit


class Unusable(Exception):
    """Something that cannot be measured; the message says why."""


@contextmanager
def own_state() -> Generator[None]:
    """Cribs that this process makes and closes meanwhile leave no packs with the user's own."""
    with (
        tempfile.TemporaryDirectory(prefix="toolcrib-") as folder,
        patch.dict(os.environ, {"XDG_STATE_HOME": folder}),
    ):
        yield


@dataclass(frozen=True, slots=True)
class Home:
    """A folder for Toolcrib to live in, the Python that has it installed, variables it needs."""

    folder: Path
    python: Path = Path(sys.executable)
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def env(self) -> dict[str, str]:
        """No more than clients leave to what they start: so all find the same daemon."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder), **self.variables}

    @property
    def configuration(self) -> Path:
        """Where its files are that a person may write."""
        return self.folder / ".config" / "toolcrib"

    @property
    def servers(self) -> Path:
        """The file with its servers, as `toolcrib import` writes it."""
        return self.configuration / "servers.json"

    def configure(self, settings: str, servers: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the settings and the servers."""
        self.configuration.mkdir(parents=True, exist_ok=True)
        (self.configuration / "config.toml").write_text(settings, encoding="utf-8")
        self.servers.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")

    def toolcrib(self, *words: str) -> list[str]:
        """The command that a person would type."""
        return [str(self.python.with_name("toolcrib")), *words]

    def run(self, *words: str) -> str:
        """Run a command to its end; what it prints. Raises `Unusable` when it fails."""
        done = subprocess.run(  # noqa: S603 - our own program
            self.toolcrib(*words), env=self.env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise Unusable(f"toolcrib {' '.join(words)} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def stop(self) -> None:
        """Stop the daemon that a client has started, if one runs, and see it gone."""
        done = subprocess.run(  # noqa: S603 - our own program
            self.toolcrib("gateway", "--json"), env=self.env, capture_output=True, check=False
        )
        if done.returncode:
            return
        process = Path("/proc", str(json.loads(done.stdout)["pid"]))
        self.run("gateway", "stop")
        while process.exists():
            time.sleep(0.05)

    @asynccontextmanager
    async def daemon(self) -> AsyncGenerator[Mapping[str, Any]]:
        """The daemon runs meanwhile; its process and its port."""
        process = await asyncio.create_subprocess_exec(
            *self.toolcrib("serve", "--json"), env=self.env, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert process.stdout  # noqa: S101 - it is a pipe
            if not await process.stdout.readline():
                raise Unusable("the daemon does not start")
            status: dict[str, Any] = json.loads(self.run("gateway", "--json"))
            yield {"pid": status["pid"], "port": urlsplit(status["address"]).port}
        finally:
            process.terminate()
            await process.wait()
