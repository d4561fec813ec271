"""`toolcrib serve` as a process, as one runs it in a terminal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.connect.test_process import HELLO, QUIET
from tests.waiting import HANG_S
from toolcrib.connect import ConnectOptions, locate_daemon
from toolcrib.system import RUN_FOLDER_VARIABLE

SERVE = [sys.executable, "-m", "toolcrib.cli", "serve"]


def test_it_says_where_it_serves_and_a_second_one_says_who_does(home: Path):
    environ = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        RUN_FOLDER_VARIABLE: str(home / "run"),
        **QUIET,
    }
    first = subprocess.Popen([*SERVE, "--json"], env=environ, stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout
        said = json.loads("".join(iter(first.stdout.readline, "}\n")) + "}")
        assert said["pid"] == first.pid
        assert said["address"].startswith("http://127.0.0.1:")
        assert said["protection"] == "this machine only"
        second = subprocess.run(SERVE, env=environ, capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert f"process {first.pid}" in second.stderr
        assert second.stderr.count("\n") == 1
    finally:
        first.send_signal(signal.SIGINT)
        assert first.wait(HANG_S) == 0
        first.communicate()
    assert locate_daemon(ConnectOptions(), environ).read_info() is None


def test_with_stdio_it_is_one_process_for_one_client(home: Path):
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], **QUIET}
    said = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    done = subprocess.run(
        [*SERVE, "--stdio"],
        env=environ,
        input=json.dumps(said) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=HANG_S,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "toolcrib"
