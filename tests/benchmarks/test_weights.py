from pathlib import Path

import pytest

from benchmarks.folder import find_sets
from benchmarks.weights import choices, main, report, tried
from tests.workshop import search_rules

SET = search_rules().arms


def test_every_choice_is_tried_on_a_set(bench: Path):
    (big,) = find_sets(bench, ["mcp_big"]).sets
    found = tried(big, None, 10)
    assert list(found) == choices()
    assert SET in found
    assert found[SET] == 100


def test_sets_count_alike_and_are_also_judged_by_what_is_best_for_the_others():
    best, other = choices()[0], choices()[1]
    one = dict.fromkeys(choices(), 10.0) | {best: 50.0, other: 20.0}
    two = dict.fromkeys(choices(), 10.0) | {best: 40.0, other: 80.0}
    said = report([one, two])
    assert f"Best: `{other}` with 50.00" in said
    assert "on sets not learned from 30.00" in said


def test_without_sets_it_says_so(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(["--bench-dir", "/nowhere"])
    assert "/nowhere" in capsys.readouterr().err
