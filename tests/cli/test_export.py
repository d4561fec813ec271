import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, unlisted
from tests.client_config.configs import CONFIGS, entries, every_client, ours, put
from toolcrib.client_config import client_named
from toolcrib.client_config.entry_reader import read_entry
from toolcrib.errors import ConfigError
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import read_table


@pytest.fixture
def run(run: Run) -> Run:
    return unlisted(run)


def transports(name: str, path: Path) -> Any:
    """What a client would start or reach, by name."""
    shape = client_named(name).layouts[0].format
    found = {}
    for server in CONFIGS[name].taken:
        taken = read_entry(shape, entries(name, path)[server], Path.home())
        (read,) = read_table(own_servers_file(), {server: taken.entry}).servers
        found[server] = (read.transport, read.disabled)
    return found


@every_client
def test_what_was_imported_is_exported_again(run: Run, home: Path, name: str):
    path = put(home, name)
    before, names = transports(name, path), {*entries(name, path)}
    run("import", "--client", name, "--yes")
    imported = path.read_bytes()
    (told,) = run("export", "--client", name, "--yes", "--json").json
    assert told["left"] == {}
    assert {*entries(name, path)} == names
    assert transports(name, path) == before
    assert {*ours()} == {*CONFIGS[name].taken}
    run("import", "--undo", "--yes")
    assert path.read_bytes() == imported


def test_one_client_is_left_for_another(run: Run, home: Path):
    put(home, "codex")
    run("import", "--client", "codex", "--yes")
    (told,) = run("export", "--client", "vscode", "--yes", "--json").json
    path = home / ".config/Code/User/mcp.json"
    assert {*told["left"]} == {"figma"}  # switched off, which the file of VS Code cannot say
    assert entries("vscode", path) == {
        "docs": {
            "type": "stdio",
            "command": "npx",
            "args": ["-y", "docs-server"],
            "env": {
                "DOCS_TOKEN": "${env:DOCS_TOKEN}",
                "DOCS_MODE": "fast",
                "DOCS_KEY": "s3cret-docs",
            },
        }
    }
    again = run("export", "--client", "vscode", "--yes", "--json").json
    assert not again[0]["changes"]


def test_a_server_of_the_same_name_in_the_client_stays(run: Run, home: Path):
    path = put(home, "cursor")
    run("add", "browser", "--no-start", "--", "mine")
    (told,) = run("export", "--client", "cursor", "--yes", "--json").json
    assert "another server of this name" in told["left"]["browser"]
    assert path.read_text() == CONFIGS["cursor"].text


def test_the_entries_are_printed_for_any_client(run: Run):
    run("add", "a", "--no-start", "--env", "K=v", "--", "x", "y")
    run("add", "b", "--no-start", "--env", "TOKEN", "--", "x")
    printed = json.loads(run("export", "--client", "cursor", "--print").out)
    assert printed["mcpServers"]["a"] == {"command": "x", "args": ["y"], "env": {"K": "v"}}
    printed = tomllib.loads(run("export", "--client", "codex", "--print").out)
    assert printed["mcp_servers"]["b"] == {"command": "x", "args": [], "env_vars": ["TOKEN"]}
    ran = run("export", "--client", "claude-desktop", "--print")
    assert {*json.loads(ran.out)["mcpServers"]} == {"a"}
    assert "b is left out" in ran.err


def test_our_own_shim_is_no_server_to_export(run: Run):
    run("add", "gate", "--no-start", "--", "/usr/bin/toolcrib", "connect")
    assert json.loads(run("export", "--client", "cursor", "--print").out) == {"mcpServers": {}}


def test_nothing_is_written_without_leave(run: Run, home: Path):
    path = put(home, "cursor")
    run("add", "a", "--no-start", "--", "x")
    assert isinstance(run("export", "--client", "cursor").error, ConfigError)
    assert '+    "a"' in run("export", "--client", "cursor", "--dry-run").out
    assert path.read_text() == CONFIGS["cursor"].text


@pytest.mark.parametrize("option", [(), ("--print",)])
def test_an_unknown_client_is_told(run: Run, option: tuple[str, ...]):
    ran = run("export", "--client", "zedd", "--yes", *option)
    assert "nearest: zed" in str(ran.error)
