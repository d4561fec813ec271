"""The shim and the daemon as processes: started by clients, shared, killed, ended."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.key_names import named
from tests.sources.mcp.faking import FAKE, below, left_of, own_file, processes
from tests.waiting import HANG_S, until
from toolcrib.cli.global_options import GlobalOptions
from toolcrib.connect import (
    ConnectOptions,
    DaemonFiles,
    DaemonInfo,
    locate_daemon,
)
from toolcrib.errors import ConfigError
from toolcrib.gateway import ask_daemon, keys_in
from toolcrib.sources.mcp import refresh_all
from toolcrib.system import RUN_FOLDER_VARIABLE

QUIET = {
    "TOOLCRIB_STORE": ":memory:",
    "TOOLCRIB_PLUGINS": "false",
    "TOOLCRIB_BUILTIN_TOOLS": "false",
    "TOOLCRIB_EMBED__EMBEDDER": "none",
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "a client", "version": "1"},
}


def runs(pid: int) -> bool:
    """Whether it does, and is not just waiting to be collected."""
    return pid in processes()


class Client:
    """A client that launched a shim as its server, in an environment as bare as clients give."""

    def __init__(self, environ: Mapping[str, str], *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "toolcrib.cli", "connect", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(environ),
            cwd=environ["HOME"],
        )
        self._ids = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._ids += 1
        self._send({"id": self._ids, "method": method, "params": params})
        return self.hear(self._ids)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def note(self, method: str) -> None:
        self._send({"method": method})

    def hear(self, id: int) -> dict[str, Any]:
        assert self.process.stdout
        while True:
            said = json.loads(self.process.stdout.readline())
            if said.get("id") == id:
                return said

    def greet(self) -> None:
        assert "result" in self.ask("initialize", **HELLO)
        self.note("notifications/initialized")

    def _send(self, said: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **said}).encode() + b"\n")
        self.process.stdin.flush()

    def end(self) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        code = self.process.wait(HANG_S)
        self.process.stdout.close()
        return code


class Setting:
    """A home of its own, and whatever daemon runs for it."""

    def __init__(self, folder: Path) -> None:
        self.environ = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            RUN_FOLDER_VARIABLE: str(folder / "run"),
            **QUIET,
        }

    @property
    def place(self) -> DaemonFiles:
        return locate_daemon(ConnectOptions(), self.environ)

    @property
    def runtime(self) -> DaemonInfo:
        found = self.place.read_info()
        assert found
        return found

    @contextmanager
    def client(self, *options: str, **variables: str) -> Generator[Client]:
        client = Client(self.environ | variables, *options)
        try:
            yield client
        finally:
            client.end()

    def end(self) -> None:
        """End the daemon, if one runs, and see that it is gone."""
        found = self.place.read_info()
        if found and runs(found.pid):
            with suppress(ConfigError):
                ask_daemon(self.place, "stop")
            until(lambda: not runs(found.pid))


@pytest.fixture
def setting(home: Path) -> Generator[Setting]:
    setting = Setting(home)
    yield setting
    setting.end()


def test_shims_that_come_at_once_start_one_daemon_and_share_it(setting: Setting):
    clients = [Client(setting.environ) for _ in range(6)]
    for client in clients:
        client.greet()
    pids = {setting.runtime.pid}
    status: Any = ask_daemon(setting.place, "status")
    assert [each["name"] for each in status["clients"]] == ["a client"] * 6
    assert status["pid"] in pids
    assert status["ends_when_idle"]
    # Nobody who ends what they launched ends the daemon with it.
    assert setting.runtime.pid not in below(os.getpid())
    assert [client.end() for client in clients] == [0] * 6
    assert runs(setting.runtime.pid)


def test_a_client_survives_the_end_of_the_daemon(setting: Setting):
    with setting.client() as client:
        client.greet()
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        first = setting.runtime.pid
        os.kill(first, signal.SIGKILL)
        until(lambda: not runs(first))
        again = client.ask("tools/list")
        assert [tool["name"] for tool in again["result"]["tools"]] == names
        assert setting.runtime.pid != first


def test_what_keeps_the_daemon_from_starting_is_told(setting: Setting, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text("limit = 3", encoding="utf-8")
    with setting.client("--config", str(config)) as client:
        answer = client.ask("initialize", **HELLO)
        assert "there is no setting 'limit'" in answer["error"]["message"]
        assert str(config) in client.ask("tools/list")["error"]["message"]


def test_servers_end_with_the_daemon_and_no_secret_is_logged(setting: Setting, home: Path):
    fake = {"command": sys.executable, "args": ["-S", str(FAKE)], "permission": {"*": "read"}}
    path = own_file()
    path.write_text(json.dumps({"mcpServers": {"fake": fake}}), encoding="utf-8")
    setting.environ["TOOLCRIB_MCP_CONFIG"] = str(path)
    with GlobalOptions(None, (path,)).mcp() as servers:
        refresh_all(servers.sources)
    keys = keys_in(GlobalOptions().settings().state_folder)
    key = keys.add("laptop")
    with setting.client(TOOLCRIB_KEY=key) as client:
        client.greet()
        called = client.call("tool_call_read", name="mcp_fake_echo", arguments={"text": "hi"})
        assert called["content"][0]["text"] == "hi"
        status: Any = ask_daemon(setting.place, "status")
        assert named(status["clients"][0]["principal"]) == "key:laptop"
        assert status["clients"][0]["mode"] in {"search", "direct"}
        (server,) = status["servers"]
        assert (server["server"], server["state"]) == ("fake", "ready")
        assert server["tools"] == status["tools"]
        daemon = setting.runtime.pid
        started = below(daemon)
        assert started
        keys.remove("laptop")
        os.kill(daemon, signal.SIGTERM)
        until(lambda: not runs(daemon))
        assert "key is not known" in client.ask("tools/list")["error"]["message"]
    assert not left_of(started)
    said = b"".join(each.read_bytes() for each in home.rglob("*") if each.is_file())
    assert key.encode() not in said
