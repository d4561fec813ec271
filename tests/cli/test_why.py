import asyncio
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolcrib.crib import Crib
from toolcrib.errors import UnknownTool
from toolcrib.execute import Caller
from toolcrib.settings import load_settings


def test_why_tells_the_verdict_and_every_step(run: Run):
    ran = run("why", "read a file", "read_file")
    lines = ran.out.splitlines()
    assert lines[0] == "read_file for 'read a file': returned at rank 1."
    assert lines[1].split() == [
        "wording",
        "from",
        "weight",
        "like",
        "bm25",
        "bonus",
        "rank",
        "score",
    ]
    assert "plain words" in ran.out
    assert "What lifts it: " in ran.out
    assert "Hidden by: no filter." in ran.out
    assert "The cut leaves" in ran.out


def test_why_tells_what_the_chance_comes_from(run: Run):
    ran = run("why", "what stands on the disk", "read_file")
    assert ", by words alone: the best has " in ran.out


def test_why_not_is_told_too(run: Run):
    ran = run("why", "write_file", "read_file")
    assert "below the cut after 1" in ran.out
    assert "the best is write_file" in ran.out
    assert "What lifts the best: " in ran.out
    assert "name +10.00" in ran.out
    assert "not found" in run("why", "zzzqqq", "read_file").out


def test_why_by_keywords_tells_the_points(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCRIB_SEARCH__FUSION", "keywords")
    assert "103.00" in run("search", "write_file").out
    out = run("why", "write_file", "write_file").out
    assert "write_file for 'write_file': returned at rank 1." in out
    assert "What lifts it: name +3.00, whole name +100.00; in all +103.00." in out
    assert "Confidence of the answer: high (1.00)." in out
    assert "What lifts it: nothing; in all +0.00." in run("why", "zzzqqq", "read_file").out
    assert (
        ", by words alone: the best has 100% of what is asked."
        in run("why", "write file", "write_file").out
    )


@pytest.mark.parametrize("query", ["", "select:write_file", "+file", "/file/", "/(/"])
def test_why_has_an_answer_to_every_form_of_a_query(run: Run, query: str):
    ran = run("why", query, "write_file")
    assert ran.code == 0
    assert ran.out.startswith(f"write_file for {query!r}: ")


def test_the_limit_is_as_it_was_asked(run: Run):
    why = run("why", "file", "read_file", "--limit", "1", "--json").json
    assert why["limit"] == 1


def test_why_as_json_is_the_whole_explanation(run: Run):
    why = run("why", "read a file", "read_file", "--json").json
    assert (why["rank"], why["summary"], why["hidden"]) == (1, "returned at rank 1", "")
    assert why["wordings"][0]["ranks"].keys() == {"like", "bm25"}


def test_why_of_an_unknown_tool_is_an_error_with_the_nearest(run: Run):
    ran = run("why", "read a file", "raed_file")
    assert isinstance(ran.error, UnknownTool)
    assert "Nearest: read_file" in str(ran.error)


def test_what_was_learned_from_use_has_a_line_of_its_own(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text('store = "catalog.db"\n[search]\nlearn = true\n', encoding="utf-8")
    with Crib.from_settings(load_settings({}, config)) as crib:
        for caller in map(Caller, ("one", "two")):
            crib.search("which hour strikes now", caller=caller)
            assert asyncio.run(crib.call("current_time", caller=caller)).ok
    ran = run("--config", str(config), "why", "which hour strikes now", "current_time")
    assert "Learned from use: the score is 5.0% higher for it." in ran.out
    assert "Learned" not in run("why", "which hour strikes now", "current_time").out


def test_why_tells_what_prefetch_shows_at_once(run: Run):
    ran = run("why", "read_file", "read_file")
    assert "Prefetch (auto): shown before any search. 'read_file': high (1.00)" in ran.out
    assert "not shown before any search" in run("why", "zzzqqq", "read_file").out
    prefetch = run("why", "read_file", "read_file", "--json").json["prefetch"]
    [need] = prefetch["needs"]
    assert need["tools"] == ["read_file"]
