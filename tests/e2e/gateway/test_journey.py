"""A user's first hour: import, and everything works, for clients of both eras and for two hosts."""

from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from benchmarks.journey import begun, travel

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("installed")]


def daemons(home: Path) -> list[int]:
    """The processes that serve in this home: one for all clients, however they start it."""
    found: list[int] = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            serves = "serve" in process.cmdline() and process.environ().get("HOME") == str(home)
            found += [process.pid] if serves else []
    return found


def test_after_import_everything_works(tmp_path: Path):
    with begun(tmp_path) as journey:
        assert travel(journey) == []
        assert len(journey.steps) == 5
        assert len(daemons(journey.home.folder)) == 1
    assert daemons(journey.home.folder) == []


def test_after_setup_everything_works(tmp_path: Path):
    with begun(tmp_path) as journey:
        assert travel(journey, "setup", to_hosts=False) == []
        assert len(journey.steps) == 3
