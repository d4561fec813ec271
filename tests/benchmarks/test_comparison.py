"""The comparison: what is kept of a run that stops, what a process measures, what the page says."""

import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchmarks.compare import cells, report
from benchmarks.compare.cells import Cell, Kept, measure
from benchmarks.compare.chart import drawn
from benchmarks.compare.sets import keywords, queries_of, scored, suite_of
from benchmarks.compare.systems import BUNDLED, FASTMCP, HAYSTACK, SYSTEMS, WORDS
from benchmarks.folder import VARIABLE
from tests.benchmarks.tiny_bench import add_everyday

WEATHER, MESSAGE, NOTHING = "weather in a city", "发送消息到频道", "fix my bicycle"


@pytest.fixture
def everyday(bench: Path, monkeypatch: pytest.MonkeyPatch):
    requests = [
        {"id": "1", "query": WEATHER, "relevant": ["sky::get_forecast"]},
        {"id": "2", "query": MESSAGE, "relevant": ["chat::send_message"]},
        {"id": "3", "query": NOTHING, "relevant": []},
    ]
    add_everyday(bench, requests)
    monkeypatch.setenv(VARIABLE, str(bench))
    suite_of.cache_clear()
    yield
    suite_of.cache_clear()


def test_the_process_that_measures_has_nothing_of_toolcrib_in_it():
    code = (
        "import sys, benchmarks.compare.child, benchmarks.compare.peers\n"
        "print([each for each in ('toolcrib', 'numpy', 'pydantic') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("typed", "short"),
    [
        ("Please send the letter to my boss!", "send letter boss!"),
        ("what is it?", "what is it?"),
        (MESSAGE, MESSAGE),
    ],
)
def test_keywords_are_what_is_left_without_function_words(typed: str, short: str):
    assert keywords(typed) == short


@pytest.mark.usefixtures("everyday")
def test_a_need_counts_as_covered_by_any_of_the_hits():
    answers = {WEATHER: ["disk::read_file", "sky::get_forecast"], MESSAGE: [], NOTHING: []}
    typed = queries_of("everyday")[:3]
    found = [answers[text] for text in typed] + [["disk::read_file"]] * 3
    figures = scored("everyday", found)
    assert (figures["within_5"], figures["keywords"], figures["first"]) == (0.5, 0.0, 0.0)
    assert (figures["english"], figures["english_requests"]) == (1.0, 1)
    assert (figures["left_empty"], figures["wrongly_empty"]) == (1.0, 0.5)


@pytest.mark.usefixtures("everyday")
def test_a_process_of_its_own_finds_and_is_scored():
    figures = measure(Cell(WORDS, "find", "everyday"), 60)
    assert figures["within_5"] == 1.0
    assert figures["tools"] == 4


@pytest.mark.usefixtures("everyday")
def test_a_process_of_its_own_tells_what_it_takes(bench: Path):
    add_everyday(bench, [{"id": f"{n}", "query": f"file {n}", "relevant": []} for n in range(5)])
    figures = measure(Cell(WORDS, "cost", "4"), 60)
    assert 0 < figures["call"] < 1
    assert figures["peak"] > 5
    assert 0 < figures["surface"] < 1_500
    assert figures["all_tools"] > 100


@pytest.mark.usefixtures("everyday")
def test_what_fails_says_why_and_what_takes_too_much_is_stopped(monkeypatch: pytest.MonkeyPatch):
    assert measure(Cell("nobody", "find", "everyday"), 60)["failed"].startswith("KeyError")
    monkeypatch.setattr(cells, "LOOK_S", 0.2)
    failed = {"failed": "more than 0 s of CPU"}
    assert measure(Cell(BUNDLED, "find", "everyday"), 0) == failed


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path: Path):
    file = tmp_path / "compare.json"
    done, failed = Cell(FASTMCP, "cost", "100"), Cell(HAYSTACK, "cost", "100")
    kept = Kept.read(file)
    kept.keep(done, "4.1", {"search": 0.001})
    kept.keep(failed, "3.4", {"failed": "no such thing"})
    again = Kept.read(file)
    assert again.has(done, "4.1")
    assert not again.has(done, "4.2"), "another version is another system"
    assert not again.has(failed, "3.4")
    assert again.figures(done) == {"search": 0.001}


def made_up(file: Path, **figures: Any) -> Kept:
    kept = Kept(file)
    for number, name in enumerate(SYSTEMS, start=1):
        if name == HAYSTACK:
            continue
        found = {"within_5": number / 10, "english": number / 10, "requests": 9, "tools": 1_000}
        kept.keep(Cell(name, "find", "everyday"), "1", found)
        kept.keep(Cell(name, "find", "another"), "1", found)
        taken = {"search": number / 1_000, "memory": 10.0 * number, "surface": 0, "all_tools": 7}
        kept.keep(Cell(name, "cost", "10000"), "1", {**taken, **figures})
    return kept


def test_the_best_is_bold_whoever_has_it_and_what_is_missing_is_a_dash(tmp_path: Path):
    kept = made_up(tmp_path / "kept.json")
    rows = report.quality_table(kept).splitlines()
    assert "| LlamaIndex, ObjectIndex | **60.0** | **60.0** | **60.0** |" in rows
    assert f"| {HAYSTACK} | – | – | – |" in rows
    costs = report.cost_table(kept).splitlines()
    assert f"| {BUNDLED} | **1.0** |" in costs
    assert f"| {report.EAGER} | 7.0 |" in costs


def test_a_cell_that_failed_is_said_on_the_page(tmp_path: Path):
    kept = made_up(tmp_path / "kept.json")
    kept.keep(Cell(HAYSTACK, "cost", "10000"), "1", {"failed": "more than 600 s of CPU"})
    assert f"{HAYSTACK}, cost 10000: more than 600 s of CPU." in report.versions_line(kept)


def test_the_front_page_gives_no_mean_of_half_the_sets(tmp_path: Path):
    kept = made_up(tmp_path / "kept.json")
    kept.keep(Cell(FASTMCP, "find", "third"), "1", {"within_5": 0.9})
    rows = [row for row in report.summary(kept).splitlines() if row.startswith(f"| {BUNDLED}")]
    assert rows == [f"| {BUNDLED} | 10.0 | – | **1.0** | **10.0** |"]


def test_the_picture_is_well_formed_and_leaves_out_what_was_not_measured(tmp_path: Path):
    picture = ET.fromstring(drawn(made_up(tmp_path / "kept.json")))
    said = [each.text for each in picture.iter() if each.tag.endswith("text")]
    assert said.count(BUNDLED) == 3
    assert HAYSTACK not in said
