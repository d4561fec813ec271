import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolcrib.system import process_tree, resident_bytes

CHILD = "x = 'x' * 40_000_000; print(flush=True); input()"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-S", "-c", {CHILD!r}], stdin=subprocess.PIPE)
input()
child.communicate(b"\\n")
"""


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no such folder on this system")
def test_all_below_a_process_counts():
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout
    process.stdout.readline()
    taken = resident_bytes(process.pid)
    process.communicate(b"\n")
    assert taken
    assert 40_000_000 < taken < 400_000_000


def test_a_process_that_is_not_there_takes_nothing_that_we_know(monkeypatch, tmp_path):
    assert resident_bytes(2**22 + 1) is None
    monkeypatch.setattr(process_tree, "PROC", tmp_path)
    assert resident_bytes(os.getpid()) is None
