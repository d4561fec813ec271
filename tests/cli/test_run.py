"""The command `toolcrib run`."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from toolcrib.cli.app import app

TOOLS = """
double:
  function: counter_tools:double
  permission_kind: read
pay:
  function: counter_tools:pay
  permission_kind: dangerous
"""
CODE = '''
def double(n: int) -> int:
    """Double a number."""
    return 2 * n

def pay(to: str) -> str:
    """Pay somebody."""
    return f"paid {to}"
'''
TWICE = "found = await tools.double(n=4)\nprint('found', found)\nfound + 1\n"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "counter_tools.py").write_text(CODE)
    (tmp_path / "tools.yaml").write_text(TOOLS)
    file = tmp_path / "settings.toml"
    file.write_text(
        'store = "catalog.db"\ntools = ["tools.yaml"]\nbuiltin_tools = false\nplugins = false\n'
        '[embed]\nembedder = "none"\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "counter_tools", sys.modules.get("counter_tools"))
    monkeypatch.delitem(sys.modules, "counter_tools")
    return str(file)


def run(config: str, *arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["--config", config, "run", *arguments], input=given)


def test_a_program_prints_and_its_last_value_is_shown(config: str, tmp_path: Path):
    file = tmp_path / "twice.py"
    file.write_text(TWICE)
    ran = run(config, str(file))
    assert (ran.exit_code, ran.stdout) == (0, "found 8\n9\n")
    assert ran.stderr == "double: done, 1 characters\n"


def test_a_program_comes_from_standard_input_too(config: str):
    ran = run(config, "-", "--json", given=TWICE)
    outcome = json.loads(ran.stdout)
    assert (outcome["value"], outcome["printed"]) == (9, "found 8\n")
    assert outcome["calls"] == [{"tool": "double", "effect": "done", "size": 1, "code": ""}]


def test_a_check_lists_the_tools_and_calls_none(config: str):
    program = "await tools.double(n=4)\nawait tools.pay(to='ann')"
    ran = run(config, "-", "--check", given=program)
    assert (ran.exit_code, ran.stdout) == (
        0,
        "tools.double  read\ntools.pay  dangerous, asks first\n",
    )
    checked = json.loads(run(config, "-", "--check", "--json", given="tools.doubel").stdout)
    assert checked["problems"][0]["line"] == 1


def test_what_is_wrong_is_told_and_the_exit_code_is_1(config: str):
    ran = run(config, "-", given="await tools.double(m=4)")
    assert ran.exit_code == 1
    assert "async def tools.double(*, n: int) -> Any (bad_program, not_sent)" in ran.stderr


def test_a_call_that_needs_approval_is_made_with_yes(config: str):
    program = "await tools.pay(to='ann')"
    assert run(config, "-", given=program).exit_code == 1
    assert run(config, "-", "--yes", given=program).stdout.startswith("paid ann")


def test_a_program_that_waits_is_resumed_by_its_handle(config: str):
    waits = json.loads(run(config, "-", "--json", given="await tools.pay(to='ann')").stdout)
    handle = waits["suspended"]
    again = run(config, "--resume", handle)
    assert again.exit_code == 1
    assert f"Go on with it: toolcrib run --resume {handle}" in again.stderr
    assert run(config, "--resume", handle, "--yes").stdout == "paid ann\n"
    assert "no program waits under this handle" in run(config, "--resume", handle).stderr


def test_it_takes_a_file_or_a_handle(config: str):
    for arguments in ([], ["-", "--resume", "x"], ["--resume", "x", "--check"]):
        ran = run(config, *arguments)
        assert ran.exit_code != 0
        assert "name a FILE" in str(ran.exception or ran.stderr)


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_a_file_that_cannot_be_read_is_an_error(config: str, tmp_path: Path, name: str):
    ran = run(config, str(tmp_path / name))
    assert ran.exit_code != 0
    assert "name a file with a program" in str(ran.exception or ran.stderr)
