"""The command `toolcrib run`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from toolcrib.cli.app import app

TWICE = "found = await tools.double(n=4)\nprint('found', found)\nfound + 1\n"


def run(shop: str, *arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["--config", shop, "run", *arguments], input=given)


def test_a_program_prints_and_its_last_value_is_shown(shop: str, tmp_path: Path):
    file = tmp_path / "twice.py"
    file.write_text(TWICE)
    ran = run(shop, str(file))
    assert (ran.exit_code, ran.stdout) == (0, "found 8\n9\n")
    assert ran.stderr == "double: done, 1 characters\n"


def test_a_program_comes_from_standard_input_too(shop: str):
    ran = run(shop, "-", "--json", given=TWICE)
    outcome = json.loads(ran.stdout)
    assert (outcome["value"], outcome["printed"]) == (9, "found 8\n")
    assert outcome["calls"] == [{"tool": "double", "effect": "done", "size": 1, "code": ""}]


def test_a_check_lists_the_tools_and_calls_none(shop: str):
    program = "await tools.double(n=4)\nawait tools.pay(to='ann')"
    ran = run(shop, "-", "--check", given=program)
    assert (ran.exit_code, ran.stdout) == (
        0,
        "tools.double  read\ntools.pay  dangerous, asks first\n",
    )
    checked = json.loads(run(shop, "-", "--check", "--json", given="tools.doubel").stdout)
    assert checked["problems"][0]["line"] == 1


def test_what_is_wrong_is_told_and_the_exit_code_is_1(shop: str):
    ran = run(shop, "-", given="await tools.double(m=4)")
    assert ran.exit_code == 1
    assert "async def tools.double(*, n: int) -> Any (bad_program, not_sent)" in ran.stderr


def test_a_call_that_needs_approval_is_made_with_yes(shop: str):
    program = "await tools.pay(to='ann')"
    assert run(shop, "-", given=program).exit_code == 1
    assert run(shop, "-", "--yes", given=program).stdout.startswith("paid ann")


@pytest.mark.parametrize(("answer", "paid"), [("y", True), ("n", False)])
def test_one_question_on_the_terminal_covers_a_program_where_the_rules_allow_it(
    shop: str, answer: str, paid: bool, monkeypatch: pytest.MonkeyPatch
):
    settings = Path(shop)
    settings.write_text(settings.read_text() + '[approval]\nprogram_kinds = ["dangerous"]\n')
    program = Path(shop).with_name("pays.py")
    program.write_text("await tools.pay(to='ann')\nawait tools.pay(to='bob')\n")
    monkeypatch.setattr("toolcrib.cli.call.at_terminal", lambda: True)
    ran = run(shop, str(program), given=f"{answer}\n")
    assert "One answer covers these calls of it: pay twice." in ran.stderr
    assert "await tools.pay(to='bob')" in ran.stderr
    assert ran.stderr.count("Call it?") == 1
    assert ("paid bob" in ran.stdout) == paid
    assert ran.exit_code == (0 if paid else 1)


def test_a_program_that_waits_is_resumed_by_its_handle(shop: str):
    waits = json.loads(run(shop, "-", "--json", given="await tools.pay(to='ann')").stdout)
    handle = waits["suspended"]
    again = run(shop, "--resume", handle)
    assert again.exit_code == 1
    assert f"Go on with it: toolcrib run --resume {handle}" in again.stderr
    assert run(shop, "--resume", handle, "--yes").stdout.startswith("paid ann")
    assert "no program waits under this handle" in run(shop, "--resume", handle).stderr


def test_it_takes_a_file_or_a_handle(shop: str):
    for arguments in ([], ["-", "--resume", "x"], ["--resume", "x", "--check"]):
        ran = run(shop, *arguments)
        assert ran.exit_code != 0
        assert "name a FILE" in str(ran.exception or ran.stderr)


@pytest.mark.parametrize("name", ["missing.py", "."])
def test_a_file_that_cannot_be_read_is_an_error(shop: str, tmp_path: Path, name: str):
    ran = run(shop, str(tmp_path / name))
    assert ran.exit_code != 0
    assert "name a file with a program" in str(ran.exception or ran.stderr)
