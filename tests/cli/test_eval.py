import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from toolcrib.errors import EvalError

TOOLS = [
    {"id": "t1", "name": "read_file", "description": "Read a file", "lang": "en"},
    {"id": "t2", "name": "send_message", "description": "Send a message"},
]
QUERIES = [
    {"id": "q1", "query": "read_file", "relevant": ["t1"], "split": "names"},
    {"id": "q2", "query": "zzz", "relevant": ["t2"], "split": "needs", "instruction": "send it"},
    {"id": "q3", "query": "cake", "relevant": [], "split": "needs"},
]


def lines(values: Sequence[object]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.fixture
def suite(tmp_path: Path) -> list[str]:
    """The command and its two files."""
    (tmp_path / "c.jsonl").write_text(lines(TOOLS), encoding="utf-8")
    (tmp_path / "q.jsonl").write_text(lines(QUERIES), encoding="utf-8")
    return ["eval", "--catalog", str(tmp_path / "c.jsonl"), "--queries", str(tmp_path / "q.jsonl")]


def test_the_measures_are_shown_by_split_and_for_all(run: Run, suite: list[str]):
    ran = run(*suite)
    assert ran.code == 0
    rows = {line.split()[0]: line.split()[1:] for line in ran.out.splitlines() if line.strip()}
    assert rows["names"] == ["1", "100.0", "100.0", "100.0", "100.0", "100.0", "0", "-"]
    assert "Keys not used, with how many lines have them: c.jsonl: lang 1." in ran.out
    assert "by query" in ran.out
    assert "by instruction" in ran.out


def test_the_measures_as_json(run: Run, suite: list[str]):
    result = run(*suite, "--json").json
    assert result["query"]["total"]["recall_5"] == 0.5
    assert result["query"]["total"]["left_empty"] == 1
    assert result["query"]["splits"].keys() == {"names", "needs"}
    assert result["instruction"]["total"]["recall_5"] == 1
    assert result["unused"] == {"c.jsonl: lang": 1}


def test_the_rankings_are_written_for_every_query(run: Run, suite: list[str], tmp_path: Path):
    out = tmp_path / "run.jsonl"
    assert run(*suite, "--run", str(out)).code == 0
    assert [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] == [
        {"id": "q1", "ranked": ["t1"]},
        {"id": "q2", "ranked": []},
        {"id": "q3", "ranked": []},
    ]


@pytest.mark.parametrize(("bar", "code"), [("50", 0), ("50.1", 1), ("0", 0), ("100", 1)])
def test_below_the_bar_it_fails(run: Run, suite: list[str], bar: str, code: int):
    ran = run(*suite, "--min-recall5", bar)
    assert ran.code == code
    assert ("R@5 is 50.0, below the bar of" in ran.err) == bool(code)
    assert "100.0" in ran.out  # and shows the measures all the same


@pytest.mark.parametrize("option", ["--min-recall5=101", "--min-recall5=-1", "--limit=9"])
def test_options_out_of_range_are_refused(run: Run, suite: list[str], option: str):
    assert run(*suite, option).code == 2


def test_files_that_cannot_be_used_are_an_error_that_says_where(
    run: Run, suite: list[str], tmp_path: Path
):
    (tmp_path / "q.jsonl").write_text('{"id": "q1"}\n', encoding="utf-8")
    ran = run(*suite)
    assert isinstance(ran.error, EvalError)
    assert f"{tmp_path / 'q.jsonl'}:1: " in str(ran.error)


def test_a_place_that_cannot_be_written_to_is_an_error(run: Run, suite: list[str], tmp_path: Path):
    ran = run(*suite, "--run", str(tmp_path / "no" / "folder"))
    assert isinstance(ran.error, EvalError)
    assert "cannot be written" in str(ran.error)


@pytest.mark.parametrize("index", ["memory", "sqlite"])
def test_both_engines_measure_alike(
    run: Run, suite: list[str], index: str, monkeypatch: pytest.MonkeyPatch, home: Path
):
    monkeypatch.setenv("TOOLCRIB_INDEX", index)
    assert run(*suite, "--json").json["query"]["total"]["mrr"] == 0.5
    assert not list(home.rglob("*"))
