import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, unlisted
from tests.client_config.configs import CONFIGS, entries, put


@pytest.fixture
def run(run: Run) -> Run:
    return unlisted(run)


def found(run: Run, *options: str) -> list[Any]:
    told = run(*options, "doctor", "--json").json
    return [each for each in told if each["area"] == "clients"]


def test_clients_in_order_are_told_with_and_without_the_gateway(run: Run, home: Path):
    for name in CONFIGS:
        put(home, name)
    assert {each["level"] for each in found(run)} == {"ok"}
    assert all("toolcrib import" in each["message"] for each in found(run))
    run("import", "--yes")
    told = found(run)
    assert len(told) == len(CONFIGS)
    assert {each["level"] for each in told} == {"ok"}
    assert all("has the gateway" in each["message"] for each in told)


@pytest.mark.parametrize(("name", "text"), [("cursor", '{"a": '), ("codex", "a = ")])
def test_a_file_that_cannot_be_read_is_a_problem(run: Run, home: Path, name: str, text: str):
    path = put(home, name)
    path.write_text(text)
    (told,) = found(run)
    assert told["level"] == "problem"
    assert str(path) in told["message"]


def test_comments_that_the_client_does_not_read_are_a_problem(run: Run, home: Path):
    put(home, "claude-desktop").write_text('{"mcpServers": {}, }')
    put(home, "zed").write_text('// mine\n{"context_servers": {}, }')
    told = {each["message"].partition(":")[0]: each["level"] for each in found(run)}
    assert list(told.values()) == ["problem", "ok"]


def test_a_shim_whose_command_is_gone_or_cannot_run_is_a_problem(
    run: Run, home: Path, tmp_path: Path
):
    path = put(home, "cursor")
    run("import", "--yes")
    written, command = path.read_text(), entries("cursor", path)["toolcrib"]["command"]
    broken = tmp_path / "toolcrib"
    for place in (broken, tmp_path):  # not there; there, and no program
        path.write_text(written.replace(command, str(place / "toolcrib")))
        (told,) = found(run)
        assert (told["level"], told["remedy"]) == ("problem", "toolcrib import --client cursor")
        (tmp_path / "toolcrib").write_text("no program")


def test_a_server_that_stands_in_both_is_a_warning(run: Run, home: Path):
    path = put(home, "cursor")
    run("import", "--yes")
    top = json.loads(path.read_text())
    top["mcpServers"]["again"] = {"command": "npx", "args": ["@playwright/mcp@latest"]}
    path.write_text(json.dumps(top))
    (told,) = found(run)
    assert told["level"] == "warning"
    assert "again" in told["message"]
    assert "browser" in told["message"]


def test_a_list_that_keeps_the_gateway_out_is_a_problem(run: Run, home: Path):
    path = put(home, "gemini-cli")
    run("import", "--yes")
    path.write_text(path.read_text().replace(', "toolcrib"]', "]"))
    (told,) = found(run)
    assert "mcp.allowed" in told["message"]


def test_a_gateway_behind_itself_is_a_problem(run: Run, home: Path):
    path = put(home, "cursor")
    run("import", "--yes")
    (told,) = found(run, "--mcp-config", str(path))
    assert "mcp_config" in told["remedy"]
