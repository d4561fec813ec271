import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.sources.mcp.faking import FAKE, own_file
from toolcrib.cli.app import app
from toolcrib.errors import ConfigError


@pytest.fixture
def run(tmp_path):
    def command(*modes):
        return {"command": sys.executable, "args": ["-S", str(FAKE), *modes]}

    file = own_file()
    table = {"good": command(), "bad": command("exit-at-once")}
    file.write_text(json.dumps({"mcpServers": table}))

    def run(*arguments):
        return CliRunner().invoke(app, ["--mcp-config", str(file), *arguments])

    return run


def test_refresh_tells_how_it_went_and_fails_if_one_did(run):
    done = run("refresh")
    assert done.exit_code == 1
    assert "no licence found" in done.output
    assert run("refresh", "good").exit_code == 0


def test_servers_tells_what_is_known(run):
    assert "→ toolcrib refresh good" in run("servers").output
    run("refresh")
    good, bad = json.loads(run("servers", "--json").output)
    assert (good["server"], good["tools"], good["state"], good["failure"]) == (
        "good",
        12,
        "asleep",
        None,
    )
    assert good["seen"] > 0
    assert bad["tools"] == 0
    assert "no licence found" in json.dumps(bad["failure"])
    shown = run("servers").output
    assert "good" in shown
    assert "never" in shown


def test_a_server_that_is_not_configured_is_named_with_the_nearest(run):
    done = run("refresh", "goood")
    assert isinstance(done.exception, ConfigError)
    assert "nearest: good" in str(done.exception)


def test_servers_are_started_for_a_look_if_asked_to(run):
    assert {row["memory_bytes"] for row in json.loads(run("servers", "--json").output)} == {None}
    good, bad = json.loads(run("servers", "--start", "--json").output)
    assert (good["state"], bad["memory_bytes"]) == ("ready", None)
    if Path("/proc").is_dir():
        assert good["memory_bytes"] > 1_000_000
    assert "memory" in run("servers", "--start").output
    assert "memory" not in run("servers").output
