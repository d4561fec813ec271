"""No test is out of reach of the targets of the Makefile, nor of CI."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
MAKEFILE = (TESTS.parent / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize("mark", ["browser", "clients", "extras", "release"])
def test_no_test_with_a_mark_is_out_of_reach_of_its_target(mark: str):
    [command] = re.findall(rf"pytest -m {mark} (.*)", MAKEFILE)
    folders = [TESTS.parent / word for word in command.split() if word.startswith("tests/")]
    marked = [
        path
        for path in TESTS.rglob("test_*.py")
        if f"pytest.mark.{mark}" in path.read_text(encoding="utf-8") and path != Path(__file__)
    ]
    assert marked
    assert not [path for path in marked if not any(path.is_relative_to(each) for each in folders)]


def test_what_the_short_run_leaves_out_is_what_the_journeys_run():
    assert re.findall(r"pytest .*--ignore=,(\S+)\)", MAKEFILE) == ["$(JOURNEYS)"]
    assert re.findall(r"pytest (\S+) --numprocesses\S+ --dist=worksteal", MAKEFILE) == [
        "$(JOURNEYS)"
    ]
    [journeys] = re.findall(r"^JOURNEYS := ((?:.*\\\n)*.*)", MAKEFILE, re.MULTILINE)
    assert all((TESTS.parent / each).exists() for each in journeys.replace("\\\n", " ").split())


@pytest.mark.parametrize("target", ["test", "journeys", "clients", "browser", "postgres", "check"])
def test_ci_runs_each_target_of_tests(target: str):
    commands = (TESTS.parent / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(rf"^make .*\b{target}\b", commands, re.MULTILINE)
