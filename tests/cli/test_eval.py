import asyncio
import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import NASTY, Run
from toolcrib import Caller, Crib, Settings
from toolcrib.errors import ConfigError, EvalError
from toolcrib.evaluate import evaluation, load_cases
from toolcrib.evaluate.evaluation import EvalFound
from toolcrib.search import Search
from toolcrib.settings import load_settings

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
    assert rows["names"] == ["1", *["100.0"] * 5, "0.0", "0", "-"]
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


def test_the_action_word_may_be_left_out_before_a_file(run: Run, tmp_path: Path):
    cases = tmp_path / "mine.yaml"
    cases.write_text("- {query: current_time, relevant: current_time}\n", encoding="utf-8")
    assert run("eval", str(cases)).out == run("eval", "run", str(cases)).out
    assert "100.0" in run("eval", str(cases)).out


CHECKS = """
- query: what time is it now
  relevant: current_time
- query: save_note
  relevant: save_note
  split: names
- query: order a pizza
  relevant: []
"""


@pytest.fixture
def cases(tmp_path: Path) -> str:
    """Cases for the tools that come with Toolcrib."""
    file = tmp_path / "cases.yaml"
    file.write_text(CHECKS, encoding="utf-8")
    return str(file)


def test_without_a_catalog_your_own_tools_are_searched(run: Run, cases: str, home: Path):
    ran = run("eval", "run", cases, "--json")
    assert ran.json["query"]["total"]["answerable"] == 2
    assert ran.json["query"]["splits"]["names"]["recall_1"] == 1
    assert not [each for each in home.rglob("*") if each.suffix == ".db"]


def test_a_catalog_file_that_cannot_be_used_is_gone_without(run: Run, cases: str, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text("store = 'catalog.db'\nindex = 'memory'\n", encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "catalog.db")) as db:
        db.execute("PRAGMA application_id = 7")
        db.execute("CREATE TABLE another (program)")
        db.commit()
    ran = run("--config", str(config), "eval", "run", cases)
    assert ran.code == 0, ran.error
    assert "all vectors are made anew" in ran.err


def test_what_search_cannot_find_is_not_searched(
    run: Run, cases: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_SEARCH__INTERNAL", "save_note")
    ran = run("eval", "run", cases)
    assert isinstance(ran.error, EvalError)
    assert "names the tool 'save_note', which is not in your catalog; nearest: " in str(ran.error)


def test_two_settings_stand_side_by_side_and_then_what_differs(run: Run, suite: list[str]):
    ran = run(*suite, "--against", "search.fusion=rrf", "--against", "search.abstain=false")
    label = "search.fusion=rrf, search.abstain=false"
    head = next(line for line in ran.out.splitlines() if line.startswith("measure"))
    assert head.split("  ")[-2].strip() == label
    assert "0 cases better and 0 worse" in ran.out


def test_a_case_that_differs_is_shown_with_both_answers(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    found = {"zscore": ["t2", "t1"], "rrf": ["t1", "t2"]}

    def ranked(search: Search, *_rest: object) -> EvalFound:
        ids = found[search.rules.fusion]
        return EvalFound(ids, ids, 0.5)

    monkeypatch.setattr(evaluation, "_found", ranked)
    (tmp_path / "c.jsonl").write_text(lines(TOOLS), encoding="utf-8")
    (tmp_path / "q.jsonl").write_text(lines(QUERIES), encoding="utf-8")
    command = ["eval", "run", str(tmp_path / "q.jsonl"), "--catalog", str(tmp_path / "c.jsonl")]
    ran = run(*command, "--against", "search.fusion=rrf")
    assert "1 case better and 1 worse with search.fusion=rrf." in ran.out
    better, worse = ran.out.partition("\nBetter\n")[2].split("\nWorse\n")
    assert "  read_file\n    now    t1 at 2; finds t2, t1 ✓\n    then   t1 at 1" in better
    assert "  zzz\n    now    t2 at 1; finds t2 ✓, t1\n    then   t2 at 2" in worse
    result = run(*command, "--against", "search.fusion=rrf", "--json").json
    assert [each["id"] for each in result["changes"]] == ["q2", "q1"]
    assert result["changes"][1]["after"] == {"ranks": {"t1": 1}, "ranked": ["t1", "t2"]}
    assert result["against"]["query"]["total"]["recall_1"] == 0.5


def test_a_settings_file_may_stand_against_yours(run: Run, suite: list[str], tmp_path: Path):
    other = tmp_path / "other.toml"
    other.write_text("[search]\nfusion = 'rrf'\n", encoding="utf-8")
    assert "worse with" in run(*suite, "--against", str(other)).out


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (["search.fusoin=rrf"], "there is no setting 'search.fusoin'; nearest: search.fusion"),
        (["search.fusion=none"], "--against: setting search.fusion: Input should be"),
        (["no.toml"], "--against: no.toml: there is no such settings file"),
        (["a.toml", "b.toml"], "--against: a.toml and b.toml are two settings files"),
    ],
)
def test_a_change_that_is_none_is_named(
    run: Run, suite: list[str], changes: list[str], problem: str
):
    ran = run(*suite, *(word for each in changes for word in ("--against", each)))
    assert isinstance(ran.error, ConfigError)
    assert problem in str(ran.error)


def test_no_key_gets_into_a_report(run: Run, suite: list[str], tmp_path: Path):
    page = tmp_path / "report.html"
    run(*suite, "--against", "embed.api_key=geheim", "--html", str(page))
    assert "embed.api_key=…" in page.read_text(encoding="utf-8")
    assert "geheim" not in page.read_text(encoding="utf-8")


def test_the_report_is_a_page(run: Run, cases: str, tmp_path: Path):
    page = tmp_path / "report.html"
    ran = run("eval", "run", cases, "--html", str(page))
    assert f"The page is {page}" in ran.out
    html = page.read_text(encoding="utf-8")
    assert "3 cases of cases.yaml over " in html
    assert "what time is it now" in html


def test_hostile_tools_and_cases_do_no_harm(run: Run, config: str, tmp_path: Path):
    file, page = tmp_path / "odd.yaml", tmp_path / "odd.html"
    query = f"<script>{NASTY}"
    file.write_text(lines([{"query": query, "relevant": ["skill_forms"]}])[:-1], encoding="utf-8")
    file.write_text(f"- {file.read_text(encoding='utf-8')}\n", encoding="utf-8")
    ran = run("--config", config, "eval", "run", str(file), "--html", str(page))
    assert ran.code == 0, ran.error
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*ran.out, *page.read_text(encoding="utf-8")}
    assert "<script" not in page.read_text(encoding="utf-8")
    drawn = run("--config", config, "eval", "init", str(tmp_path / "new.yaml"))
    assert drawn.code == 0, drawn.error
    assert run("--config", config, "eval", "run", str(tmp_path / "new.yaml")).code == 0


def test_a_file_of_cases_that_is_not_there_is_an_error_that_says_what_to_do(run: Run):
    assert "`toolcrib eval init` writes a first one" in str(run("eval", "run", "no.yaml").error)
    assert "`toolcrib eval init` writes a first one" in str(run("eval", "inti").error)


def test_a_first_set_is_written_and_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    ran = run("eval", "init", "--count", "12")
    assert "Wrote 12 cases to cases.yaml: 0 from recorded use, 11 guessed, 1 that" in ran.out
    assert "→ correct them, then: toolcrib eval run cases.yaml" in ran.out
    ran = run("eval", "run", "--json")
    assert ran.json["query"]["total"]["answerable"] == 11
    assert ran.json["unused"] == {}
    again = run("eval", "init")
    assert isinstance(again.error, EvalError)
    assert "--force" in str(again.error)
    assert "Wrote 12 cases" in run("eval", "init", "--force", "--count", "12").out


def test_recorded_use_comes_first(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text("store = 'catalog.db'\n[search]\nlearn = true\n", encoding="utf-8")
    with Crib.from_settings(load_settings({}, config)) as crib:
        for chat in ("one", "two"):
            crib.search("show me the current time in Tokyo", caller=Caller(chat))
            asyncio.run(crib.call("current_time", caller=Caller(chat)))
        asyncio.run(crib.call("generate_uuid", caller=Caller("three")))
    file = tmp_path / "cases.yaml"
    ran = run("--config", str(config), "eval", "init", str(file), "--count", "4")
    assert ": 1 from recorded use, 3 guessed" in ran.out
    text = file.read_text(encoding="utf-8")
    assert "led here in 2 conversations" in text
    assert "Tokyo" not in text
    used, first, *_ = load_cases(file).cases.values()
    assert used.relevant == ["current_time"]
    assert "time" in used.query.split()
    assert first.relevant == ["generate_uuid"]


def test_an_empty_catalog_says_what_to_do(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text("builtin_tools = false\nplugins = false\n", encoding="utf-8")
    ran = run("--config", str(config), "eval", "init", str(tmp_path / "cases.yaml"))
    assert isinstance(ran.error, EvalError)
    assert "toolcrib add" in str(ran.error)
    assert not (tmp_path / "cases.yaml").exists()


def test_cases_are_written_as_yaml_alone(run: Run, tmp_path: Path):
    assert "ends in .yaml" in str(run("eval", "init", str(tmp_path / "cases.txt")).error)


GUIDE = Path(__file__).parents[2] / "docs" / "eval.md"


def test_the_guide_runs_as_it_stands(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    commands = re.findall(r"^    (?:\$ )?toolcrib (eval .*)$", text, re.MULTILINE)
    assert len(commands) == 7
    (tmp_path / "tools.jsonl").write_text(
        lines([{"id": each, "name": each} for each in entry_names()]), encoding="utf-8"
    )
    for command in commands:
        ran = run(*command.split())
        assert isinstance(ran.error, SystemExit | None), (command, ran.error)
    (example,) = re.findall(r"^```yaml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "cases.yaml").write_text(example, encoding="utf-8")
    assert run("eval", "run").code == 0


def entry_names() -> list[str]:
    with Crib.from_settings(Settings(store=":memory:")) as crib:
        return list(crib.entries())
