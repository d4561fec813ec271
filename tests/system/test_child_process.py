"""A process behind the launcher, and its end."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.mcp.faking import below, left_of, zombies
from tests.waiting import HANG_S, until
from toolcrib.system import ChildProcess

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(1, flush=True)
time.sleep(60)
"""


def started(code: str) -> tuple[ChildProcess, set[int]]:
    """A program that has begun, and all its processes."""
    before = below(os.getpid())
    launched = ChildProcess([sys.executable, "-S", "-c", code], {}, None)
    assert launched.popen.stdout
    launched.popen.stdout.read(1)
    return launched, below(os.getpid()) - before


def ended(launched: ChildProcess, patience_s: float = 0.0) -> None:
    asyncio.run(launched.end(patience_s=patience_s))
    assert launched.popen.stdout
    launched.popen.stdout.close()


def test_it_is_ended_however_stubborn_it_is():
    launched, pids = started(STUBBORN)
    assert len(pids) == 3
    ended(launched)
    assert left_of(pids) == {}
    assert zombies() == []


def test_one_that_exits_by_itself_in_time_is_let_be():
    launched, _ = started("print(1, flush=1); import sys; sys.exit(7)")
    ended(launched, patience_s=10)
    assert launched.status == 7


def test_what_is_below_goes_too_when_somebody_killed_the_launcher():
    launched, pids = started(STUBBORN)
    os.kill(launched.popen.pid, signal.SIGKILL)
    launched.popen.wait()
    ended(launched)
    assert left_of(pids) == {}


KILLS_BOTH = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleep = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
subprocess.Popen(sleep, start_new_session=True, stdout=subprocess.DEVNULL)
print(1, flush=True)
sys.stdin.readline()
parent = os.getppid()
grandparent = int(open(f"/proc/{parent}/stat").read().rpartition(")")[2].split()[1])
for each in (grandparent, parent):
    os.kill(each, signal.SIGSTOP)
for each in (parent, grandparent):
    os.kill(each, signal.SIGKILL)
time.sleep(600)
"""


def test_one_that_kills_all_who_could_end_it_is_found_and_ended():
    before = below(os.getpid())
    command = [sys.executable, "-S", "-c", KILLS_BOTH]
    launched = ChildProcess(command, {}, None, stdin=subprocess.PIPE)
    assert launched.popen.stdout
    assert launched.popen.stdin
    launched.popen.stdout.read(1)
    pids = below(os.getpid()) - before
    assert len(pids) == 4
    launched.popen.stdin.close()
    launched.popen.wait()
    ended(launched)
    assert left_of(pids) == {}


def test_a_command_is_looked_up_in_its_own_folder_and_path(tmp_path: Path):
    program = tmp_path / "hello"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o700)
    in_folder, on_path = ("./hello", {}, str(tmp_path)), ("hello", {"PATH": str(tmp_path)}, None)
    for command, env, cwd in (in_folder, on_path):
        launched = ChildProcess([command], env, cwd)
        assert launched.popen.stdout
        assert launched.popen.stdout.read() == b"hello\n"
        ended(launched)


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_what_is_not_there_leaves_no_descriptor_behind():
    before = descriptors()
    for _ in range(3):
        with pytest.raises(FileNotFoundError, match="no such command"):
            ChildProcess(["no-such-command"], {}, None, stdin=subprocess.PIPE)
    assert descriptors() == before


INSTALLS = """
import pathlib, sys, time
print(1, flush=True)
sys.stdin.read()
for _ in range(200):
    print("x" * 4096, file=sys.stderr, flush=True)
    print("x" * 4096, flush=True)
pathlib.Path(sys.argv[1]).write_text("whole")
time.sleep(float(sys.argv[2]))
"""


def installing(done: Path, *, finish_s: float = HANG_S, lasts_s: float = 0.0) -> ChildProcess:
    """A program that finishes something once nobody listens any more, and says much meanwhile."""
    command = [sys.executable, "-S", "-c", INSTALLS, str(done), str(lasts_s)]
    pipe = subprocess.PIPE
    launched = ChildProcess(command, {}, None, stdin=pipe, stderr=pipe, finish_s=finish_s)
    assert launched.popen.stdout
    launched.popen.stdout.read(1)
    return launched


def left(launched: ChildProcess) -> None:
    """As whoever gives up a start leaves it, or whoever dies."""
    for pipe in (launched.popen.stdin, launched.popen.stdout, launched.popen.stderr):
        assert pipe
        pipe.close()


def test_an_install_is_finished_though_nobody_waits_for_it(tmp_path: Path):
    before = below(os.getpid())
    launched = installing(tmp_path / "done")
    pids = below(os.getpid()) - before
    asyncio.run(launched.end())
    left(launched)
    until((tmp_path / "done").exists)
    assert left_of(pids) == {}
    assert zombies() == []


def test_an_install_that_does_not_end_is_ended_after_a_while(tmp_path: Path):
    before = below(os.getpid())
    launched = installing(tmp_path / "done", finish_s=0.5, lasts_s=600)
    pids = below(os.getpid()) - before
    asyncio.run(launched.end())
    left(launched)
    assert left_of(pids) == {}


def test_what_is_installed_is_ended_at_once(tmp_path: Path):
    before = below(os.getpid())
    launched = installing(tmp_path / "done", lasts_s=600)
    pids = below(os.getpid()) - before
    launched.settle()
    asyncio.run(launched.end())
    left(launched)
    assert left_of(pids) == {}
    assert not (tmp_path / "done").exists()
