import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from toolcrib.cli.app import app

TOOLS = """
double:
  function: shop_tools:double
  permission_kind: read
long:
  function: shop_tools:long
  permission_kind: read
pay:
  function: shop_tools:pay
  permission_kind: dangerous
"""
CODE = '''
def double(n: int) -> int:
    """Double a number."""
    return 2 * n

def long() -> str:
    """Return much."""
    return "0123456789" * 5

def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}\\x1b[31m"
'''


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "shop_tools.py").write_text(CODE)
    (tmp_path / "tools.yaml").write_text(TOOLS)
    file = tmp_path / "settings.toml"
    file.write_text(
        'store = ":memory:"\ntools = ["tools.yaml"]\nbuiltin_tools = false\nplugins = false\n'
        "[call]\npage_tokens = 4\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "shop_tools", sys.modules.get("shop_tools"))
    monkeypatch.delitem(sys.modules, "shop_tools")
    return str(file)


def run(config: str, *arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["--config", config, "call", *arguments], input=given)


def test_what_a_tool_returns_is_printed(config: str):
    ran = run(config, "double", '{"n": 4}')
    assert (ran.exit_code, ran.stdout, ran.stderr) == (0, "8\n", "")


def test_arguments_come_from_standard_input_too(config: str):
    assert run(config, "double", "-", given='{"n": 4}').stdout == "8\n"


def test_a_large_result_is_printed_whole(config: str):
    assert run(config, "long").stdout == "0123456789" * 5 + "\n"


def test_a_repair_is_told(config: str):
    ran = run(config, "double", '{"n": "4"}')
    assert ran.stdout == "8\n"
    assert "repaired: $.n" in ran.stderr


def test_what_needs_approval_is_refused_where_nobody_can_be_asked(config: str):
    ran = run(config, "pay", '{"to": "bob"}')
    assert ran.exit_code == 1
    assert not ran.stdout
    assert "--yes" in ran.stderr


def test_yes_approves_and_what_is_printed_is_not_obeyed(config: str):
    ran = run(config, "pay", "--yes", '{"to": "bob"}')
    assert (ran.exit_code, ran.stdout) == (0, "paid bob [31m\n")


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_the_person_there_is_asked(
    config: str, answer: str, code: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.cli.call.at_terminal", lambda: True)
    ran = run(config, "pay", '{"to": "bob"}', given=f"{answer}\n")
    assert ran.exit_code == code
    assert ("paid bob" in ran.stdout) == (code == 0)
    assert '"to": "bob"' in ran.stderr
    assert "Call it?" in ran.stderr


def test_a_bad_call_is_told_with_the_schema(config: str):
    ran = run(config, "double", "{}")
    assert ran.exit_code == 1
    assert "$: " in ran.stderr
    assert '"n": {"type": "integer"}' in ran.stderr


def test_json_has_the_whole_outcome(config: str):
    fine = json.loads(run(config, "double", '{"n": 4}', "--json").stdout)
    assert (fine["content"], fine["error"]) == (8, None)
    ran = run(config, "dubble", "--json")
    assert ran.exit_code == 1
    assert json.loads(ran.stdout)["error"]["code"] == "unknown_tool"


def test_a_call_has_as_long_as_it_is_given(config: str):
    assert run(config, "double", '{"n": 4}', "--timeout", "5").exit_code == 0
    assert run(config, "double", '{"n": 4}', "--timeout", "-1").exit_code == 2
