import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.errors import ConfigError
from toolcrib.settings import own_servers_file

FAKE_COMMAND = ("--", sys.executable, "-S", str(FAKE))


def entry(name: str) -> object:
    return json.loads(own_servers_file().read_text())["mcpServers"][name]


def test_a_server_is_added_listed_found_and_removed(run: Run):
    ran = run("add", "fake", *FAKE_COMMAND)
    assert ran.code == 0
    assert "fake: 12 tools" in ran.out
    assert run("search", "select:mcp_fake_echo", "--json").json["hits"][0]["state"] == "asleep"
    assert run("remove", "fake", "--json").json["server"] == "fake"
    assert entries() == {}
    assert run("servers", "--json").json == []
    assert not list((Path.home() / ".local/state/toolcrib/mcp").glob("*.json"))


def entries() -> object:
    return json.loads(own_servers_file().read_text())["mcpServers"]


def test_what_is_asked_for_is_written_as_clients_write_it(run: Run):
    run("add", "a", "--no-start", "--env", "TOKEN", "--env", "MODE=x=y", "--", "npx", "-y", "pkg")
    assert entry("a") == {
        "command": "npx",
        "args": ["-y", "pkg"],
        "env": {"MODE": "x=y"},
        "env_from": ["TOKEN"],
    }
    run("add", "b", "--no-start", "--url", "https://b.example/mcp", "--header", "X-Key: ${KEY}")
    assert entry("b") == {
        "type": "http",
        "url": "https://b.example/mcp",
        "headers": {"X-Key": "${KEY}"},
    }
    assert [each["server"] for each in run("servers", "--json").json] == ["a", "b"]


def test_a_value_that_is_written_down_is_warned_of(run: Run):
    ran = run("add", "a", "--no-start", "--env", "KEY=s3cret", "--env", "OTHER=${MINE}", "--", "x")
    assert ran.err.count("warning") == 1
    assert "`--env KEY`" in ran.err
    assert "s3cret" not in ran.err + ran.out


def test_a_server_that_does_not_start_is_added_all_the_same(run: Run):
    ran = run("add", "gone", "--json", "--", "there-is-no-such-command")
    assert ran.code == 1
    assert "cannot be started" in ran.json["listed"]["error"]
    assert entry("gone")


def test_a_second_of_one_name_is_refused_with_the_remedy(run: Run, tmp_path: Path):
    other = tmp_path / "other.json"
    other.write_text('{"mcpServers": {"b": {"command": "x"}}}')
    run("add", "a", "--no-start", "--", "x")
    ran = run("add", "a", "--no-start", "--", "y")
    assert isinstance(ran.error, ConfigError)
    assert "`toolcrib remove a` first" in str(ran.error)
    again = run("--mcp-config", str(other), "add", "b", "--no-start", "--", "y")
    assert str(other) in str(again.error)
    assert entry("a") == {"command": "x", "args": []}


@pytest.mark.parametrize(
    "arguments",
    [
        ["a"],
        ["a", "--url", "https://x", "--", "x"],
        ["a", "--url", "nowhere"],
        ["a", "http://127.0.0.1/mcp"],
        ["a", "--url", "https://x", "--header", "no sign"],
    ],
)
def test_what_cannot_be_reached_is_not_added(run: Run, arguments: list[str]):
    assert isinstance(run("add", "--no-start", *arguments).error, ConfigError)
    assert not own_servers_file().exists()


def test_what_was_not_added_cannot_be_removed(run: Run, tmp_path: Path):
    other = tmp_path / "other.json"
    other.write_text('{"mcpServers": {"b": {"command": "x"}}}')
    run("add", "alpha", "--no-start", "--", "x")
    assert "nearest: alpha" in str(run("remove", "alpa").error)
    assert f"stands in {other}" in str(run("--mcp-config", str(other), "remove", "b").error)


def test_a_look_adds_and_starts_nothing(run: Run):
    ran = run("add", "fake", "--dry-run", *FAKE_COMMAND)
    assert ran.code == 0
    assert '+    "fake": {' in ran.out
    assert "Nothing was added." in ran.out
    assert run("add", "fake", "--dry-run", "--json", *FAKE_COMMAND).json["listed"] is None
    assert isinstance(run("add", "a", "--dry-run", "--url", "nowhere").error, ConfigError)
    assert not own_servers_file().exists()


def test_an_address_is_not_a_command(run: Run):
    assert "`--url`" in str(run("add", "crm", "http://127.0.0.1:9/mcp").error)
    run("add", "crm", "--no-start", "--", "x")
    assert "`--url`" in str(run("edit", "crm", "--", "https://x.example/mcp").error)
