import contextlib
import os
import signal
import subprocess
import sys

import pytest

from tests.sources.mcp.faking import below, left_of
from tests.waiting import HANG_S
from toolcrib.system.process_tree import LAUNCHER

SLEEP = "import time; print('up', flush=True); time.sleep(600)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
DETACHED = (
    "import subprocess, sys;"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],"
    "start_new_session=True, stdout=subprocess.DEVNULL);"
)


@pytest.fixture
def launch():
    started = []

    def launch(*command):
        watched, leash = os.pipe()
        line = [sys.executable, "-I", "-S", str(LAUNCHER), str(watched), "--", *command]
        process = subprocess.Popen(
            line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=(watched,),
        )
        os.close(watched)
        started.append((process, leash))
        return process, leash

    yield launch
    for process, leash in started:
        with contextlib.suppress(OSError):
            os.close(leash)
        process.communicate(timeout=HANG_S)


def python(code):
    return sys.executable, "-S", "-c", code


def up(process):
    assert process.stdout.readline() == "up\n"
    return below(process.pid)


def test_the_status_and_the_streams_are_the_commands(launch):
    process, _ = launch(*python("import sys; print('out'); sys.stderr.write('err'); sys.exit(7)"))
    assert process.communicate(timeout=HANG_S) == ("out\n", "err")
    assert process.returncode == 7


def test_a_command_that_cannot_be_started_is_named(launch):
    process, _ = launch("/no/such/command")
    assert "/no/such/command" in process.communicate(timeout=HANG_S)[1]
    assert process.returncode == 127


@pytest.mark.parametrize("code", [SLEEP, STUBBORN, DETACHED + SLEEP, DETACHED + STUBBORN])
def test_all_ends_when_the_asker_lets_go(launch, code):
    process, leash = launch(*python(code))
    pids = up(process)
    assert len(pids) == (3 if DETACHED in code else 2)
    os.close(leash)
    process.communicate(timeout=HANG_S)
    assert left_of(pids) == {}


def test_all_ends_when_the_launcher_is_told_to(launch):
    process, _ = launch(*python(DETACHED + SLEEP))
    pids = up(process)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=HANG_S)
    assert left_of(pids) == {}


def test_what_the_command_leaves_behind_ends_with_it(launch):
    process, _ = launch(
        *python(
            DETACHED
            + "print('up', flush=True); time.sleep(0.3)".replace("time", "__import__('time')", 1)
        )
    )
    pids = up(process)
    assert len(pids) == 3
    process.communicate(timeout=HANG_S)
    assert left_of(pids) == {}


PARENT = "os.getppid()"
GRANDPARENT = f"int(open(f'/proc/{{{PARENT}}}/stat').read().rpartition(')')[2].split()[1])"


@pytest.mark.parametrize(
    "kill",
    [
        f"os.kill({PARENT}, signal.SIGKILL)",
        f"os.kill({GRANDPARENT}, signal.SIGKILL)",
        f"os.killpg(os.getpgid({PARENT}), signal.SIGKILL)",
    ],
    ids=["its parent", "its grandparent", "its parent's group"],
)
@pytest.mark.parametrize("before", ["", DETACHED], ids=["alone", "with a child elsewhere"])
def test_a_command_that_kills_who_started_it_leaves_nothing_behind(launch, before, kill):
    seen = "import os, signal, sys, time; print('up', flush=True); sys.stdin.readline();"
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    process, _ = launch(*python(f"{before}{seen} {ignore} {kill}; time.sleep(600)"))
    pids = up(process)
    assert len(pids) == (3 if before else 2)
    process.stdin.write("\n")
    process.communicate(timeout=HANG_S)
    assert left_of(pids) == {}


def test_the_command_inherits_no_other_descriptor(launch):
    code = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    process, _ = launch(*python(code))
    assert (
        process.communicate(timeout=HANG_S)[0].strip() == "['0', '1', '2', '3']"
    )  # 3 is the listing
