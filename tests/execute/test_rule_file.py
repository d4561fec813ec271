"""Rules that the commands write: read when they change, and never taken for none."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.execute.counting import CountingSource, offered
from toolcrib import Crib
from toolcrib.errors import ConfigError
from toolcrib.execute import MOST_RULES, Rule, RuleFile, read_rules
from toolcrib.review.rule_desk import rules_json
from toolcrib.settings import load_settings, rules_file

EVERY = (
    Rule("deny", "github/delete_*"),
    Rule("ask", "github/*", "write", "agents"),
    Rule("allow", kind="read"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rules.json"


def put(file: Path, *rules: Rule) -> None:
    """As the commands do: another file takes its place."""
    other = file.with_suffix(".new")
    other.write_bytes(rules_json(rules))
    other.replace(file)


def test_rules_are_read_as_they_were_written(file: Path):
    assert read_rules(file) == ()
    put(file, *EVERY)
    assert read_rules(file) == EVERY


def test_a_change_counts_at_once(file: Path):
    rules = RuleFile(file)
    assert rules.rules() == ()
    put(file, EVERY[0])
    assert rules.rules() == EVERY[:1]
    put(file, EVERY[1])
    assert rules.rules() == EVERY[1:2]
    file.unlink()
    assert rules.rules() == ()


def test_a_file_that_did_not_change_is_not_read_again(file: Path, monkeypatch: pytest.MonkeyPatch):
    put(file, *EVERY)
    rules = RuleFile(file)
    assert rules.rules() == EVERY
    monkeypatch.setattr("toolcrib.execute.rule_file.read_rules", lambda _path: pytest.fail("read"))
    assert rules.rules() == EVERY


BROKEN = [
    "",
    "{",
    "[]",
    "{}",
    '{"rules": {}}',
    '{"rules": [1]}',
    '{"rules": [{}]}',
    '{"rules": [{"verdict": "maybe"}]}',
    '{"rules": [{"verdict": "allow", "kind": "reed"}]}',
    '{"rules": [{"verdict": "deny", "patern": "x"}]}',
    '{"rules": [{"verdict": "deny", "pattern": 5}]}',
    '{"rules": [{"verdict": "deny", "pattern": ""}]}',
    '{"rules": [{"verdict": "deny", "pattern": null}]}',
    "[" * 100_000,
    json.dumps({"rules": [{"verdict": "allow"}] * (MOST_RULES + 1)}),
    '{"rules": [' + " " * 1_100_000 + "]}",
]


@pytest.mark.plan(46)
@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_leaves_what_was_and_lets_nothing_through_where_nothing_was(
    file: Path, text: str
):
    put(file, *EVERY)
    knew, new = RuleFile(file), RuleFile(file)
    assert knew.rules() == EVERY
    file.write_text(text)
    assert knew.rules() == EVERY
    assert "hold" in knew.problem
    with pytest.raises(ConfigError, match="rules"):
        new.rules()
    assert "No tool is called" in new.problem
    put(file, *EVERY[:1])
    assert knew.rules() == new.rules() == EVERY[:1]
    assert (knew.problem, new.problem) == ("", "")


def test_a_file_that_is_none_is_no_error_and_a_pipe_is(file: Path):
    assert RuleFile(None).rules() == ()
    os.mkfifo(file)
    with pytest.raises(ConfigError, match="plain file"):
        RuleFile(file).rules()


def code(crib: Crib) -> str:
    outcome = asyncio.run(crib.call("mcp_shop_pay", {}))
    return outcome.error.code if outcome.error else ""


@pytest.fixture
def crib() -> Crib:
    crib = Crib(load_settings({"TOOLCRIB_STORE": ":memory:"}))
    crib.add_source(CountingSource(offered("pay", "write")))
    return crib


def test_a_crib_goes_by_the_users_rules_as_they_are_at_each_call(crib: Crib):
    assert code(crib) == "approval_needed"
    rules_file().parent.mkdir(parents=True)
    put(rules_file(), Rule("allow", "shop/*"))
    assert code(crib) == ""
    put(rules_file(), Rule("deny", "shop/pay"))
    assert code(crib) == "approval_denied"
    rules_file().write_text("{")
    assert code(crib) == "approval_denied"
    assert "rules.json" in crib.problems[0]


@pytest.mark.plan(46)
def test_where_rules_cannot_be_read_nothing_is_called_and_nobody_is_asked(crib: Crib):
    rules_file().parent.mkdir(parents=True)
    rules_file().write_text('{"rules": [')
    assert code(crib) == "approval_failed"
    assert crib.question("mcp_shop_pay", {}) is None
    assert not crib.operator.tickets.waiting()


def test_a_crib_of_a_program_has_no_rules_but_its_own():
    rules_file().parent.mkdir(parents=True)
    put(rules_file(), Rule("deny"))
    crib = Crib()
    crib.add(lambda: 1, name="one")
    assert asyncio.run(crib.call("one")).ok


def test_the_log_hears_of_a_file_that_breaks_and_not_twice_of_one_that_was_broken(
    file: Path, caplog: pytest.LogCaptureFixture
):
    file.write_text("{")
    assert RuleFile(file).problem
    assert not caplog.messages  # a crib has it among its problems
    put(file, *EVERY)
    rules = RuleFile(file)
    assert rules.rules() == EVERY
    for _ in range(2):
        file.write_text("{")
        assert rules.rules() == EVERY
        file.touch()
    assert len(caplog.messages) == 1
    assert "rules.json" in caplog.messages[0]
