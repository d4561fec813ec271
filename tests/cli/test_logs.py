import json
import sys
from itertools import count, islice
from threading import Thread

import pytest
from typer.testing import CliRunner

from tests.sources.mcp.faking import FAKE, own_file
from tests.waiting import until
from toolcrib.cli.app import app
from toolcrib.cli.logs import new_lines
from toolcrib.errors import ConfigError
from toolcrib.gateway import log_file
from toolcrib.settings import default_settings
from toolcrib.sources.mcp import last_log_lines, log_path
from toolcrib.sources.mcp.server_log import ServerLog, old_log


@pytest.fixture
def run(tmp_path):
    command = {"command": sys.executable, "args": ["-S", str(FAKE), "exit-at-once"]}
    broken = {"url": "gopher://x"}
    file = own_file()
    file.write_text(json.dumps({"mcpServers": {"bad": command, "broken": broken}}))

    def run(*arguments):
        return CliRunner().invoke(app, ["--mcp-config", str(file), *arguments])

    return run


def test_the_log_of_a_server_tells_why_it_does_not_start(run):
    never = run("logs", "bad")
    assert never.exit_code == 0
    assert "`toolcrib refresh bad` starts it" in never.stderr
    run("refresh")
    shown = run("logs", "bad").stdout
    assert "toolcrib: starting" in shown
    assert "stderr: no licence found" in shown
    assert run("logs", "bad", "--lines", "1").stdout.count("\n") == 1
    assert "exit status 3" in run("logs", "bad", "-n", "1").stdout
    assert "exit status 3" in json.loads(run("logs", "bad", "-n", "1", "--json").stdout)


def test_a_server_that_is_not_configured_is_named_with_the_nearest(run):
    done = run("logs", "bda")
    assert isinstance(done.exception, ConfigError)
    assert "nearest: bad" in str(done.exception)


def test_a_broken_entry_has_a_log_as_well(run):
    assert "never started" in run("logs", "broken").stderr


def test_without_a_server_it_is_the_log_of_the_gateway(run):
    assert "no log file" in run("logs").stderr
    path = log_file(default_settings({}).state_folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("one\ntwo\x1b[2J\n")
    assert run("logs", "--lines", "1").stdout == "two [2J\n"


def test_the_last_lines_reach_into_the_old_file(tmp_path):
    path = tmp_path / "a.log"
    assert last_log_lines(path, 3) == []
    old_log(path).write_text("1\n2\n")
    path.write_text("3\n4\n")
    assert last_log_lines(path, 3) == ["2", "3", "4"]
    assert last_log_lines(path, 0) == []
    assert last_log_lines(path, 100) == ["1", "2", "3", "4"]


def test_what_comes_is_followed_into_the_next_file(tmp_path):
    path = log_path(tmp_path, "one")
    heard: list[str] = []
    following = Thread(target=lambda: heard.extend(islice(new_lines(path), 3)), daemon=True)
    log = ServerLog("one", path)
    following.start()
    log.note("zero")
    until(path.exists)
    # What was there when it began is not told again; so write until all three were heard.
    numbers = count(1)

    def all_heard() -> bool:
        number = next(numbers)
        log.note(f"number {number}")
        if number == 2:
            path.replace(old_log(path))
        return not following.is_alive()

    until(all_heard)
    assert len(heard) == 3
    assert all("toolcrib: " in line for line in heard)
