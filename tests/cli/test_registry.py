"""`toolcrib add --from server.json`."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE
from toolcrib.cli.app import app
from toolcrib.errors import ConfigError
from toolcrib.settings import own_servers_file

NEEDY = {
    "registryType": "pypi",
    "identifier": "weather",
    "version": "1.0",
    "transport": {"type": "stdio"},
    "environmentVariables": [
        {"name": "WEATHER_KEY", "isRequired": True, "isSecret": True, "description": "From us"},
        {"name": "CITY", "isRequired": True, "description": "Where it \x1b[31mrains"},
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "server.json"


def write(file: Path, **keys: Any) -> str:
    server = {"name": "io.github.me/weather", "description": "It rains", "version": "1.0"}
    text = json.dumps({**server, **keys})
    file.write_text(text)
    return text


def entry(name: str) -> Any:
    return json.loads(own_servers_file().read_text())["mcpServers"][name]


def test_a_described_server_is_added_shown_and_listed(run: Run, file: Path):
    """The runner is one that runs here: a Python whose package is a script."""
    package = {"registryType": "pypi", "identifier": str(FAKE), "runtimeHint": sys.executable}
    runtime = [{"type": "named", "name": "-S"}]
    write(file, packages=[{**package, "runtimeArguments": runtime}])
    ran = run("add", "--from", str(file), "--yes")
    assert ran.code == 0, ran
    assert f"runs {sys.executable} -S {FAKE}" in ran.out
    assert "weather: 12 tools" in ran.out
    assert entry("weather")["args"] == ["-S", str(FAKE)]


def test_what_is_missing_is_named_and_secrets_are_references(run: Run, file: Path):
    write(file, packages=[NEEDY])
    ran = run("add", "rain", "--from", str(file), "--yes", "--no-start")
    assert isinstance(ran.error, ConfigError)
    assert "--value CITY=..." in str(ran.error)
    assert not own_servers_file().exists()
    ran = run("add", "rain", "--from", str(file), "--yes", "--no-start", "--value", "CITY=Ulm")
    assert "WEATHER_KEY is not set here" in ran.err
    assert entry("rain") == {
        "command": "uvx",
        "args": ["weather@1.0"],
        "env": {"CITY": "Ulm"},
        "env_from": ["WEATHER_KEY"],
    }


def test_at_a_terminal_it_is_asked_for_and_nothing_is_added_without_a_yes(
    file: Path, monkeypatch: pytest.MonkeyPatch
):
    write(file, packages=[NEEDY])
    monkeypatch.setattr("toolcrib.cli.consent.at_terminal", lambda: True)
    monkeypatch.setattr("toolcrib.cli.registry.at_terminal", lambda: True)
    arguments = ["add", "--from", str(file), "--no-start"]
    no = CliRunner().invoke(app, arguments, input="Ulm\nn\n")
    assert "Where it  [31mrains (CITY)" in no.output
    assert no.exit_code == 1
    assert not own_servers_file().exists()
    yes = CliRunner().invoke(app, arguments, input="Ulm\ny\n")
    assert yes.exit_code == 0, yes.output
    assert entry("weather")["env"] == {"CITY": "Ulm"}


def test_nobody_to_ask_is_an_error_with_the_remedy(run: Run, file: Path):
    write(file, packages=[NEEDY])
    assert "--yes" in str(run("add", "--from", str(file)).error)


def test_a_way_can_be_chosen_and_standard_input_read(file: Path, run: Run):
    remotes = [{"type": "streamable-http", "url": "https://x.example/mcp"}]
    text = write(file, packages=[NEEDY], remotes=remotes)
    arguments = ["add", "far", "--from", "-", "--use", "remote", "--yes", "--no-start"]
    done = CliRunner().invoke(app, arguments, input=text)
    assert done.exit_code == 0, done.output
    assert entry("far") == {"type": "http", "url": "https://x.example/mcp"}
    assert "has pypi, remote" in str(run("add", "--from", str(file), "--use", "npm", "--yes").error)
    assert "there is no kind" in str(run("add", "--from", str(file), "--use", "x", "--yes").error)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--from", "FILE", "--url", "https://x", "--yes"],
        ["--from", "FILE", "--yes", "--", "npx", "x"],
        ["a", "--value", "x=y", "--", "npx"],
        [],
    ],
)
def test_options_that_do_not_go_together_are_refused(run: Run, file: Path, arguments: list[str]):
    write(file, packages=[NEEDY])
    given = [str(file) if each == "FILE" else each for each in arguments]
    assert isinstance(run("add", *given).error, ConfigError)
    assert not own_servers_file().exists()


def test_what_would_be_run_sent_and_read_is_shown_as_it_stands(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("UV_INDEX_HOUSE_PASSWORD", "hunter22")
    key = {"name": "SERVICE_KEY", "isRequired": True, "isSecret": True}
    mode = {"name": "PYTHONPATH", "value": "/tmp/\u202egood\n  runs nothing"}
    given = {"name": "TOKEN", "isSecret": True}
    package = {**NEEDY, "environmentVariables": [key, mode, given]}
    write(file, packages=[package], description="It\u200b rains\n  runs nothing")
    ran = run("add", "--from", str(file), "--dry-run", "--value", "TOKEN=s3cret-of-mine")
    assert ran.code == 0, ran
    assert "It⟨U+200B⟩ rains\\n  runs nothing\n" in ran.out
    assert "  is given PYTHONPATH: /tmp/⟨U+202E⟩good\\n  runs nothing\n" in ran.out
    assert "  is given TOKEN: ***\n" in ran.out
    [reads] = [line for line in ran.out.splitlines() if "reads your variables:" in line]
    assert {"SERVICE_KEY", "UV_INDEX_HOUSE_PASSWORD"} <= {*reads.replace(",", "").split()}
    assert "s3cret-of-mine" not in ran.out + ran.err
    assert not own_servers_file().exists()


def test_a_header_and_the_variable_that_fills_it_are_shown(run: Run, file: Path):
    headers = [
        {"name": "X-Client-Version", "value": "1.2"},
        {"name": "X-Key", "isSecret": True, "isRequired": True},
    ]
    url = "https://x.example/mcp"
    write(file, remotes=[{"type": "streamable-http", "url": url, "headers": headers}])
    shown = run("add", "--from", str(file), "--dry-run").out
    assert f"  is reached at {url}\n" in shown
    assert "  is given X-Client-Version: 1.2\n  is given X-Key: ${X_KEY}\n" in shown
    assert "  reads your variables: X_KEY\n" in shown


def test_an_entry_that_cannot_be_used_is_refused_before_it_is_shown(run: Run, file: Path):
    write(file, remotes=[{"type": "http", "url": "gopher://x"}])
    assert "http://" in str(run("add", "--from", str(file), "--dry-run").error)
