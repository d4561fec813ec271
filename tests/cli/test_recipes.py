"""The commands `toolcrib recipes`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from toolcrib.cli.app import app
from toolcrib.crib import Crib
from toolcrib.settings import load_settings

DOUBLED = "await tools.double(n=n) * times\n"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "toolcrib" / "recipes"


def recipes(shop: str, *arguments: str, given: str = "") -> Result:
    return CliRunner().invoke(app, ["--config", shop, "recipes", *arguments], input=given)


def save(shop: str, program: str = DOUBLED) -> Result:
    about = ("--description", "Double it several times")
    inputs = ("--input", "n:int", "--input", "times:int=1")
    return recipes(shop, "save", "doubled", "-", *about, *inputs, given=program)


def test_a_recipe_is_saved_listed_shown_called_and_removed(shop: str):
    assert save(shop).stdout == "doubled is a tool now (read); it calls double.\n"
    [listed] = json.loads(recipes(shop, "list", "--json").stdout)
    assert (listed["name"], listed["permission_kind"], listed["changed"]) == ("doubled", "read", [])
    shown = recipes(shop, "show", "doubled").stdout
    assert "calls tools.double  read" in shown
    assert f"    {DOUBLED}" in shown
    called = CliRunner().invoke(app, ["--config", shop, "call", "doubled", '{"n": 4, "times": 3}'])
    assert called.stdout == "24\n"
    assert recipes(shop, "remove", "doubled").exit_code == 0
    assert "There are no recipes" in recipes(shop, "list").stdout


def test_a_program_that_does_not_fit_is_not_kept(shop: str, state: Path):
    refused = save(shop, "await tools.double(m=n)")
    assert refused.exit_code != 0
    assert "async def tools.double(*, n: int) -> Any" in str(refused.exception or refused.stderr)
    assert not state.exists()


def test_a_changed_tool_is_reviewed(shop: str, tmp_path: Path):
    save(shop)
    tools = tmp_path / "tools.yaml"
    tools.write_text(tools.read_text().replace("permission_kind: read", "permission_kind: write"))
    assert "changed: double" in recipes(shop, "list").stdout
    called = CliRunner().invoke(app, ["--config", shop, "call", "doubled", '{"n": 4}'])
    assert "toolcrib recipes review doubled" in called.stderr
    assert recipes(shop, "review", "doubled", given="n\n").exit_code == 1
    kept = recipes(shop, "review", "doubled", "--yes").stdout
    assert "calls tools.double  read, changed or gone" in kept
    assert kept.endswith("doubled is a tool now (write); it calls double.\n")


def test_an_altered_file_is_told_of_and_reviewed(shop: str, state: Path):
    save(shop)
    file = state / "doubled.json"
    file.write_text(file.read_text().replace("* times", "+ times"))
    assert "altered by another hand" in recipes(shop, "list").stderr
    assert recipes(shop, "review", "doubled", "--yes").exit_code == 0
    assert "ready" in recipes(shop, "list").stdout


def test_what_a_model_proposes_is_accepted_or_discarded(shop: str):
    assert recipes(shop, "proposals").stdout == "Nothing is proposed.\n"
    with Crib.from_settings(load_settings({}, Path(shop))) as crib:
        crib.propose_recipe("await tools.double(n=2)", "Double two")
        crib.propose_recipe("await tools.double(n=3)", "Double three")
    first, second = json.loads(recipes(shop, "proposals", "--json").stdout)
    assert "await tools.double(n=2)" in recipes(shop, "proposals").stdout
    assert recipes(shop, "accept", first["id"], "double_two").exit_code == 0
    assert recipes(shop, "discard", second["id"]).exit_code == 0
    assert json.loads(recipes(shop, "proposals", "--json").stdout) == []
    [kept] = json.loads(recipes(shop, "list", "--json").stdout)
    assert (kept["name"], kept["description"]) == ("double_two", "Double two")


@pytest.mark.parametrize("command", ["show", "remove", "review", "discard"])
def test_what_is_not_there_is_said(shop: str, command: str):
    ran = recipes(shop, command, "nothing")
    assert ran.exit_code != 0
    assert "there is no" in str(ran.exception or ran.stderr)
