from pathlib import Path
from typing import Any

import pytest

from toolcrib.client_config import CLIENTS, client_named
from toolcrib.client_config.entry_format import CannotConvert
from toolcrib.client_config.entry_reader import read_entry
from toolcrib.client_config.entry_writer import write_entry
from toolcrib.model import Json
from toolcrib.sources.mcp import read_table

HOME = Path("/home/me")


def taken(client: str, entry: Json, project: Path | None = None) -> Any:
    return read_entry(client_named(client).layouts[0].format, entry, HOME, project).entry


@pytest.mark.parametrize(
    ("client", "theirs", "ours"),
    [
        ("codex", {"command": "x", "args": ["a"]}, {"command": "x", "args": ["a"]}),
        (
            "codex",
            {"command": "x", "env_vars": ["A", {"name": "B", "source": "local"}]},
            {"command": "x", "env_from": ["A", "B"]},
        ),
        (
            "codex",
            {"url": "https://x/mcp", "env_http_headers": {"X-Key": "KEY"}},
            {"type": "http", "url": "https://x/mcp", "headers": {"X-Key": "${KEY}"}},
        ),
        (
            "codex",
            {"command": "x", "startup_timeout_sec": 20, "tool_timeout_sec": 1.5},
            {"command": "x", "start_timeout_s": 20, "call_timeout_s": 1.5},
        ),
        (
            "vscode",
            {"command": "x", "env": {"N": 5, "B": True}},
            {"command": "x", "env": {"N": "5", "B": "true"}},
        ),
        ("vscode", {"command": "x", "env": {"N": None}}, {"command": "x"}),
        ("cursor", {"url": "https://x/mcp"}, {"type": "http", "url": "https://x/mcp"}),
        (
            "cursor",
            {"type": "streamableHttp", "url": "https://x/sse"},
            {"type": "http", "url": "https://x/sse"},
        ),
        ("cursor", {"url": "https://x/sse"}, {"type": "sse", "url": "https://x/sse"}),
        ("cursor", {"url": "https://x/sse/?a=b"}, {"type": "sse", "url": "https://x/sse/?a=b"}),
        (
            "claude-code",
            {"type": "sse", "url": "https://x/mcp", "headers": {"A": "${B}"}},
            {"type": "sse", "url": "https://x/mcp", "headers": {"A": "${B}"}},
        ),
        ("gemini-cli", {"url": "https://x/mcp"}, {"type": "sse", "url": "https://x/mcp"}),
        (
            "gemini-cli",
            {"url": "https://x/sse", "httpUrl": "https://x/mcp"},
            {"type": "http", "url": "https://x/mcp"},
        ),
        ("codex", {"url": "https://x/sse"}, {"type": "http", "url": "https://x/sse"}),
        (
            "codex",
            {"command": "x", "enabled_tools": ["a", "b"], "disabled_tools": ["b"]},
            {"command": "x", "enabled_tools": ["a", "b"], "disabled_tools": ["b"]},
        ),
        (
            "windsurf",
            {"command": "x", "disabledTools": ["what?", "a[1]*"]},
            {"command": "x", "disabled_tools": ["what[?]", "a[[]1][*]"]},
        ),
        (
            "gemini-cli",
            {"command": "x", "includeTools": ["a", "b(path)"], "excludeTools": ["a"]},
            {"command": "x", "enabled_tools": ["a", "b"], "disabled_tools": ["a"]},
        ),
        ("gemini-cli", {"command": "x", "includeTools": []}, {"command": "x", "enabled_tools": []}),
        (
            "gemini-cli",
            {"url": "https://x/mcp", "type": "http"},
            {"type": "http", "url": "https://x/mcp"},
        ),
        (
            "gemini-cli",
            {"command": "x", "env": {"A": "a$B-c"}},
            {"command": "x", "env": {"A": "a${B}-c"}},
        ),
        (
            "opencode",
            {"type": "local", "command": ["a", "b"], "environment": {"K": "x{env:K}"}},
            {"command": "a", "args": ["b"], "env": {"K": "x${K}"}},
        ),
        (
            "claude-code",
            {"command": "x", "env": {"A": "${B:-c}"}},
            {"command": "x", "env": {"A": "${B:-c}"}},
        ),
        (
            "claude-desktop",
            {"command": "x", "args": ["${NOT}"]},
            {"command": "x", "args": ["${NOT}"]},
        ),
        (
            "windsurf",
            {"serverUrl": "https://x/mcp", "disabled": False},
            {"type": "http", "url": "https://x/mcp"},
        ),
        ("zed", {"command": {"path": "x", "args": ["y"]}}, {"command": "x", "args": ["y"]}),
        ("cursor", {"command": "${userHome}/x", "args": []}, {"command": "/home/me/x"}),
    ],
)
def test_an_entry_is_put_in_our_words(client: str, theirs: Json, ours: Json):
    assert taken(client, theirs) == ours


@pytest.mark.parametrize(
    ("client", "entry", "why"),
    [
        ("cursor", "npx x", "not an object"),
        ("cursor", {}, "no command and no address"),
        ("cursor", {"command": ""}, "no command and no address"),
        ("cursor", {"type": "ws", "url": "ws://x"}, "its type 'ws'"),
        ("vscode", {"command": "x", "envFile": "${workspaceFolder}/.env"}, "`envFile`"),
        ("vscode", {"command": "x", "env": {"A": "${input:a}"}}, "only the client"),
        ("vscode", {"command": "x", "args": ["${env:A}"]}, "does not fill in there"),
        ("vscode", {"command": "${workspaceFolder}/x"}, "does not fill in there"),
        ("windsurf", {"command": "x", "env": {"A": "${file:/a}"}}, "only the client"),
        ("windsurf", {"command": "x", "disabledTools": "a"}, "`disabledTools` is not a list"),
        ("codex", {"command": "x", "scopes": ["a"]}, "`scopes`"),
        ("gemini-cli", {"command": "x", "args": ["$HOME"]}, "does not fill in there"),
        (
            "opencode",
            {"type": "local", "command": ["x"], "environment": {"A": "{file:~/a}"}},
            "only the client",
        ),
        ("opencode", {"type": "local", "command": []}, "no command"),
        (
            "opencode",
            {"type": "local", "command": ["x"], "environment": {"A": "${B}"}},
            "for a reference",
        ),
        ("codex", {"command": "x", "env": {"A": "${B}"}}, "for a reference"),
        (
            "codex",
            {"command": "x", "env_vars": [{"name": "A", "source": "remote"}]},
            "another machine",
        ),
        ("codex", {"command": "x", "cwd": "here"}, "where the client was started"),
        ("cursor", {"command": "x", "args": "a b"}, "not a list"),
        ("cursor", {"command": "x", "args": [["a"]]}, "not text"),
        ("cursor", {"command": "x", "env": ["A=b"]}, "not an object"),
        ("cursor", {"command": ["x", {}]}, "not text"),
    ],
)
def test_what_cannot_be_taken_says_why(client: str, entry: Json, why: str):
    with pytest.raises(CannotConvert) as raised:
        taken(client, entry)
    assert why in str(raised.value)


def test_in_a_project_paths_are_the_projects():
    project = Path("/srv/app")
    entry = {"command": "node", "args": ["${workspaceFolder}/x.js"]}
    assert taken("vscode", entry, project) == {
        "command": "node",
        "args": ["/srv/app/x.js"],
        "cwd": "/srv/app",
    }
    assert taken("codex", {"command": "x", "cwd": "in"}, project)["cwd"] == "/srv/app/in"


def test_keys_without_a_counterpart_are_named_and_the_silent_ones_are_not():
    fmt = client_named("cursor").layouts[0].format
    entry: dict[str, Json] = {"command": "x", "type": "stdio", "alwaysAllow": ["a"], "weird": 1}
    assert read_entry(fmt, entry, HOME).dropped == ("alwaysAllow", "weird")


SERVERS: dict[str, dict[str, Json]] = {
    "plain": {"command": "npx", "args": ["-y", "x"]},
    "bare": {"command": "x"},
    "with values": {"command": "x", "env": {"A": "b"}},
    "far": {"type": "http", "url": "https://x/mcp"},
    "far and old": {"type": "sse", "url": "https://x/sse"},
    "far with headers": {"type": "http", "url": "https://x/mcp", "headers": {"X-A": "b"}},
    "handed on": {"command": "x", "env_from": ["TOKEN"]},
    "renamed": {"command": "x", "env_from": {"TOKEN": "MINE"}},
    "referring": {"command": "x", "env": {"A": "p-${B}"}},
    "token": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${T}"}},
    "header by variable": {"type": "http", "url": "https://x/mcp", "headers": {"X-A": "${B}"}},
    "in a folder": {"command": "x", "cwd": "/srv"},
    "off": {"command": "x", "disabled": True},
    "slow": {"command": "x", "start_timeout_s": 90, "call_timeout_s": 120},
}
LAYOUTS = [(client.name, layout) for client in CLIENTS for layout in client.layouts]


@pytest.mark.parametrize("name", SERVERS)
def test_what_is_written_for_a_client_is_read_back_as_it_was(name: str):
    """Each client can say it, or says that it cannot; and most can."""
    own = Path("/etc/servers.json")
    (server,) = read_table(own, {name: SERVERS[name]}).servers
    could = 0
    for _, layout in LAYOUTS:
        try:
            entry = write_entry(layout.format, server)
        except CannotConvert:
            continue
        could += 1
        (again,) = read_table(own, {name: read_entry(layout.format, entry, HOME).entry}).servers
        assert (again.disabled, _facts(again)) == (server.disabled, _facts(server))
    assert could >= 5


def _facts(server: Any) -> object:
    """The transport, with the two ways to hand on a variable as one."""
    transport = server.transport
    if not hasattr(transport, "env"):
        return transport
    env = {name: f"${{{mine}}}" for name, mine in transport.env_from.items()} | transport.env
    return transport.command, transport.args, transport.cwd, env


@pytest.mark.parametrize(
    ("client", "entry", "why"),
    [
        ("claude-desktop", {"type": "http", "url": "https://x"}, "address of a server"),
        ("claude-desktop", {"command": "x", "env_from": ["A"]}, "variables"),
        ("claude-desktop", {"command": "x", "cwd": "/x"}, "folder"),
        ("claude-desktop", {"command": "x", "disabled": True}, "switched off"),
        ("cursor", {"command": "x", "args": ["${A}"]}, "take a part of its arguments"),
        ("vscode", {"command": "x", "env": {"A": "${B:-c}"}}, "variables"),
        ("opencode", {"type": "http", "url": "https://x", "oauth": {"scope": "a"}}, "oauth"),
        ("gemini-cli", {"command": "x", "env": {"A": "5$BILL"}}, "variables"),
        ("cursor", {"command": "x", "disabled_tools": ["a"]}, "tools are disabled"),
        ("codex", {"command": "x", "disabled_tools": ["a*"]}, "tools are disabled"),
        ("codex", {"type": "sse", "url": "https://x/sse"}, "SSE"),
        ("cursor", {"type": "sse", "url": "https://x/events"}, "SSE"),
    ],
)
def test_what_a_client_cannot_say_is_not_said_otherwise(
    client: str, entry: dict[str, Json], why: str
):
    (server,) = read_table(Path("/x"), {"a": entry}).servers
    with pytest.raises(CannotConvert, match=why):
        write_entry(client_named(client).layouts[0].format, server)


@pytest.mark.parametrize("client", ["codex", "gemini-cli"])
def test_tools_that_are_switched_off_are_written_and_read_back_as_they_were(client: str):
    fmt = client_named(client).layouts[0].format
    entry: dict[str, Json] = {"command": "x", "enabled_tools": ["a[?]"], "disabled_tools": ["b"]}
    (server,) = read_table(Path("/x"), {"a": entry}).servers
    again = read_entry(fmt, write_entry(fmt, server), HOME).entry
    assert again == {**entry, **({"args": []} if "args" in again else {})}
