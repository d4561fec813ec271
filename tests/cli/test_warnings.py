import json

import pytest

from toolcrib.cli import warnings
from toolcrib.cli.warnings import AGAIN_S, FILE, warn_once


@pytest.fixture
def say(tmp_path, capsys):
    def say(*problems: str, area: str = "all") -> list[str]:
        warn_once(tmp_path, area, problems)
        return [line.split("warning: ")[1] for line in capsys.readouterr().err.splitlines()]

    return say


def test_a_warning_is_said_once(say):
    assert say("one", "two") == ["one", "two"]
    assert say("one", "two", "three") == ["three"]
    assert say("one", "two", "three") == []


def test_what_was_gone_is_said_again(say):
    say("one", "two")
    assert say("two") == []
    assert say("one", "two") == ["one"]


def test_after_a_day_it_is_said_again(say, monkeypatch):
    now = [1e9]
    monkeypatch.setattr(warnings.time, "time", lambda: now[0])
    say("one")
    now[0] += AGAIN_S / 2
    assert say("one") == []
    now[0] += AGAIN_S / 2
    assert say("one") == ["one"]


def test_commands_that_look_at_less_do_not_bring_it_back(say):
    say("one", "two")
    say("one", area="servers")
    assert say("one", "two") == []


@pytest.mark.parametrize("content", ["[", "[]", '{"all": 3}', '{"all": {"x": "y"}}'])
def test_where_it_cannot_be_remembered_all_is_said(say, tmp_path, content):
    (tmp_path / FILE).write_text(content)
    assert say("one") == ["one"]
    assert json.loads((tmp_path / FILE).read_text())["all"]
    (tmp_path / FILE).unlink()
    (tmp_path / FILE).mkdir()
    assert say("one") == say("one") == ["one"]


def test_a_second_command_does_not_repeat_it(run, config, tmp_path):
    with open(config, "a") as file:  # noqa: PTH123 - a name, as typed
        file.write('mcp_config = ["nowhere.json"]\n')
    assert "nowhere.json" in run("--config", config, "list").err
    assert "nowhere.json" not in run("--config", config, "list").err
    assert "nowhere.json" in run("--config", config, "doctor").out
