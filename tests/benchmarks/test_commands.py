"""Commands are timed in turns, and each checkout has its own column."""

import stat
import sys
from pathlib import Path

import pytest

from benchmarks import commands
from benchmarks.home import Home, Unusable

PROGRAM = """#!{python}
import sys, time
if "serve" in sys.argv:
    time.sleep(600)
if "fail" in sys.argv:
    sys.exit("broken")
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that takes every command and does nothing."""
    file = tmp_path / "toolcrib"
    file.write_text(PROGRAM.format(python=sys.executable))
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def test_a_row_for_each_command_and_a_column_for_each_checkout(tmp_path: Path, program: Path):
    checkouts = [
        commands.make_checkout(tmp_path / name, name, program, 300, vectors=False)
        for name in ("now", "before")
    ]
    assert len(list(checkouts[0].large.folder.glob("s*.json"))) == 2
    head, _, *rows = commands.measured_table(checkouts, 1).splitlines()
    assert head == "| command | now | before |"
    assert len(rows) == len(commands.ALONE) + len(commands.BESIDE)


def test_a_command_that_fails_is_no_figure(tmp_path: Path, program: Path):
    home = Home(tmp_path)
    with pytest.raises(Unusable, match="broken"):
        commands.Checkout("now", program, home, home).run(home, "fail")
