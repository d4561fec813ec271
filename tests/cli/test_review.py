import json
import sys

import pytest
from typer.testing import CliRunner

from tests.sources.mcp.faking import FAKE, own_file
from toolcrib.cli import review
from toolcrib.cli.app import app
from toolcrib.errors import AmbiguousName, ConfigError, UnknownTool
from toolcrib.settings import Settings
from toolcrib.sources.mcp import McpServers
from toolcrib.sources.mcp.listing import ServerFacts, ServerIntroduction, ServerListing
from toolcrib.wiring import stores_of

TOOLS = [{"name": name, "description": f"To {name}"} for name in ("look", "move", "eat")]


@pytest.fixture
def file(tmp_path):
    """Two strict servers whose tools nobody has approved; none is ever started."""
    file = own_file()
    server = {"command": sys.executable, "args": [str(FAKE)], "trust": "strict"}
    file.write_text(json.dumps({"mcpServers": {"a": server, "b": server}}))
    learn(file, TOOLS)
    return file


@pytest.fixture
def run(file):
    """Runs a command over them."""

    def run(*arguments, answers=""):
        return CliRunner().invoke(app, ["--mcp-config", str(file), *arguments], input=answers)

    return run


def learn(file, tools):
    """Let the servers have listed these."""
    servers = McpServers.open([file], stores_of(Settings()))
    for source in servers.sources:
        source._memory.keep(
            ServerIntroduction(ServerFacts("2025-11-25"), ServerListing(tuple(tools))), 0.1
        )
    servers.close()


def waiting(run):
    return [item["name"] for item in json.loads(run("review", "--json").stdout)["waiting"]]


def test_what_waits_is_shown_and_the_exit_code_says_so(run):
    done = run("review", "a")
    assert done.exit_code == 1
    assert "mcp_a_look (a, unreviewed, pin " in done.output
    assert "+ To look" in done.output
    assert "mcp_b_look" not in done.output
    assert "Waiting for review: 3." in done.output


def test_all_of_one_server_are_approved_and_no_other(run):
    done = run("review", "a", "--all")
    assert done.exit_code == 0
    assert "approved: mcp_a_look, mcp_a_move, mcp_a_eat" in done.output
    assert waiting(run) == ["mcp_b_look", "mcp_b_move", "mcp_b_eat"]


def test_names_are_those_models_see_or_the_servers_own_if_unique(run):
    assert isinstance(run("review", "--approve", "look").exception, AmbiguousName)
    assert "a/look, b/look" in str(run("review", "--approve", "look").exception)
    run("review", "--approve", "mcp_a_look", "--reject", "b/look")
    run("review", "b", "--approve", "eat")
    assert waiting(run) == ["mcp_a_move", "mcp_a_eat", "mcp_b_move"]


def test_an_unknown_name_or_server_is_told_with_the_nearest(run):
    done = run("review", "--approve", "mcp_a_lok")
    assert isinstance(done.exception, UnknownTool)
    assert "a/look" in str(done.exception)
    assert isinstance(run("review", "aa").exception, ConfigError)


def test_nothing_is_decided_if_one_name_is_wrong(run):
    run("review", "--approve", "mcp_a_look", "--approve", "nonsense")
    run("review", "--approve", "mcp_a_look", "--reject", "mcp_a_look")
    assert len(waiting(run)) == 6


def test_a_pin_binds_a_decision_to_what_was_seen(run):
    pins = {i["name"]: i["pin"] for i in json.loads(run("review", "--json").stdout)["waiting"]}
    wrong = run("review", "--approve", "mcp_a_look", "--pin", "0000")
    assert isinstance(wrong.exception, ConfigError)
    assert len(waiting(run)) == 6
    run("review", "--approve", "mcp_a_look", "--pin", pins["mcp_a_look"][:12])
    assert len(waiting(run)) == 5


def test_a_rejected_tool_can_be_approved_after_all(run):
    run("review", "--reject", "mcp_a_look")
    assert "mcp_a_look" not in waiting(run)
    assert run("review", "--approve", "mcp_a_look", "--json").exit_code == 1
    listed = json.loads(run("list", "--json").stdout)
    states = {row["name"]: row["state"] for row in listed}
    assert states["mcp_a_look"] == "asleep"


def test_a_person_at_a_terminal_is_asked_about_each(run, monkeypatch):
    monkeypatch.setattr(review, "at_terminal", lambda: True)
    done = run("review", "a", answers="a\nr\ns\n")
    assert "approved: mcp_a_look" in done.output
    assert "rejected: mcp_a_move" in done.output
    assert done.exit_code == 1
    assert run("review", "b", answers="q\n").exit_code == 1
    assert waiting(run) == ["mcp_a_eat", "mcp_b_look", "mcp_b_move", "mcp_b_eat"]


def test_nobody_is_asked_without_a_terminal(run):
    done = run("review", answers="a\na\na\n")
    assert "approved" not in done.output
    assert len(waiting(run)) == 6


def test_what_a_stranger_wrote_is_shown_and_never_obeyed(run, file):
    evil = "x\x1b]0;owned\x07 [bold]\r\u202ereversed"
    learn(file, [{"name": "look", "description": evil}])
    for option in ((), ("--json",)):
        out = run("review", *option).stdout
        assert not set(out) & set("\x1b\x07\r\u202e")
    assert "⟨U+001B⟩]0;owned⟨U+0007⟩ [bold]" in run("review").stdout


def test_without_servers_there_is_nothing_to_review():
    done = CliRunner().invoke(app, ["review"])
    assert isinstance(done.exception, ConfigError)
    assert "--mcp-config" in str(done.exception)


def test_the_doctor_sends_who_has_tools_waiting_to_the_review(run):
    found = json.loads(run("doctor", "--json").stdout)
    waits = [each for each in found if "waiting for review: 3" in each["message"]]
    assert [(each["area"], each["remedy"]) for each in waits] == [
        ("servers", "toolcrib review a"),
        ("servers", "toolcrib review b"),
    ]
    assert "whoever makes the server" not in run("doctor").stdout
