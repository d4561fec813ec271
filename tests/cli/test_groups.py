"""Commands that share a noun: their own help, their completion, and their older spellings."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import COMMANDS, Run
from toolcrib.cli.app import app
from toolcrib.cli.groups import CommandGroup
from toolcrib.settings import Settings
from toolcrib.sources.apps import KnownApp, SDKToolsCache
from toolcrib.system import RUN_FOLDER_VARIABLE

GROUPS = {name: each for name, each in COMMANDS.items() if isinstance(each, CommandGroup)}


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No gateway runs."""
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path / "run"))


@pytest.fixture
def editor() -> SDKToolsCache:
    """Where one app is known."""
    cache = SDKToolsCache(Settings().state_folder / "apps" / "known")
    cache.write(KnownApp("editor"))
    return cache


def test_what_has_action_words_is_a_group():
    trusted = {"rules", "approvals"}
    assert set(GROUPS) == {"gateway", "keys", "apps", *trusted, "db", "recipes", "tenants", "eval"}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_shows_its_commands_and_no_older_spelling(run: Run, name: str):
    shown = run(name, "--help").out
    assert f"Usage: toolcrib {name} COMMAND [ARGS]..." in shown
    assert f"    toolcrib {name} " in shown
    lines = [
        line.split()[0] for line in shown.splitlines() if line[:2] == "  " and line[2:3] != " "
    ]
    assert [line for line in lines if line in GROUPS[name].commands] == [*GROUPS[name].commands]
    assert "older" not in shown


@pytest.mark.parametrize("name", GROUPS)
def test_the_actions_complete(name: str):
    asked = {"COMP_WORDS": f"toolcrib {name} ", "COMP_CWORD": "2"}
    env = {"_TOOLCRIB_COMPLETE": "complete_bash", **asked}
    offered = CliRunner().invoke(app, [], env=env, prog_name="toolcrib").stdout.split()
    assert offered == [*GROUPS[name].commands]


@pytest.mark.parametrize(
    ("name", "action"), [(name, next(iter(GROUPS[name].commands))) for name in GROUPS]
)
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_without_an_action_word_the_first_is_meant(
    run: Run, name: str, action: str, option: tuple[str, ...]
):
    older, newer = run(name, *option), run(name, action, *option)
    assert (older.code, older.out, str(older.error)) == (newer.code, newer.out, str(newer.error))


def test_an_option_may_stand_before_the_action_word(run: Run):
    assert run("keys", "--profile", "default", "--json", "add", "ci").json["name"] == "ci"
    assert run("keys", "--json", "remove", "ci").json == []


def test_an_app_is_changed_and_forgotten_by_the_older_spellings(run: Run, editor: SDKToolsCache):
    assert run("apps", "editor", "--json").json[0]["launch"] == []
    assert run("apps", "editor", "--json", "--", "e", "-x").json[0]["launch"] == ["e", "-x"]
    assert "not both" in str(run("apps", "editor", "--forget", "--", "e").error)
    assert run("apps", "--forget", "editor", "--json").json == []


def test_an_unknown_action_is_told_with_the_nearest(run: Run):
    ran = run("keys", "lits")
    assert ran.code == 2
    assert "Did you mean 'list'?" in ran.err
