"""The PostgreSQL of the tests leaves nothing behind, however a worker ends."""

import subprocess
import sys
from pathlib import Path

import psutil

from tests.waiting import until

KILLED = """
import os, signal, subprocess, sys
from pathlib import Path
from tests.postgres import ended_with_this_process
server = subprocess.Popen(["/bin/sleep", "1000"], stdout=subprocess.DEVNULL)
watcher = ended_with_this_process(server.pid, Path(sys.argv[1]))
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_server_ends_with_a_worker_that_is_killed(tmp_path: Path):
    folder = tmp_path / "server"
    folder.mkdir()
    root = Path(__file__).parents[1]
    command = [sys.executable, "-c", KILLED, str(folder)]
    killed = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=False)
    try:
        until(lambda: not _runs(int(killed.stdout)), "the server has ended")
    finally:
        if _runs(int(killed.stdout)):
            psutil.Process(int(killed.stdout)).kill()
    until(lambda: not folder.exists(), "its folder is gone")


def _runs(process: int) -> bool:
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
