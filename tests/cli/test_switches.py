"""`toolcrib disable` and `toolcrib enable`, with a real server behind them."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.errors import AmbiguousName, ConfigError
from toolcrib.settings import own_servers_file

COMMAND = (sys.executable, "-S", str(FAKE))


@pytest.fixture
def fake(run: Run) -> Run:
    run("add", "fake", "--", *COMMAND)
    return run


def states(run: Run, *before: str) -> dict[str, str]:
    return {row["name"]: row["state"] for row in run(*before, "list", "--json").json}


def test_a_disabled_tool_is_neither_found_nor_called_and_the_operator_sees_it(fake: Run):
    ran = fake("disable", "fake/echo")
    assert ran.code == 0
    assert "fake/echo is disabled" in ran.out
    assert states(fake)["mcp_fake_echo"] == "disabled"
    assert states(fake)["mcp_fake_pid"] == "asleep"
    assert fake("search", "select:mcp_fake_echo", "--json").json["hits"] == []
    called = fake("call", "mcp_fake_echo", "{}", "--json")
    assert called.code != 0
    assert "disabled" in called.out + str(called.error)
    assert "fake/echo is enabled" in fake("enable", "fake/echo").out
    assert states(fake)["mcp_fake_echo"] == "asleep"
    assert json.loads(own_servers_file().read_text())["mcpServers"]["fake"] == {
        "command": COMMAND[0],
        "args": [*COMMAND[1:]],
    }


def test_a_server_is_switched_off_and_on(fake: Run):
    assert fake("disable", "fake", "--json").json["switched"][0]["changed"]
    assert set(states(fake).values()) >= {"disabled"}
    assert fake("servers", "--json").json[0]["state"] == "disabled"
    assert not fake("disable", "fake", "--json").json["switched"][0]["changed"]
    assert fake("enable", "fake").code == 0
    assert fake("servers", "--json").json[0]["state"] == "asleep"


def test_patterns_and_the_names_that_models_see_will_do(fake: Run):
    tools = fake("disable", "fake/e*", "--json").json["switched"][0]["tools"]
    assert sorted(tools) == ["echo", "endless", "env", "error"]
    assert states(fake)["mcp_fake_echo"] == "disabled"
    assert "'e*'; enable that" in str(fake("enable", "mcp_fake_echo").error)
    fake("enable", "fake/e*")
    fake("disable", "mcp_fake_pid")
    assert states(fake)["mcp_fake_pid"] == "disabled"
    assert states(fake)["mcp_fake_echo"] == "asleep"
    fake("disable", "mcp__fake__echo")
    assert states(fake)["mcp_fake_echo"] == "disabled"


@pytest.mark.parametrize(
    ("name", "near"),
    [("fke", "fake"), ("fake/eco", "echo"), ("mcp_fake_eco", "fake/echo"), ("zzz", "nearest")],
)
def test_an_unknown_name_is_an_error_with_the_nearest(fake: Run, name: str, near: str):
    before = own_servers_file().read_text()
    for command in ("disable", "enable"):
        ran = fake(command, name)
        assert isinstance(ran.error, ConfigError)
        assert near in str(ran.error)
    assert own_servers_file().read_text() == before


def test_of_several_names_all_are_taken_or_none(fake: Run):
    before = own_servers_file().read_text()
    assert isinstance(fake("disable", "fake/echo", "nobody").error, ConfigError)
    assert own_servers_file().read_text() == before


def test_a_bare_name_of_two_servers_is_ambiguous(fake: Run):
    fake("add", "twin", "--", *COMMAND)
    ran = fake("disable", "echo")
    assert isinstance(ran.error, AmbiguousName)
    assert "fake/echo, twin/echo" in str(ran.error)


def test_a_server_in_a_file_that_is_not_ours_is_switched_here(run: Run, tmp_path: Path):
    file = tmp_path / "theirs.json"
    entry = {"command": COMMAND[0], "args": [*COMMAND[1:]], "disabled_tools": ["pid"]}
    file.write_text(json.dumps({"mcpServers": {"theirs": entry}}))
    there, before = file.read_text(), ("--mcp-config", str(file))
    run(*before, "review", "--all")
    run(*before, "refresh")
    run(*before, "disable", "theirs/echo")
    run(*before, "enable", "theirs/pid")
    assert states(run, *before)["mcp_theirs_echo"] == "disabled"
    assert states(run, *before)["mcp_theirs_pid"] == "asleep"
    run(*before, "disable", "theirs")
    assert states(run, *before)["mcp_theirs_pid"] == "disabled"
    run(*before, "enable", "theirs", "theirs/echo")
    assert states(run, *before)["mcp_theirs_echo"] == "asleep"
    assert file.read_text() == there


def test_a_tool_of_a_server_that_was_never_listed_may_be_named(run: Run):
    run("add", "fake", "--no-start", "--", *COMMAND)
    assert run("disable", "fake/echo").code == 0
    run("refresh")
    assert states(run)["mcp_fake_echo"] == "disabled"
