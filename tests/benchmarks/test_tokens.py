"""The benchmark of tokens measures every catalog it is given, and says what is missing."""

import json
from pathlib import Path

import pytest

from benchmarks import tokens


@pytest.fixture
def servers(tmp_path: Path) -> Path:
    """Two servers with forty tools, and a file that is none."""
    folder = tmp_path / "servers"
    folder.mkdir()
    for server in ("gears", "levers"):
        schema = {"type": "object", "properties": {"angle": {"type": "number", "minimum": 0}}}
        tools = [
            {"name": f"turn_{number}", "description": f"Turn {server}", "inputSchema": schema}
            for number in range(20)
        ]
        (folder / f"{server}.json").write_text(json.dumps({"server": server, "tools": tools}))
    (folder / "_index.json").write_text("[]")
    return folder


def test_there_is_a_row_for_each_catalog_and_size(
    bench: Path, servers: Path, capsys: pytest.CaptureFixture[str]
):
    tokens.main(["--bench-dir", str(bench), "--catalogs", str(servers), "--sizes", "2,20,100"])
    out = capsys.readouterr().out
    for start in ("| mcp_big | 2 |", "| mcp_big | 4 |", "| servers | 20 |", "| servers | 40 |"):
        assert out.count(start) == 1
    assert out.count("| Toolcrib itself |") == 1
    assert out.count("\n| servers | ") == 5
    assert "**A whole task**" in out


def test_what_is_saved_is_measured(servers: Path):
    tools = tokens._read_servers(servers)
    [half, *_] = tokens._draws(tools, 19)
    assert len(half) == 19
    assert tokens._estimated(half).share > 0
    task = tokens._task(tools, tokens.Random(1))
    assert 3 <= task.searches <= 6
    assert task.eager == 4 * tokens._estimated(tools).eager


def test_the_tables_can_go_into_a_page(bench: Path, tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("<!-- tokens: begin -->\n<!-- tokens: end -->\n", encoding="utf-8")
    tokens.main(["--bench-dir", str(bench), "--sizes", "2", "--markdown", str(page)])
    assert "**One request**" in page.read_text(encoding="utf-8")


def test_a_folder_without_servers_is_refused(
    bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit):
        tokens.main(["--bench-dir", str(bench), "--catalogs", str(tmp_path / "none")])
    assert "no servers" in capsys.readouterr().err
