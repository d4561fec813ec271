"""Without what only Unix has, everything works but the daemon, and that says so."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.mcp.faking import FAKE, left_of
from toolcrib.settings import own_servers_file

PROGRAM = Path(__file__).with_name("without_unix.py")
ROOT = PROGRAM.parents[1]
NEEDS_UNIX = "the daemon needs Unix"


def toolcrib(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    env = {name: os.environ[name] for name in ("HOME", "PATH")}
    paths = os.pathsep.join([str(ROOT), *sys.path])
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM), *words],
        env=env | {"PYTHONPATH": paths, "TOOLCRIB_EMBED__EMBEDDER": "none"},
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("search", "read a file"),
        ("why", "read a file", "read_file"),
        ("list",),
        ("show", "read_file"),
        ("call", "calculate", '{"expression": "1 + 1"}'),
        ("call", "list_directory"),
        ("tokens",),
        ("index",),
        ("hints",),
        ("servers",),
        ("apps",),
        ("lint",),
        ("keys", "add", "ann"),
        ("keys",),
        ("doctor",),
        ("refresh",),
    ],
    ids=" ".join,
)
def test_a_command_works(words: tuple[str, ...]):
    done = toolcrib(*words)
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode in {0, 1}, done.stderr
    assert NEEDS_UNIX not in done.stderr


@pytest.mark.parametrize(
    "words",
    [("serve",), ("connect",), ("gateway",), ("gateway", "stop"), ("approvals",)],
    ids=" ".join,
)
def test_what_needs_the_daemon_says_what_that_needs(words: tuple[str, ...]):
    done = toolcrib(*words)
    assert done.returncode == 2, done.stderr
    assert NEEDS_UNIX in done.stderr
    assert "serve --stdio" in done.stderr
    assert "Traceback" not in done.stderr


def test_servers_are_added_called_and_ended(home: Path):
    added = toolcrib("add", "fake", "--json", "--", sys.executable, "-S", str(FAKE))
    assert added.returncode == 0, added.stderr
    assert json.loads(added.stdout)["listed"]["tools"] > 0
    called = toolcrib("call", "mcp_fake_echo", '{"text": "hello"}', "--yes")
    assert called.stdout == "hello\n", called.stderr
    assert "fake" in json.loads(own_servers_file().read_text())["mcpServers"]
    removed = toolcrib("remove", "fake")
    assert removed.returncode == 0, removed.stderr
    assert home.exists()


def test_one_client_is_served_on_standard_input_and_output():
    about = {"name": "x", "version": "1"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": about}
    said = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    done = toolcrib("serve", "--stdio", given=json.dumps(said) + "\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "toolcrib"


def test_a_tree_without_a_launcher_is_ended_whole(tmp_path: Path):
    script = (
        "import asyncio, subprocess, sys; from tests.without_unix import hide; hide();"
        "from toolcrib.system.child_process import ChildProcess\n"
        'below = \'import os, subprocess, sys, time; subprocess.Popen([sys.executable, "-c",'
        ' "import time; time.sleep(1000)"]); print("up", flush=True); time.sleep(1000)\'\n'
        "async def main():\n"
        "    launched = ChildProcess([sys.executable, '-c', below], {'PATH': ''}, None)\n"
        "    launched.popen.stdout.readline()\n"
        "    import psutil\n"
        "    every = [launched.popen.pid, *(p.pid for p in"
        " psutil.Process(launched.popen.pid).children(recursive=True))]\n"
        "    await launched.end()\n"
        "    print(every)\n"
        "asyncio.run(main())\n"
    )
    paths = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": paths, "PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    every = json.loads(done.stdout)
    assert len(every) == 2
    assert left_of(every) == {}
