"""A user's first hour: import, and everything works, for clients of both eras and for two hosts."""

from pathlib import Path

import pytest

from benchmarks.journey import begun, travel

pytestmark = [pytest.mark.clients, pytest.mark.usefixtures("installed")]


def test_after_import_everything_works(tmp_path: Path):
    with begun(tmp_path) as journey:
        assert travel(journey) == []
        assert len(journey.steps) == 5


def test_after_setup_everything_works(tmp_path: Path):
    with begun(tmp_path) as journey:
        assert travel(journey, "setup", to_hosts=False) == []
        assert len(journey.steps) == 3
