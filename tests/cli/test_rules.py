"""`toolcrib allow`, `ask`, `deny` and `rules`, with a real server behind them."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.errors import AmbiguousName, ConfigError
from toolcrib.settings import config_folder, rules_file

COMMAND = (sys.executable, "-S", str(FAKE))


@pytest.fixture
def fake(run: Run) -> Run:
    run("add", "fake", "--", *COMMAND)
    return run


def written() -> list[dict[str, str]]:
    return json.loads(rules_file().read_text())["rules"]


def code(run: Run, name: str, arguments: str = '{"text": "x"}') -> str:
    error = run("call", name, arguments, "--json").json["error"]
    return error["code"] if error else ""


def test_a_server_that_was_added_works_at_once(fake: Run):
    assert code(fake, "mcp_fake_echo") == ""


def test_a_tool_is_denied_asked_for_and_allowed_again(fake: Run):
    assert "deny: fake/echo (1 tool)." in fake("deny", "mcp_fake_echo").out
    assert code(fake, "mcp_fake_echo") == "approval_denied"
    assert code(fake, "mcp_fake_pid", "{}") == ""
    assert fake("ask", "fake/echo").code == 0
    assert code(fake, "mcp_fake_echo") == "approval_needed"
    assert fake("allow", "echo").code == 0
    assert code(fake, "mcp_fake_echo") == ""
    assert written() == [{"verdict": "allow", "pattern": "fake/echo"}]


def test_a_server_is_meant_as_a_whole_and_a_deny_is_not_undone_by_it(fake: Run):
    fake("deny", "fake/echo")
    told = fake("allow", "fake")
    assert "allow: fake/* (" in told.out
    assert "mcp_fake_echo (deny)" in told.out
    assert code(fake, "mcp_fake_echo") == "approval_denied"
    assert code(fake, "mcp_fake_pid", "{}") == ""


def test_kind_and_profile_narrow_a_rule(fake: Run, tmp_path: Path):
    config_folder().joinpath("config.toml").write_text("[gateway.profiles.agents]\n")
    told = fake("ask", "fake", "--kind", "write", "--profile", "agents", "--json").json
    rule = {"verdict": "ask", "pattern": "fake/*", "kind": "write", "profile": "agents"}
    assert written() == [rule]
    assert told["rules"][0]["rule"] == rule
    assert code(fake, "mcp_fake_echo") == ""  # the command line is no client of that profile
    assert "agents" in str(fake("deny", "fake", "--profile", "agent").error)
    assert fake("deny", "fake", "--kind", "reed").code == 2
    assert written() == [rule]


@pytest.mark.parametrize(
    ("name", "near"),
    [("fakee", "fake"), ("fake/ecko", "fake/echo"), ("nobody/echo", "fake/echo"), ("ehco", "echo")],
)
def test_what_is_not_there_is_an_error_with_the_nearest_name(fake: Run, name: str, near: str):
    ran = fake("deny", "fake/pid", name)
    assert isinstance(ran.error, ConfigError)
    assert near in str(ran.error)
    assert not rules_file().exists()  # all of them, or none


def test_a_name_that_means_two_is_an_error(fake: Run):
    fake("add", "other", "--", *COMMAND)
    assert isinstance(fake("allow", "echo").error, AmbiguousName)
    assert fake("allow", "other/echo").code == 0


def test_a_server_that_was_never_listed_has_rules_too(run: Run):
    run("add", "later", "--no-start", "--", "nothing-of-this-name")
    assert run("deny", "later/delete_*").code == 0
    assert run("ask", "later").code == 0
    assert [rule["pattern"] for rule in written()] == ["later/delete_*", "later/*"]


def test_tools_that_came_along_can_be_allowed(run: Run):
    assert code(run, "delete_file", '{"path": "x"}') == "approval_needed"
    assert run("allow", "delete_file").code == 0
    assert code(run, "delete_file", '{"path": "x"}') == "tool_failed"
    assert written() == [{"verdict": "allow", "pattern": "builtin/delete_file"}]


def test_signs_of_a_pattern_in_a_name_mean_themselves(run: Run):
    run("add", "odd[1]", "--no-start", "--", "nothing-of-this-name")
    run("deny", "odd[1]")
    assert written() == [{"verdict": "deny", "pattern": "odd[[]1]/*"}]


def test_rules_shows_all_in_their_order_and_what_holds_without(fake: Run):
    assert "There are no rules" in fake("rules", "list").out
    config_folder().joinpath("config.toml").write_text(
        '[approval]\nservers = "destructive"\nrules = [{ verdict = "ask", pattern = "fake/*" }]\n'
        '[gateway.profiles.agents]\napproval = "ask"\n'
    )
    fake("deny", "fake/echo")
    shown = fake("rules", "list")
    lines = shown.out.splitlines()
    assert lines[1].split()[:6] == ["1", "deny", "fake/echo", "any", "any", "rules.json"]
    assert lines[2].split()[:6] == ["2", "ask", "fake/*", "any", "any", "config.toml"]
    assert "marked as destructive" in shown.out
    assert "profile agents: reads pass" in shown.out
    told = fake("rules", "list", "--json").json
    first, second = told["rules"]
    assert first["fits"] == first["decides"] == ["mcp_fake_echo"]
    assert set(second["fits"]) - set(second["decides"]) == {"mcp_fake_echo"}
    assert told["default"] == {"servers": "destructive", "profiles": {"agents": "ask"}}


def test_a_rule_is_removed_by_its_number(fake: Run):
    config_folder().joinpath("config.toml").write_text(
        '[approval]\nrules = [{ verdict = "ask", pattern = "fake/*" }]\n'
    )
    fake("deny", "fake/echo")
    assert "config.toml" in str(fake("rules", "remove", "2").error)
    for wrong in ("0", "3", "-1"):
        assert fake("rules", "remove", wrong).code != 0
    assert "rules.json" not in fake("rules", "remove", "1").out
    assert written() == []
    assert code(fake, "mcp_fake_echo") == "approval_needed"


def test_file_tools_refuse_the_rules(run: Run):
    run("add", "later", "--no-start", "--", "nothing-of-this-name")
    run("deny", "later")
    for tool, more in (("read_file", {}), ("write_file", {"text": "{}"})):
        arguments = json.dumps({"path": str(rules_file()), **more})
        refused = run("call", tool, arguments, "--yes", "--json").json["error"]
        assert refused, tool
    assert written()


@pytest.mark.parametrize(
    ("elicitation", "told"),
    [
        ("", "Your own clients ask you, if they can. Other calls wait for you"),
        ("all", "whoever makes a call may approve it"),
        ("none", "No client asks. Each call waits for you"),
    ],
)
def test_ask_says_who_will_be_asked(fake: Run, tmp_path: Path, elicitation: str, told: str):
    config = tmp_path / "settings.toml"
    config.write_text(f'[approval]\nelicitation = "{elicitation}"\n' if elicitation else "")
    said = fake("--config", str(config), "ask", "fake/echo").out
    assert told in " ".join(said.split())
    assert "toolcrib approvals list" in said
    assert "approvals list" not in fake("allow", "fake/echo").out


def test_a_rule_is_written_for_a_tool_as_other_hosts_write_it(fake: Run):
    assert "deny: fake/echo (1 tool)." in fake("deny", "mcp__fake__echo").out
    assert "deny: fake/* (" in fake("deny", "mcp__fake").out
    assert "deny: mcp__fake__e* (4 tools)." in fake("deny", "mcp__fake__e*").out
    for wrong in ("mcp__fakee__echo", "mcp__fake__ecko", "mcp__fak__*", "mcp__fakee"):
        assert isinstance(fake("deny", wrong).error, ConfigError), wrong


def test_a_rule_for_a_server_that_is_not_listed_says_so(run: Run):
    run("add", "later", "--no-start", "--", "nothing-of-this-name")
    for name in ("later/delete_*", "later", "mcp__later__delete_*", "mcp__later__delete_all"):
        told = run("deny", name)
        assert told.code == 0, name
        assert "(0 tools yet: later is not listed, see `toolcrib refresh later`)." in told.out
    for wrong in ("late", "mcp", "mcp__lat__x", "nobody/*"):
        assert isinstance(run("deny", wrong).error, ConfigError), wrong
