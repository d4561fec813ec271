"""Gateways as processes of their own, as one deploys them: three with the same keys."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import until
from toolcrib.connect import ConnectOptions, locate_daemon
from toolcrib.gateway import ask_daemon, keys_in
from toolcrib.settings import Settings

SERVER = Path(__file__).with_name("replica_server.py")
SETTINGS = """store = ":memory:"
plugins = false
builtin_tools = false
mcp_config = ["servers.json"]
[mcp]
env_from = ["REPLICA"]
[apps]
enabled = false
[embed]
embedder = "none"
[gateway]
port = {port}
mode = "direct"
"""
PROXIED = """behind_proxy = true
trusted_proxies = ["127.0.0.1"]
hosts = ["{host}"]
drain_s = 60
"""


SERVE = [sys.executable, "-m", "toolcrib.cli"]
SITE = {"site": {"command": sys.executable, "args": ["-S", str(SERVER)]}}


class Replica:
    """One `toolcrib serve`, over these servers. They find its name in `REPLICA`."""

    def __init__(
        self, folder: Path, name: str, gateway: str, servers: object = None, **environ: str
    ) -> None:
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "servers.json").write_text(json.dumps({"mcpServers": servers or SITE}))
        self.name, self._folder, self._gateway = name, folder, gateway
        self._config = folder / name / "config.toml"
        self._environ = {
            **os.environ,
            "TOOLCRIB_RUN_FOLDER": str(folder / "run"),
            "REPLICA": name,
            "TOOLCRIB_CONFIG": str(self._config),
            **environ,
        }
        self.port = 0
        self.start()

    def start(self) -> None:
        """Begin to serve, at the port of before if there was one; `wait` follows."""
        self._config.write_text(SETTINGS.format(port=self.port) + self._gateway)
        with (self._folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*SERVE, "--config", str(self._config), "serve", "--json"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self._environ,
            )

    def wait(self) -> None:
        """Until it serves what there is."""
        assert self.process.stdout
        said = "".join(iter(self.process.stdout.readline, "}\n"))
        assert said, self.log
        address: str = json.loads(said + "}")["address"]
        self.port = int(address.rpartition(":")[2].removesuffix("/mcp"))
        until(self._is_listed, f"{self.name} has listed its servers")

    @property
    def log(self) -> str:
        return (self._folder / f"{self.name}.log").read_text()

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def start_again(self) -> None:
        """After it has ended."""
        self.close()
        self.start()
        self.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def _is_listed(self) -> bool:
        place = locate_daemon(ConnectOptions(str(self._config)), self._environ)
        status: Any = ask_daemon(place, "status")
        return bool(status["tools"])


@contextmanager
def replicas(folder: Path, names: Sequence[str], gateway: str) -> Generator[list[Replica]]:
    """As many gateways, ready, until this ends."""
    found: list[Replica] = []
    try:
        found += [Replica(folder, name, gateway) for name in names]
        for each in found:
            each.wait()
        yield found
    finally:
        for each in found:
            each.close()


def new_keys(*names: str) -> list[str]:
    """Keys that every gateway of this home takes."""
    keys = keys_in(Settings().state_folder)
    return [keys.add(name) for name in names]
