from pathlib import Path

import pytest

from benchmarks import same_answers
from tests.benchmarks.test_growth import earlier_checkout


def test_what_differs_is_counted_and_shown():
    before = {"a": ["x", "y"], "b": ["x"], "c": ["x", "y"], "d": []}
    now = {"a": ["x", "y"], "b": ["z"], "c": ["y", "x"], "d": []}
    [summary, *others] = same_answers.compared(before, now)
    assert summary == "4 answers, 50.00 % the same; 1 in another order, 1 with other tools"
    assert others[0] == "- 'b'\n  before: ['x']\n  now:    ['z']"
    assert len(others) == 2


def test_an_answer_that_is_missing_is_another():
    [summary, _] = same_answers.compared({"a": ["x"]}, {})
    assert "0.00 % the same" in summary


def test_a_checkout_answers_as_itself(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    before = earlier_checkout(tmp_path / "before")
    same_answers.main(
        ["--bench-dir", str(bench), "--before", str(before), "--size", "9", "--queries", "6"]
    )
    assert capsys.readouterr().out.startswith("6 answers, 100.00 % the same")
