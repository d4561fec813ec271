"""From a program that registers to a call that launches it again, all through the crib."""

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.sources.apps.joining import PROGRAM
from tests.sources.apps.test_source import children
from tests.waiting import until
from toolcrib import Crib, Settings

NAME = "sdk_calendar_add_event"
ALLOW = {"rules": [{"verdict": "allow"}]}


def found(crib: Crib) -> dict[str, str]:
    return {hit.name: hit.state for hit in crib.search("put an event into the calendar")}


def call(crib: Crib, title: str):
    return asyncio.run(crib.call(NAME, {"title": title}))


def test_an_app_is_found_called_killed_found_and_launched(tmp_path: Path):
    program = tmp_path / "calendar_app.py"
    program.write_text(PROGRAM)
    settings = Settings.model_validate({"store": ":memory:", "approval": ALLOW})
    with Crib.from_settings(settings) as crib:
        assert NAME not in found(crib)
        crib.listen()
        by_hand = subprocess.Popen([sys.executable, program])
        try:
            until(lambda: NAME in crib.entries())
            assert found(crib)[NAME] == "ready"
            assert call(crib, "x").content == "added x"
        finally:
            by_hand.kill()
            by_hand.wait()
        until(lambda: found(crib)[NAME] == "asleep")
        assert call(crib, "y").content == "added y"
        assert found(crib)[NAME] == "ready"
    assert not children()
    with Crib.from_settings(settings) as later:
        assert found(later)[NAME] == "asleep"
        assert call(later, "z").content == "added z"
    assert not children()


def test_apps_that_are_not_enabled_are_not_there(tmp_path: Path):
    settings = Settings.model_validate({"store": ":memory:", "apps": {"enabled": False}})
    with Crib.from_settings(settings) as crib:
        assert not [name for name in crib.entries() if name.startswith("sdk_")]


def test_what_the_rules_do_not_allow_launches_nothing(tmp_path: Path):
    program = tmp_path / "calendar_app.py"
    program.write_text(PROGRAM)
    settings = Settings.model_validate({"store": ":memory:"})
    with Crib.from_settings(settings) as crib:
        crib.listen()
        by_hand = subprocess.Popen([sys.executable, program])
        until(lambda: NAME in crib.entries())
        by_hand.kill()
        by_hand.wait()
        until(lambda: found(crib)[NAME] == "asleep")
        error = call(crib, "y").error
        assert error
        assert error.code == "approval_needed"
        assert not children()
