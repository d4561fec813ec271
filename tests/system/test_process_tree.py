import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.sources.mcp.faking import left_of
from toolcrib.system import process_tree
from toolcrib.system import process_tree as footprint

PARENT = (
    "import subprocess, sys, time;"
    "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)']);"
    "print('up', flush=True); time.sleep(1000)"
)


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
    for module in (process_tree, footprint):
        monkeypatch.setattr(module, "PROC", tmp_path / "proc")


@pytest.mark.usefixtures("_no_proc")
def test_without_proc_the_tree_is_known_and_ended(parent: int):
    below = process_tree.descendants(parent)
    assert len(below) == 1
    process_tree.kill_all(below)
    assert left_of([below[0].pid]) == {}


@pytest.mark.usefixtures("_no_proc")
def test_without_proc_its_memory_is_known(parent: int):
    whole = footprint.resident_bytes(parent)
    assert whole
    assert whole > process_tree.whole_tree(parent)[0].memory_info().rss
    assert footprint.resident_bytes(2**22 + 1) is None


def test_with_proc_the_launcher_sees_to_it(parent: int):
    assert process_tree.PROC.is_dir()
    assert process_tree.descendants(parent) == ()
