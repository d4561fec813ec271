"""A server of our own file that is changed: what is reviewed again, and what is not."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.errors import ConfigError, UnknownTool
from toolcrib.settings import own_servers_file

ECHO = "mcp_files_echo"


@pytest.fixture
def rug(tmp_path: Path, run: Run) -> Path:
    """What the server says otherwise of its tools; it is added, with one folder."""
    rug = tmp_path / "rug.json"
    run("add", "files", "--", sys.executable, "-S", str(FAKE), f"rug={rug}", "/a")
    return rug


def state(run: Run) -> str:
    rows = {row["name"]: row["state"] for row in run("list", "--json").json}
    return rows.get(ECHO, "")


def test_a_folder_more_asks_for_no_new_review(run: Run, rug: Path):
    ran = run("edit", "files", "--arg", "/b", "--env", "MODE=${HOME}")
    assert ran.code == 0
    assert "files: 12 tools" in ran.out
    assert state(run) == "asleep"
    assert run("review").code == 0


def test_the_same_by_hand_in_the_file(run: Run, rug: Path):
    file = own_servers_file()
    file.write_text(file.read_text().replace('"/a"', '"/a", "/b"'))
    assert run("refresh", "--json").json[0]["waiting"] == 0
    assert state(run) == "asleep"


def test_a_changed_definition_waits_beside_what_else_was_changed(run: Run, rug: Path):
    rug.write_text(json.dumps({"echo": {"description": "Obey"}}))
    ran = run("edit", "files", "--arg", "--key=s3cret-a1b2c3", "--arg", "/b", "--env", "A=s3cret-4")
    assert "1 wait for `toolcrib review files`" in ran.out
    assert state(run) == "changed"
    shown = run("review")
    assert shown.code == 1
    assert "files has another configuration now:" in shown.out
    assert "configuration.args" in shown.out
    assert "/b" in shown.out
    assert "+ Obey" in shown.out
    assert "s3cret" not in shown.out + run("review", "--json").out
    assert run("review", "--all").code == 0
    assert state(run) == "asleep"


def test_another_program_of_the_same_name_waits_and_is_shown(run: Run, rug: Path, tmp_path: Path):
    """The very same definitions, from another script."""
    other = tmp_path / "other_server.py"
    shutil.copy(FAKE, other)
    run("edit", "files", "--drop-arg", str(FAKE), "--drop-arg", "-S", "--no-start")
    run("edit", "files", "--set", f'args=["-S", "{other}", "rug={rug}", "/a"]')
    assert state(run) == "changed"
    shown = run("review")
    assert shown.out.count("has another configuration now") == 1
    assert str(other) in shown.out
    assert str(FAKE) in shown.out
    assert run("call", ECHO, '{"text": "x"}').code != 0


def test_a_shell_in_the_place_of_the_program_waits(run: Run, rug: Path):
    line = f"exec {sys.executable} -S {FAKE} rug={rug} /a"
    run("edit", "files", "--set", "command=sh", "--set", f'args=["-c", "{line}"]')
    assert state(run) == "changed"
    run("edit", "files", "--set", f'args=["-c", "{line} /b"]')
    assert state(run) == "changed"


def test_an_approved_tool_is_rejected_and_approved_again(run: Run, rug: Path):
    assert isinstance(run("review", "--reject", "eco").error, UnknownTool)
    assert run("review", "--reject", "files/echo", "--json").json["rejected"] == [ECHO]
    assert state(run) == ""
    assert run("search", f"select:{ECHO}", "--json").json["hits"] == []
    assert run("call", ECHO, '{"text": "x"}').code != 0
    run("edit", "files", "--arg", "/b")
    assert state(run) == ""
    assert run("review", "--approve", "files/echo").code == 0
    assert state(run) == "asleep"


def test_of_an_open_server_nothing_can_be_rejected(run: Run, rug: Path):
    run("edit", "files", "--set", "trust=open", "--no-start")
    ran = run("review", "--reject", "files/echo")
    assert isinstance(ran.error, ConfigError)
    assert "`toolcrib disable files/echo`" in str(ran.error)


def test_a_server_that_moves_into_our_file_keeps_its_approvals(run: Run, tmp_path: Path):
    file = tmp_path / "theirs.json"
    entry = {"command": sys.executable, "args": ["-S", str(FAKE), "/a"]}
    file.write_text(json.dumps({"mcpServers": {"files": entry}}))
    run("--mcp-config", str(file), "review", "--all")
    run("--mcp-config", str(file), "refresh")
    own = own_servers_file()
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(file.read_text())
    assert state(run) == "asleep"
    assert run("edit", "files", "--arg", "/b").code == 0
    assert state(run) == "asleep"


def test_in_a_file_that_is_not_ours_any_change_waits(run: Run, tmp_path: Path):
    file = tmp_path / "theirs.json"
    entry = {"command": sys.executable, "args": ["-S", str(FAKE), "/a"]}
    file.write_text(json.dumps({"mcpServers": {"files": entry}}))
    run("--mcp-config", str(file), "review", "--all")
    run("--mcp-config", str(file), "refresh")
    file.write_text(file.read_text().replace('"/a"', '"/"'))
    assert "toolcrib review" in run("--mcp-config", str(file), "refresh", "--json").json[0]["error"]
    shown = run("--mcp-config", str(file), "review").out
    assert '"/a"]' in shown
    assert '"/"]' in shown
    run("--mcp-config", str(file), "review", "--approve", "files")
    assert run("--mcp-config", str(file), "refresh", "--json").json[0]["waiting"] == 12
