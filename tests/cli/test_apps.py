import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolcrib.errors import ConfigError
from toolcrib.settings import Settings
from toolcrib.sources.apps import KnownApp, SDKToolsCache, public_file
from toolcrib.sources.apps.address import AppAddress, write_address

TOOL = {"name": "add", "description": "Add.", "parameters": {"type": "object"}}


@pytest.fixture
def folder() -> Path:
    """Where two apps are known."""
    folder = Settings().state_folder / "apps"
    cache = SDKToolsCache(folder / "known")
    cache.write(KnownApp("calendar", "1.0", ("calendar", "--serve"), (TOOL,)))
    cache.write(KnownApp("notes"))
    return folder


def test_what_is_known_is_listed(run: Run, folder: Path):
    calendar, notes = run("apps", "list", "--json").json
    launch = ["calendar", "--serve"]
    assert calendar == {"app": "calendar", "version": "1.0", "tools": 1, "launch": launch}
    assert notes["launch"] == []
    shown = run("apps", "list").out
    assert "calendar --serve" in shown
    assert "by hand" in shown
    assert len(run("apps", "list", "notes", "--json").json) == 1


def test_a_launch_command_is_accepted_and_the_tools_stay(run: Run, folder: Path):
    calendar, _ = run("apps", "set-command", "calendar", "--json", "--", "/opt/calendar", "-x").json
    assert (calendar["launch"], calendar["tools"]) == (["/opt/calendar", "-x"], 1)


def test_an_app_is_forgotten(run: Run, folder: Path):
    assert [row["app"] for row in run("apps", "forget", "calendar", "--json").json] == ["notes"]
    assert "nearest: notes" in str(run("apps", "forget", "note").error)


def test_nothing_is_changed_under_a_process_that_serves_them(run: Run, folder: Path):
    write_address(public_file(folder), AppAddress(1, "token", os.getpid()))
    for change in (["forget", "calendar"], ["set-command", "calendar", "--", "x"]):
        ran = run("apps", *change)
        assert isinstance(ran.error, ConfigError)
        assert f"process {os.getpid()}" in str(ran.error)
    assert len(run("apps", "list", "--json").json) == 2


def test_without_any_there_is_a_way_on(run: Run):
    assert "No app has registered yet" in run("apps", "list").out
