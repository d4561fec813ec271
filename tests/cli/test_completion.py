"""Tab: names of tools, servers, clients and profiles, and never an error."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.sources.mcp.faking import FAKE, own_file
from toolcrib.cli.app import app

Complete = Callable[..., list[str]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with one server that works and one that never starts."""
    path = own_file()
    good = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    path.write_text(json.dumps({"mcpServers": {"good": good, "gone": {"command": "/no/such"}}}))
    return path


@pytest.fixture
def complete(file: Path) -> Complete:
    """What bash is offered after these words, the last of which is not done."""

    def complete(*words: str) -> list[str]:
        typed = ["toolcrib", "--mcp-config", str(file), *words]
        asked = {"COMP_WORDS": " ".join(typed), "COMP_CWORD": str(len(typed) - 1)}
        env = {"_TOOLCRIB_COMPLETE": "complete_bash", **asked}
        ran = CliRunner().invoke(app, [], env=env, prog_name="toolcrib")
        assert not ran.stderr
        assert ran.exit_code == 0
        return ran.stdout.split()

    return complete


@pytest.mark.parametrize(
    "words", [["refresh", "g"], ["login", "go"], ["logs", "g"], ["remove", "g"], ["edit", "g"]]
)
def test_servers_complete(complete: Complete, words: list[str]):
    assert complete(*words) == ["gone", "good"]


def test_tools_complete_by_what_was_listed_last(complete: Complete, file: Path):
    assert complete("show", "mcp_good_ec") == []
    CliRunner().invoke(app, ["--mcp-config", str(file), "refresh", "good"])
    assert complete("show", "mcp_good_ec") == ["mcp_good_echo"]
    assert complete("call", "mcp_good_ec") == ["mcp_good_echo"]
    assert complete("why", "words", "mcp_good_ec") == ["mcp_good_echo"]
    assert "good" in complete("disable", "g")


def test_a_server_that_is_no_more_has_no_tools(complete: Complete, file: Path):
    CliRunner().invoke(app, ["--mcp-config", str(file), "refresh", "good"])
    file.write_text('{"mcpServers": {}}')
    assert complete("show", "mcp_") == []


def test_clients_and_profiles_complete(complete: Complete):
    assert complete("import", "--client", "cu") == ["cursor"]
    assert complete("show", "read_f") == ["read_file"]
    assert complete("connect", "--profile", "d") == ["default"]
    assert complete("search", "x", "--kind", "s") == ["skill"]


def test_a_broken_settings_file_offers_nothing_and_says_nothing(complete: Complete, home: Path):
    settings = home / ".config" / "toolcrib" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("nonsense")
    assert complete("refresh", "g") == []


@pytest.mark.parametrize("text", ["{", '{"mcpServers": 7}', "\0"])
def test_a_broken_file_offers_nothing_and_says_nothing(complete: Complete, file: Path, text: str):
    file.write_text(text)
    assert complete("refresh", "g") == []


def test_a_broken_cache_offers_nothing_and_says_nothing(complete: Complete, file: Path):
    CliRunner().invoke(app, ["--mcp-config", str(file), "refresh", "good"])
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state")
    [known] = (state / "toolcrib" / "mcp").glob("*.json")
    (known.parent / "a.json").write_text("[]")
    (known.parent / "b.json").write_bytes(b"\xff")
    assert complete("show", "mcp_good_ec") == ["mcp_good_echo"]
    known.write_text('{"entry": {"server": "good", "listing": {"tools": [7]}}}')
    assert complete("show", "mcp_") == []


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_what_is_installed_works_in_bash(tmp_path: Path, file: Path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "HOME": str(tmp_path), "PATH": path}
    script = f"""
        toolcrib --install-completion >/dev/null && . ~/.bash_completions/toolcrib.sh
        COMP_WORDS=(toolcrib --mcp-config {file} refresh go); COMP_CWORD=4
        function=$(complete -p toolcrib | sed 's/.*-F \\([^ ]*\\).*/\\1/')
        $function toolcrib && echo "${{COMPREPLY[@]}}"
    """
    asked = ["bash", "-c", script]
    ran = subprocess.run(asked, env=env, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["gone", "good"], ran.stderr
