"""The client that apps are made with."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from tests.defaults import APP_RULES
from tests.sources.apps.joining import app_at, serving
from tests.waiting import HANG_S, until
from tests.workshop import soon
from toolcrib.app import App, progress
from toolcrib.errors import BadArguments, NameTaken
from toolcrib.model import Call
from toolcrib.sources.apps import AppRegistry, public_file

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "calendar_app.py"
GUIDE = ROOT / "docs" / "guide" / "apps.md"


def calendar(folder) -> App:
    app = app_at(folder, version="2", launch=["/bin/calendar"])

    @app.tool(permission_kind="dangerous", search_hint="diary")
    def add_event(title: str) -> str:
        """Put an event into the calendar."""
        return title.upper()

    @app.tool
    def fail() -> None:
        """Fail."""
        raise OSError("no paper")

    @app.tool
    def much() -> str:
        """Return much."""
        return "x" * 5_000_000

    assert add_event("x") == "X"
    assert fail
    assert much
    return app


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "apps"


def joined(apps: AppRegistry):
    until(lambda: apps.sources and apps.sources[0].capabilities() and apps.sources[0].connected)
    return apps.sources[0]


def test_functions_become_tools(folder):
    apps = AppRegistry(folder, APP_RULES)
    apps.listen()
    with serving(calendar(folder)):
        source = joined(apps)
        tool = source.capabilities()[0]
        assert (tool.name, tool.permission_kind) == ("add_event", "dangerous")
        assert (tool.description, tool.search_hint) == ("Put an event into the calendar.", "diary")
        assert tool.parameters["required"] == ["title"]
        assert (source.launch, source.record.version) == (("/bin/calendar",), "2")
        assert asyncio.run(source.call(Call("add_event", {"title": "a"}), soon())).content == "A"
        with pytest.raises(BadArguments, match="title"):
            asyncio.run(source.call(Call("add_event", {"titel": "a"}), soon()))
    until(lambda: not source.connected)
    apps.close()


def test_failures_are_told(folder):
    apps = AppRegistry(folder, APP_RULES)
    apps.listen()
    with serving(calendar(folder)):
        source = joined(apps)
        failed = asyncio.run(source.call(Call("fail"), soon())).error
        assert failed
        assert (failed.code, failed.effect) == ("tool_failed", "failed")
        assert "no paper" in failed.message
        large = asyncio.run(source.call(Call("much"), soon())).error
        assert large
        assert "cannot be sent" in large.message
    apps.close()


def test_an_app_waits_for_toolcrib_and_comes_back_to_it(folder):
    with serving(calendar(folder)):
        for _ in range(2):
            apps = AppRegistry(folder, APP_RULES)
            apps.listen()
            source = joined(apps)
            done = asyncio.run(source.call(Call("add_event", {"title": "a"}), soon()))
            assert done.content == "A"
            apps.close()


def test_a_name_that_no_app_may_have_is_told_at_once(folder):
    apps = AppRegistry(folder, APP_RULES)
    apps.listen()
    with pytest.raises(ValueError, match="refuses this app"):
        asyncio.run(asyncio.wait_for(app_at(folder, "a b").serve(), HANG_S))
    apps.close()


def test_a_tool_is_added_once(folder):
    app = calendar(folder)
    with pytest.raises(NameTaken):
        app.tool(name="fail")(lambda: 1)


def test_outside_of_a_call_progress_tells_nobody():
    progress(1)


def test_the_example_is_what_the_guide_shows_and_is_launched(folder):
    shown = indent(EXAMPLE.read_text(encoding="utf-8"), "    ")
    assert shown in GUIDE.read_text(encoding="utf-8")
    apps = AppRegistry(folder, APP_RULES)
    apps.listen()
    environ = {**os.environ, "TOOLCRIB_APPS_FILE": str(public_file(folder))}
    by_hand = subprocess.Popen([sys.executable, EXAMPLE], env=environ)
    source = joined(apps)
    by_hand.kill()
    by_hand.wait()
    until(lambda: not source.connected)
    call = Call("add_event", {"title": "Tea", "day": "Monday"})
    assert asyncio.run(source.call(call, soon())).content == "Tea is on Monday"
    apps.close()


def test_importing_it_loads_no_websockets():
    code = "import sys, toolcrib.app; sys.exit('websockets' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
