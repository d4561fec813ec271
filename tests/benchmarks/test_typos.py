"""Typos are made in requests, and what is read of them is counted."""

from pathlib import Path
from random import Random

import pytest
from rapidfuzz.distance import OSA

from benchmarks import typos
from benchmarks.folder import find_sets


def test_a_typo_is_one_edit_away_and_keeps_the_first_letter():
    random = Random(3)
    made = {typos.misspelt("weather", random) for _ in range(200)}
    assert all(OSA.distance(each, "weather") == 1 for each in made - {"weather"})
    assert {each[0] for each in made} == {"w"}
    assert {len(each) for each in made} == {6, 7, 8}


def test_a_row_a_set_says_what_was_read(bench: Path, capsys: pytest.CaptureFixture[str]):
    typos.main(["--bench-dir", str(bench), "--sets", "mcp_big"])
    out = capsys.readouterr().out
    assert out.startswith("| set | typos | as meant, % |")
    assert "| mcp_big | " in out


def test_what_is_made_is_counted_once(bench: Path):
    [bench_set] = find_sets(bench, ["mcp_big"]).sets
    row = typos.measure(bench_set)
    assert row.words == 4
    assert row.changed == 0
    assert row.meant + row.other + row.left <= row.words


def test_without_the_folder_it_says_so(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        typos.main(["--bench-dir", "nowhere"])
    assert "there is no folder nowhere" in capsys.readouterr().err
