import asyncio
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolcrib.crib import Crib
from toolcrib.settings import load_settings


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Settings under which two tools were called one after the other, four times."""
    path = tmp_path / "settings.toml"
    path.write_text('store = "catalog.db"\n[search]\nlearn = true\n', encoding="utf-8")
    with Crib.from_settings(load_settings({}, path)) as crib:
        for _ in range(4):
            crib.search("tell the time")
            for name in ("current_time", "calculate"):
                arguments = {"expression": "1 + 1"} if name == "calculate" else {}
                assert asyncio.run(crib.call(name, arguments)).ok
    return str(path)


def test_hints_of_a_tool_are_a_table(run: Run, config: str):
    ran = run("--config", config, "hints", "current_time")
    assert ran.code == 0
    assert ran.out.startswith("current_time: often with ")
    assert ["calculate", "after", "it", "4"] in map(str.split, ran.out.splitlines())
    assert ["calculate", "before", "it", "3"] in map(str.split, ran.out.splitlines())


def test_hints_as_json_are_all_there_is(run: Run, config: str):
    hints = run("--config", config, "hints", "current_time", "--json").json
    assert hints["followers"] == {"calculate": 4}
    assert hints["predecessors"] == {"calculate": 3}
    assert "calculate" in hints["often_with"]
    assert hints["lessons"] == 2


def test_a_search_shows_what_a_hit_is_often_used_with(run: Run, config: str):
    assert "Often with current_time: calculate" in run("--config", config, "search", "time").out
    answer = run("--config", config, "search", "select:current_time", "--json").json
    assert "calculate" in answer["hits"][0]["often_with"]


def test_all_that_is_kept_is_shown_and_exported(run: Run, config: str):
    assert "2 pairs, 2 learned words." in run("--config", config, "hints").out
    kept = run("--config", config, "hints", "--json").json
    assert kept["pairs"][0] == {"before": "current_time", "after": "calculate", "count": 4}
    assert {(each["tool"], each["uses"]) for each in kept["lessons"]} == {("current_time", 1)}


def test_all_is_erased_only_if_that_is_meant(run: Run, config: str):
    ran = run("--config", config, "hints", "--forget")
    assert ran.code == 1
    assert "Erase all 2 pairs and 2 learned words?" in ran.err
    assert "2 pairs, 2 learned words." in run("--config", config, "hints").out
    assert run("--config", config, "hints", "--forget", "--yes", "--json").json["erased"] == 4
    assert run("--config", config, "hints").out == "Nothing is kept about use.\n"


def test_what_is_kept_of_one_tool_is_erased_even_if_it_is_gone(run: Run, config: str):
    assert "Erased: 0" in run("--config", config, "hints", "gone_tool", "--forget").out
    assert "Erased: 2" in run("--config", config, "hints", "calculate", "--forget").out
    assert run("--config", config, "hints", "--json").json["pairs"] == []


def test_without_use_there_is_nothing_and_no_file(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text('store = "catalog.db"\n', encoding="utf-8")
    assert run("--config", str(config), "hints").out == "Nothing is kept about use.\n"
    assert not (tmp_path / "catalog.db").exists()
