"""Each mark that a target of the Makefile runs is used in the folders that it looks into."""

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
