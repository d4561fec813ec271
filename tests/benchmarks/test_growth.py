"""Growth is measured in processes of their own; what does not come to its end is said."""

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import islice
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks import growth, growth_peers
from benchmarks.checkout import BEFORE, NOW, Checkout, Limits
from benchmarks.growth_chart import drawn
from benchmarks.growth_report import FASTMCP, MADE_UP, QUANTITIES, WORDS, Growth, report
from benchmarks.home import Home, Unusable
from benchmarks.many_tools import Tool, listings, read_tools
from tests.benchmarks.tiny_bench import make_bench

SVG = "{http://www.w3.org/2000/svg}"
LIMITS = Limits(600, 8)
FIGURES = {"start": 2.0, "rss": 100.0, "anonymous": 80.0, "search": 0.001, "function": 0.1}


def earlier_checkout(folder: Path) -> Path:
    """A checkout with an environment of its own, which is this one."""
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return folder


@pytest.fixture
def told(tmp_path: Path) -> tuple[str, str, Path]:
    """What one run prints, the page that it writes into, and the folder: it takes a while."""
    folder = tmp_path
    page = folder / "page.md"
    page.write_text("<!-- growth: begin -->\n<!-- growth: end -->\n", encoding="utf-8")
    options = ["--sizes", "30", "--turns", "1", "--queries", "25"]
    files = ["--markdown", str(page), "--svg", str(folder / "growth.svg")]
    places = ["--work", str(folder / "work"), "--results", str(folder / "results.json")]
    before = earlier_checkout(folder / "before")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setattr(growth_peers, "PACKAGES", {FASTMCP: "no_such_package"})
        patch.setattr(growth, "STAGE", 20)
        given = ["--bench-dir", str(make_bench(folder / "bench")), "--before", str(before)]
        growth.main([*given, *options, *files, *places])
    return out.getvalue(), page.read_text(encoding="utf-8"), folder


def test_one_run_is_printed_drawn_and_kept_and_leaves_no_home(told: tuple[str, str, Path]):
    """One test: each worker that has one of several would make the run again."""
    out, page, folder = told
    titles = [each.title for each in QUANTITIES if each.mode != "model"]
    assert all(f"| **{title}** | {BEFORE} |" in out for title in titles)
    assert out.count(f"|  | {NOW} |") == len(titles)
    assert out.strip() in page
    assert ET.parse(folder / "growth.svg")
    assert not list((folder / "work").iterdir())
    assert report(Growth.read(folder / "results.json")) == out.strip()


def test_a_process_beyond_its_limits_is_ended_and_what_it_told_stays(tmp_path: Path):
    program = tmp_path / "forever.py"
    program.write_text('print("{\\"imports\\": 1}", flush=True)\nwhile True: pass\n', "utf-8")
    checkout = Checkout(NOW, tmp_path, Path(sys.executable), Limits(0, 8))
    told = checkout.child(program, Home(tmp_path), {})
    assert told == ({"imports": 1}, "more than 0 s")


def test_what_takes_too_long_is_said_of_everything_that_needs_it(
    bench: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("benchmarks.checkout.LOOK_EVERY_S", 0.01)
    options = ["--sizes", "9", "--turns", "1", "--most-s", "0", "--only", NOW]
    monkeypatch.setattr(growth_peers, "PACKAGES", {})
    growth.main(["--bench-dir", str(bench), *options])
    out = capsys.readouterr().out
    assert "| **warm start by words, CPU s** | now | more than 0 s |" in out
    assert "| **warm start with vectors, CPU s** | now | more than 0 s |" in out


def test_a_process_that_fails_otherwise_is_an_error(tmp_path: Path):
    program = tmp_path / "broken.py"
    program.write_text('raise SystemExit("not today")\n', "utf-8")
    checkout = Checkout(NOW, tmp_path, Path(sys.executable), LIMITS)
    with pytest.raises(Unusable, match=r"broken\.py failed: not today"):
        checkout.child(program, Home(tmp_path), {})


def test_a_checkout_without_an_environment_is_refused(tmp_path: Path):
    with pytest.raises(Unusable, match=r"no \.venv/bin/python"):
        Checkout.at(BEFORE, tmp_path, LIMITS)


def test_a_limit_that_was_reached_stands_in_the_table():
    figures = Growth()
    figures.at(10, BEFORE).fail(WORDS, "settle", "more than 600 s")
    figures.at(10, NOW).add(WORDS, FIGURES)
    [start] = [line for line in report(figures).splitlines() if "by words, CPU s" in line]
    assert start == "| **warm start by words, CPU s** | before | more than 600 s |"
    assert "times less" not in report(figures)


def test_a_task_that_failed_is_not_tried_again_nor_what_needs_it():
    figures = Growth().at(10, BEFORE)
    figures.fail(WORDS, "settle", "more than 8 GB")
    assert figures.has_failed(WORDS, "start")
    assert not figures.has_failed(MADE_UP, "start")


def test_a_new_run_forgets_the_modes_that_it_measures():
    figures = Growth()
    for mode in (WORDS, MADE_UP):
        figures.at(10, NOW).add(mode, FIGURES)
    figures.forget(10, NOW, [WORDS])
    assert figures.at(10, NOW).median(WORDS, "start") is None
    assert figures.at(10, NOW).median(MADE_UP, "start") == 2.0


def test_each_panel_has_a_curve_for_each_system():
    figures = Growth()
    for size in (1_000, 10_000):
        for system in (BEFORE, NOW):
            figures.at(size, system).add(WORDS, FIGURES)
            figures.at(size, system).add(MADE_UP, FIGURES)
    picture = ET.fromstring(drawn(figures))
    assert len(list(picture.iter(f"{SVG}polyline"))) == 8
    assert {"1k", "10k"} <= {each.text for each in picture.iter(f"{SVG}text")}


def test_nothing_measured_draws_an_empty_picture():
    assert ET.fromstring(drawn(Growth())) is not None


def names(tools: Sequence[Tool], size: int) -> list[list[str]]:
    return [[tool["name"] for tool in each.tools] for each in listings(tools, size)]


def test_tools_beyond_the_real_ones_are_others_and_always_the_same(bench: Path):
    tools = read_tools(bench / "mcp_big" / "catalog.jsonl")
    many = names(tools, 500)
    assert sum(map(len, many)) == 500
    assert many == names(tools, 500)
    assert all(len(set(each)) == len(each) for each in many)
    varied = [tool for each in listings(tools, 500) for tool in each.tools][4:]
    assert any("Weather" not in tool["description"] for tool in islice(varied, 100))
    assert many[0][:4] == [tool["name"] for tool in tools]
