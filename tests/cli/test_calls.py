import json
import sys
import time
from itertools import islice
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.defaults import RETENTION
from tests.sources.mcp.faking import FAKE, own_file
from toolcrib.cli.app import app
from toolcrib.cli.events import _CALLS, LogReader
from toolcrib.errors import ConfigError
from toolcrib.model import Event
from toolcrib.store import EventFile, EventFilter


@pytest.fixture
def run(tmp_path):
    command = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    renamed = command | {"tool_prefix": "other"}
    table = {"fake": command, "renamed": renamed}
    own_file().write_text(json.dumps({"mcpServers": table}))
    settings = tmp_path / "settings.toml"
    settings.write_text('store = "catalog.db"\n')

    def run(*arguments):
        return CliRunner().invoke(app, ["--config", str(settings), *arguments])

    return run


def row(tool: str, source: str = "", code: str = "", effect: str = "") -> Event:
    facts = {"pin": "pin", "arguments": "hash", "verdict": "allow", "effect": effect}
    return Event(
        time.time(),
        "call",
        "ann",
        name=tool,
        server=source,
        seconds=0.0123,
        code=code,
        facts=facts,
    )


@pytest.fixture
def written(tmp_path: Path):
    file = EventFile(tmp_path / "events.db", RETENTION)
    file.write(
        [
            row("add_numbers"),
            row("mcp_fake_echo", "fake"),
            row("mcp_fake_crash", "fake", "connection_lost", "unknown"),
            row("mcp_fake_gone", "", "unknown_tool", "not_sent"),
            row("mcp_other_echo", "other"),
            row("mcp_odd\x1b[2J\nname", "x"),
        ]
    )
    file.close()


def test_a_call_is_shown_once_it_was_made(run):
    assert "Nothing is logged yet" in run("calls").stderr
    assert json.loads(run("calls", "--json").stdout) == []
    run("call", "no_such_tool")
    shown = run("calls").stdout.splitlines()
    assert shown[0].split() == ["tool", "when", "ended", "ms", "by", "rules"]
    tool, _day, _time, ended, _took, by, rules = shown[1].split()
    assert (tool, ended, by, rules) == ("no_such_tool", "unknown_tool", "host", "-")


@pytest.mark.usefixtures("written")
def test_the_newest_is_last_and_the_old_ones_are_left_out(run):
    every = [each["tool"] for each in json.loads(run("calls", "--json").stdout)]
    assert every[0] == "add_numbers"
    assert len(every) == 6
    last = json.loads(run("calls", "--json", "--lines", "2").stdout)
    assert [each["tool"] for each in last] == every[-2:]
    assert "\x1b" not in run("calls").stdout
    assert len(run("calls").stdout.splitlines()) == 7


@pytest.mark.usefixtures("written")
def test_calls_of_one_server_by_whatever_prefix_and_those_that_failed(run):
    def tools(*options):
        return [each["tool"] for each in json.loads(run("calls", "--json", *options).stdout)]

    assert tools("--server", "fake") == ["mcp_fake_echo", "mcp_fake_crash", "mcp_fake_gone"]
    assert tools("--server", "renamed") == ["mcp_other_echo"]
    assert tools("--failed") == ["mcp_fake_crash", "mcp_fake_gone"]
    shown = run("calls", "--failed", "--server", "fake", "-n", "2").stdout
    assert "connection_lost (unknown)" in shown
    assert "unknown_tool " in shown
    wrong = run("calls", "--server", "fkae")
    assert isinstance(wrong.exception, ConfigError)
    assert "nearest: fake" in str(wrong.exception)


def test_without_a_log_it_says_which_setting_it_is(run, tmp_path):
    with (tmp_path / "settings.toml").open("a") as file:
        file.write("[observe]\nenabled = false\n")
    assert "observe.enabled" in str(run("calls").exception)


@pytest.mark.usefixtures("written")
def test_what_comes_is_followed(tmp_path):
    reading, writing = (EventFile(tmp_path / "events.db", RETENTION) for _ in range(2))
    newest = max(reading.after(0, 1))
    coming = LogReader(reading, EventFilter(("call",), failed=True), _CALLS).coming(newest)
    writing.write([row("fine"), row("bad", code="x"), row("worse", code="y")])
    assert [each.name for _, each in islice(coming, 2)] == ["bad", "worse"]
    reading.close()
    writing.close()
