"""An app whose tools were kept is not made into tools again."""

from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib.sources import StampedSource
from toolcrib.sources.apps import AppRegistry
from toolcrib.sources.apps import source as source_module
from toolcrib.sources.apps.cache import KnownApp, SDKToolsCache
from toolcrib.sources.apps.launch import AppRules, AppTimeouts
from toolcrib.sources.apps.source import AppSource

GOOD = {"name": "paint", "description": "Paint", "inputSchema": {"type": "object"}}
BAD = {"name": "", "description": "No name"}
APP = KnownApp("painter", "1", ("painter", "--serve"), (GOOD, BAD))
RULES = AppRules({}, frozenset(), AppTimeouts(1.0, 1.0))


def known(folder: Path, app: KnownApp = APP, rules: AppRules = RULES) -> AppSource:
    SDKToolsCache(folder / "known").write(app)
    (source,) = AppRegistry(folder, rules).sources
    return source


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The tools that were made."""
    seen: list[object] = []
    make = source_module.tool_from_json

    def count(raw, app, *, trusted):
        seen.append(raw)
        return make(raw, app, trusted=trusted)

    monkeypatch.setattr(source_module, "tool_from_json", count)
    return seen


def test_what_was_kept_of_an_app_is_not_made_again(tmp_path: Path, made: list[object]):
    earlier = known(tmp_path)
    assert isinstance(earlier, StampedSource)
    assert [each.name for each in earlier.capabilities()] == ["paint"]
    stamp, summary, problems = earlier.stamp(), earlier.summary(), earlier.problems
    assert len(problems) == 1
    made.clear()
    source = known(tmp_path)
    assert source.stamp() == stamp != ""
    source.adopt(summary)
    assert source.problems == problems
    assert source.state_of_all() == "asleep"
    assert made == []
    assert source.state("paint") == "asleep"
    assert made


def test_the_stamp_is_another_one_for_other_tools(tmp_path: Path):
    source = known(tmp_path)
    stamps = {
        source.stamp(),
        known(tmp_path, replace(APP, tools=({**GOOD, "description": "Draw"},))).stamp(),
        known(tmp_path, replace(APP, launch=("other",))).stamp(),
        known(tmp_path, rules=replace(RULES, trusted=frozenset({"painter"}))).stamp(),
    }
    assert len(stamps) == 4
    before = source.stamp()
    source.register([{**GOOD, "name": "draw"}])
    assert source.stamp() != before
    assert known(tmp_path, replace(APP, version="2")).stamp() == before


def test_what_was_adopted_holds_for_what_was_registered_then(tmp_path: Path):
    source = known(tmp_path)
    source.adopt({"refused": {"x": "is old"}})
    assert "is old" in source.problems[0]
    source.register([GOOD])
    assert source.problems == ()
    source.adopt({"another": "version"})
    assert source.problems == ()
