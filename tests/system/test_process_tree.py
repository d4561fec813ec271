import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sources.mcp.faking import left_of
from toolcrib.system import process_tree, resident_bytes

PARENT = (
    "import subprocess, sys, time;"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']);"
    "print('up', flush=True); time.sleep(1000)"
)


LARGE = "x = 'x' * 40_000_000; print(flush=True); input()"
LARGE_BELOW = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-S", "-c", {LARGE!r}], stdin=subprocess.PIPE)
input()
child.communicate(b"\\n")
"""


@pytest.fixture
def parent() -> Generator[int]:
    """A process with one below it."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as started:
        assert started.stdout
        started.stdout.readline()
        yield started.pid
        process_tree.kill_all(process_tree.whole_tree(started.pid))


@pytest.fixture
def _no_proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_tree, "PROC", tmp_path / "proc")


@pytest.mark.usefixtures("_no_proc")
def test_without_proc_the_tree_is_known_and_ended(parent: int):
    below = process_tree.descendants(parent)
    assert len(below) == 1
    process_tree.kill_all(below)
    assert left_of([below[0].pid]) == {}


@pytest.mark.usefixtures("_no_proc")
def test_without_proc_its_memory_is_known(parent: int):
    whole = resident_bytes(parent)
    assert whole
    assert whole > process_tree.whole_tree(parent)[0].memory_info().rss
    assert resident_bytes(2**22 + 1) is None


def test_with_proc_the_launcher_sees_to_it(parent: int):
    assert process_tree.PROC.is_dir()
    assert process_tree.descendants(parent) == ()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no such folder on this system")
def test_all_below_a_process_counts():
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", LARGE_BELOW],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    taken = resident_bytes(process.pid)
    process.communicate(b"\n")
    assert taken
    assert 40_000_000 < taken < 400_000_000


ORPHAN = """
import subprocess, sys
middle = "import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1]])"
large = "import sys; kept = bytearray(50_000_000); print(flush=True); sys.stdin.read()"
subprocess.run([sys.executable, "-S", "-c", middle, large], check=True)
sys.stdin.read()
"""
"""What the process in the middle has started is nobody's child when it has ended."""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no such folder on this system")
def test_what_its_parent_has_left_counts_too():
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", ORPHAN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout
    process.stdout.readline()
    taken = resident_bytes(process.pid)
    process.communicate()
    assert taken
    assert taken > 50_000_000


def test_a_process_that_is_not_there_takes_nothing_that_we_know(monkeypatch, tmp_path):
    assert resident_bytes(2**22 + 1) is None
    monkeypatch.setattr(process_tree, "PROC", tmp_path)
    assert resident_bytes(os.getpid()) is None
