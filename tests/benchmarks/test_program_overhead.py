"""The benchmark of programs, at its smallest."""

import json
from pathlib import Path

import pytest

from benchmarks.program_overhead import main


def test_it_measures_both_ways_and_counts_both_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    tool = {"name": "look", "description": "Look.", "inputSchema": {"properties": {"at": {}}}}
    (tmp_path / "shop.json").write_text(json.dumps({"tools": [tool]}))
    main(["--runs", "2", "--catalogs", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "| a program with 1 call |" in printed
    assert "| 1 tools | tokens | a tool |" in printed
