"""Servers in a box: bubblewrap for real, containers by the command line that would start them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.mcp.conftest import call
from tests.sources.mcp.faking import FAKE, left_of, processes, text
from toolcrib.errors import ConfigError
from toolcrib.sources.mcp import ServerCommand, ServerConfig, read_servers, read_table
from toolcrib.sources.mcp.config.server import Isolation
from toolcrib.sources.mcp.identity import config_hash, program_hash
from toolcrib.sources.mcp.transport.isolation import exposed_secrets, launch_plan

LOOK = """
import json, os, socket, sys
def answer(id, result):
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
def seen(path):
    try:
        with open(path) as file: return file.read()
    except OSError as error: return type(error).__name__
def written(path):
    try:
        with open(path, "w") as file: return file.write("x")
    except OSError as error: return type(error).__name__
def network():
    try:
        socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), 5).close()
        return "reached"
    except OSError as error: return type(error).__name__
WAYS = {"seen": seen, "written": written, "network": lambda _: network(),
        "variables": lambda _: sorted(os.environ), "pids": lambda _: os.getpid(),
        "home": lambda _: os.listdir(os.path.expanduser("~"))}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        answer(asked["id"], {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                             "serverInfo": {"name": "look", "version": "1"}})
    elif asked["method"] == "tools/list":
        names = [{"name": name, "inputSchema": {"type": "object"}} for name in WAYS]
        answer(asked["id"], {"tools": names})
    elif asked["method"] == "tools/call":
        given = asked["params"].get("arguments") or {}
        said = WAYS[asked["params"]["name"]](given.get("path"))
        answer(asked["id"], {"content": [{"type": "text", "text": json.dumps(said)}]})
    elif "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"],
                          "error": {"code": -32601, "message": "no"}}), flush=True)
"""


def boxes_work() -> str:
    """Why bubblewrap cannot be tried here; empty if it can."""
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed; `python scripts/install_bubblewrap.py` does it"
    line = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"]
    tried = subprocess.run(line, capture_output=True, text=True, check=False)
    return f"no namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


WHY_NOT = boxes_work()
boxed = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the configuration of a server that looks around, in a home with something in it."""
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / "secret").write_text("s3cret")
    (home / "notes" / "a").write_text("a note")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UNRELATED", "s3cret")
    script = tmp_path / "program" / "look.py"
    script.parent.mkdir()
    script.write_text(LOOK)

    def make(*paths: tuple[str, Any], network: bool = True, **env: str) -> ServerConfig:
        isolation = Isolation("bwrap", paths, network)
        command = ServerCommand(sys.executable, ("-S", str(script)), env, isolation=isolation)
        return ServerConfig("look", command)

    return make


def said(source: Any, tool: str, **arguments: Any) -> Any:
    return json.loads(text(call(source, tool, **arguments)))


@boxed
def test_a_boxed_server_sees_what_it_is_given_and_nothing_else(
    shop: Any, look: Any, tmp_path: Path
):
    home = tmp_path / "home"
    notes = str(home / "notes")
    source = shop.listed(look((notes, "ro"), TOKEN="mine"))
    assert said(source, "seen", path=f"{notes}/a") == "a note"
    assert said(source, "written", path=f"{notes}/a") == "OSError"
    assert said(source, "seen", path=str(home / "secret")) == "FileNotFoundError"
    assert said(source, "seen", path="/etc/shadow") == "FileNotFoundError"
    assert said(source, "written", path="/usr/x") == "OSError"
    assert said(source, "home") == ["notes"]
    assert said(source, "pids") < 100
    variables = said(source, "variables")
    assert "TOKEN" in variables
    assert "UNRELATED" not in variables
    assert (home / "notes" / "a").read_text() == "a note"


@boxed
def test_what_may_be_written_is_written_and_its_home_lasts(shop: Any, look: Any, tmp_path: Path):
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    source = shop.listed(look((str(work), "rw")))
    assert said(source, "written", path=f"{work}/new") == 1
    assert (work / "new").read_text() == "x"
    assert said(source, "written", path=f"{home}/kept") == 1
    assert not (home / "kept").exists()
    again = shop.listed(look((str(work), "rw")))
    assert said(again, "home") == ["kept"]
    other = shop.listed(replace(look(), id="other"))
    assert said(other, "home") == []


@boxed
def test_the_network_can_be_shut(shop: Any, look: Any):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = str(listening.getsockname()[1])
        assert said(shop.listed(look(PORT=port)), "network") == "reached"
        shut = shop.listed(replace(look(network=False, PORT=port), id="shut"))
        assert said(shut, "network") != "reached"


@boxed
def test_nothing_of_a_box_outlives_its_end(shop: Any, look: Any):
    """The fixture looks that no process is left; here, that there were some."""
    source = shop.listed(look())
    assert said(source, "pids")
    every, inside = processes(), shop.processes()
    assert any("bwrap" in every[pid][1] for pid in inside if pid in every)
    shop.reopen()
    assert left_of(inside) == {}


@boxed
def test_a_box_whose_launcher_is_killed_ends(shop: Any, look: Any):
    source = shop.listed(look())
    assert said(source, "pids")
    inside = shop.processes()
    os.kill(source._supervisor.pid, signal.SIGKILL)
    assert left_of(inside) == {}
    assert said(source, "pids")


@pytest.mark.parametrize("tool", ["bwrap", "docker", "podman"])
def test_a_box_that_is_not_installed_is_an_error_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tool: Any
):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=rf"run in {tool}, which is not installed; install"):
        launch_plan("a", ServerCommand("npx", isolation=Isolation(tool)), {})


@boxed
def test_a_command_that_is_not_there_is_told_as_without_a_box():
    with pytest.raises(ConfigError, match="'no-such-command' is not there; install it"):
        launch_plan("a", ServerCommand("no-such-command", isolation=Isolation("bwrap")), {})


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A client of containers that runs the command itself, and notes what it was asked."""
    folder, asked = tmp_path / "bin", tmp_path / "asked"
    folder.mkdir()
    program = folder / "docker"
    program.write_text(
        f"#!{sys.executable} -S\n"
        "import json, os, sys\n"
        f"with open({str(asked)!r}, 'a') as file: file.write(json.dumps(sys.argv[1:]) + '\\n')\n"
        "if sys.argv[1] == 'run':\n"
        "    line = sys.argv[sys.argv.index('img:1') + 1:]\n"
        "    os.execvp(line[0], line)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return asked


def test_a_container_is_run_called_and_taken_away_by_its_name(shop: Any, engine: Path):
    isolation = Isolation("docker", ((str(FAKE.parent), "rw"),), False, "img:1")
    command = ServerCommand(
        sys.executable, ("-S", str(FAKE)), {"TOKEN": "s3cret-1"}, isolation=isolation
    )
    source = shop.listed(ServerConfig("My Server", command))
    assert text(call(source, "echo", text="hi")) == "hi"
    source._loop.submit(source._supervisor.close()).result()
    asked = [json.loads(line) for line in engine.read_text().splitlines()]
    run = asked[0]
    names = {line[line.index("--name") + 1] for line in asked if line[0] == "run"}
    assert {line[-1] for line in asked if line[:2] == ["rm", "--force"]} == names
    assert all(name.startswith("toolcrib-my-server-") for name in names)
    assert run[:4] == ["run", "-i", "--rm", "--init"]
    assert run[run.index("--network") + 1] == "none"
    assert "s3cret-1" not in " ".join(run)
    assert f"type=bind,src={FAKE.parent},dst={FAKE.parent}" in run
    assert run[run.index("img:1") :] == ["img:1", sys.executable, "-S", str(FAKE)]


def test_the_usual_runners_have_an_image_and_others_name_one(engine: Path):
    words = launch_plan(
        "a", ServerCommand("npx", ("-y", "x"), isolation=Isolation("docker")), {}
    ).words
    assert words[-4:] == ("node:lts-slim", "npx", "-y", "x")
    assert "--network" not in words
    with pytest.raises(ConfigError, match="isolation_image"):
        launch_plan("a", ServerCommand("my-server", isolation=Isolation("docker")), {})
    with pytest.raises(ConfigError, match="is not there"):
        launch_plan(
            "a", ServerCommand("npx", isolation=Isolation("docker", (("/no/such", "ro"),))), {}
        )


def test_the_keys_of_an_entry(tmp_path: Path):
    entry: dict[str, Any] = {
        "command": "npx",
        "isolation": "podman",
        "isolation_paths": {"~/notes": "ro", "work": "rw"},
        "isolation_network": False,
        "isolation_image": "img",
    }
    found = read_table(tmp_path / "servers.json", {"a": entry})
    assert found.problems == ()
    transport = found.servers[0].transport
    assert isinstance(transport, ServerCommand)
    notes, work = str(Path("~/notes").expanduser()), str(tmp_path / "work")
    wanted = Isolation("podman", ((notes, "ro"), (work, "rw")), False, "img")
    assert transport.isolation == wanted


@pytest.mark.parametrize(
    ("keys", "told", "usable"),
    [
        ({"isolation": "bubblewrap"}, "one of docker, podman, bwrap", False),
        ({"isolation": True}, "one of docker, podman, bwrap", False),
        ({"isolation_network": False}, "means nothing without `isolation`", True),
        ({"isolation": "bwrap", "isolation_paths": ["/a"]}, "an object of paths", True),
        ({"isolation": "bwrap", "isolation_paths": {"/a": "w"}}, "an object of paths", True),
        ({"isolation": "bwrap", "isolation_network": "no"}, "true or false", True),
    ],
)
def test_what_cannot_be_read_opens_no_box(
    tmp_path: Path, keys: dict[str, Any], told: str, usable: bool
):
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"a": {"command": "npx", **keys}}}))
    found = read_servers([file])
    assert told in found.problems[0]
    assert bool(found.servers) == usable
    if usable and "isolation" in keys:
        transport = found.servers[0].transport
        assert isinstance(transport, ServerCommand)
        assert transport.isolation
        assert transport.isolation.paths == ()
        assert transport.isolation.network is ("isolation_network" not in keys)


def test_a_box_is_for_commands_and_another_box_is_another_configuration(tmp_path: Path):
    far = {"url": "https://x/mcp", "isolation": "bwrap"}
    assert "runs elsewhere" in read_table(tmp_path / "x", {"a": far}).problems[0]
    plain, key = ServerCommand("npx", ("-y", "x")), bytes(32)
    boxed = replace(plain, isolation=Isolation("bwrap"))
    assert config_hash(plain, key) != config_hash(boxed, key)
    assert program_hash(plain, key) == program_hash(boxed, key)


@pytest.mark.parametrize("tool", ["bwrap", "docker"])
def test_files_with_secrets_in_a_folder_that_is_handed_in_are_named(tmp_path: Path, tool: Any):
    script = tmp_path / "app" / "server.py"
    script.parent.mkdir()
    script.write_text("")
    command = ServerCommand("python3", (str(script),), isolation=Isolation(tool))
    assert exposed_secrets(command) == []
    for name in (".env", ".env.local", "tls.pem", "notes.md"):
        (script.parent / name).write_text("x")
    found = [Path(each).name for each in exposed_secrets(command)]
    assert found == [".env", ".env.local", "tls.pem"]
    assert exposed_secrets(replace(command, isolation=None)) == ()
    asked_for = Isolation(tool, ((str(script.parent), "ro"),))
    assert exposed_secrets(replace(command, isolation=asked_for)) == []
