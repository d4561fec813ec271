from pathlib import Path, PurePath

import pytest

from toolcrib.client_config import CLIENTS, client_named
from toolcrib.client_config.files import Machine, Platform
from toolcrib.errors import ConfigError

HOME = Path("/home/me")


def path(name: str, platform: Platform, **environ: str) -> str:
    (first, *_) = client_named(name).paths(Machine(platform, HOME, environ))
    return PurePath(first).as_posix()


@pytest.mark.parametrize(
    ("name", "platform", "environ", "expected"),
    [
        ("claude-desktop", "linux", {}, "/home/me/.config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            "macos",
            {},
            "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            "claude-desktop",
            "windows",
            {"APPDATA": "/data"},
            "/data/Claude/claude_desktop_config.json",
        ),
        ("vscode", "windows", {}, "/home/me/AppData/Roaming/Code/User/mcp.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/Code/User/mcp.json"),
        ("zed", "macos", {"XDG_CONFIG_HOME": "/xdg"}, "/home/me/.config/zed/settings.json"),
        ("zed", "windows", {"APPDATA": "/data"}, "/data/Zed/settings.json"),
        ("codex", "linux", {"CODEX_HOME": "/c"}, "/c/config.toml"),
        ("codex", "windows", {}, "/home/me/.codex/config.toml"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("claude-code", "macos", {}, "/home/me/.claude.json"),
        ("opencode", "macos", {}, "/home/me/.config/opencode/opencode.json"),
    ],
)
def test_a_file_is_where_its_client_keeps_it(
    name: str, platform: Platform, environ: dict[str, str], expected: str
):
    assert path(name, platform, **environ) == expected


def test_the_files_that_are_there_count(home: Path):
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    machine = Machine("linux", home, {})
    opencode = client_named("opencode")
    assert [each.name for each in opencode.paths(machine)] == ["opencode.json"]
    (folder / "opencode.jsonc").touch()
    assert [each.name for each in opencode.paths(machine)] == ["opencode.jsonc"]
    (folder / "opencode.json").touch()
    assert len(opencode.paths(machine)) == 2


def test_a_server_called_servers_is_no_table():
    opencode = client_named("opencode")
    entry = {"type": "local", "command": ["x"]}
    assert opencode.layout({"mcp": {"servers": entry}}).path == ("mcp",)
    assert opencode.layout({"mcp": {"servers": {"a": entry}}}).path == ("mcp", "servers")
    assert opencode.layout({"mcp": 3}).path == ("mcp",)


def test_names_are_told_apart_and_the_nearest_is_named():
    names = [client.name for client in CLIENTS]
    assert len({*names}) == len(names)
    with pytest.raises(ConfigError, match="nearest: windsurf"):
        client_named("windsrf")
