import json

import pytest
from typer.testing import CliRunner, Result

from toolcrib.cli.app import app


def run(shop: str, *arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["--config", shop, "call", *arguments], input=given)


def test_what_a_tool_returns_is_printed(shop: str):
    ran = run(shop, "double", '{"n": 4}')
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "8\n", "")


def test_arguments_come_from_standard_input_too(shop: str):
    assert run(shop, "double", "-", given='{"n": 4}').stdout == "8\n"


def test_a_large_result_is_printed_whole(shop: str):
    assert run(shop, "long").stdout == "0123456789" * 5 + "\n"


def test_a_repair_is_told(shop: str):
    ran = run(shop, "double", '{"n": "4"}')
    assert ran.stdout == "8\n"
    assert "repaired: $.n" in ran.stderr


def test_what_needs_approval_is_refused_where_nobody_can_be_asked(shop: str):
    ran = run(shop, "pay", '{"to": "bob"}')
    assert ran.exit_code == 1
    assert not ran.stdout
    assert "--yes" in ran.stderr


def test_yes_approves_and_what_is_printed_is_not_obeyed(shop: str):
    ran = run(shop, "pay", "--yes", '{"to": "bob"}')
    assert (ran.exit_code, ran.stdout) == (0, "paid bob [31m\n")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_the_person_there_is_asked(
    shop: str, answer: str, code: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.cli.call.at_terminal", lambda: True)
    ran = run(shop, "pay", '{"to": "bob"}', given=f"{answer}\n")
    assert ran.exit_code == code
    assert ("paid bob" in ran.stdout) == (code == 0)
    assert '"to": "bob"' in ran.stderr
    assert "Call it?" in ran.stderr


def test_a_bad_call_is_told_with_the_schema(shop: str):
    ran = run(shop, "double", "{}")
    assert ran.exit_code == 1
    assert "$: " in ran.stderr
    assert '"n": {"type": "integer"}' in ran.stderr


def test_json_has_the_whole_outcome(shop: str):
    fine = json.loads(run(shop, "double", '{"n": 4}', "--json").stdout)
    assert (fine["content"], fine["error"]) == (8, None)
    ran = run(shop, "dubble", "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout)["error"]["code"] == "unknown_tool"


def test_a_call_has_as_long_as_it_is_given(shop: str):
    assert run(shop, "double", '{"n": 4}', "--timeout", "5").exit_code == 0
    assert run(shop, "double", '{"n": 4}', "--timeout", "-1").exit_code == 2
