"""MCP servers that a program adds to its crib, in the words of the file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, cast

from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject, PermissionKind
from toolcrib.sources.mcp.config import TABLES, Servers, read_servers, read_table
from toolcrib.sources.mcp.server import IsolationTool, Trust
from toolcrib.sources.mcp.servers import NO_RULES, McpServers, Rules, opened


class Entry(TypedDict, total=False):
    """The keys of one server; docs/guide/mcp.md says what they mean."""

    command: str | Sequence[str]
    args: Sequence[str]
    env: Mapping[str, str]
    env_from: Sequence[str] | Mapping[str, str]
    cwd: str
    url: str
    headers: Mapping[str, str]
    oauth: Mapping[str, Any]
    disabled: bool
    tool_prefix: str
    idle_timeout_s: float
    start_timeout_s: float
    install_timeout_s: float
    call_timeout_s: float
    permission: Mapping[str, PermissionKind]
    defer: str
    always_load: bool | Sequence[str]
    trust: Trust
    believe_annotations: bool
    elicitation: bool
    sampling: bool
    isolation: IsolationTool
    isolation_paths: Mapping[str, str]
    isolation_network: bool
    isolation_image: str
    enabled_tools: Sequence[str]
    disabled_tools: Sequence[str]


def added_servers(
    server: str | Path | Mapping[str, Json],
    entry: Entry,
    state_folder: Path,
    rules: Rules = NO_RULES,
) -> McpServers:
    """Sources for what was added: one by its name, or all of a file or a mapping.

    Raises `ConfigError` for the first thing that is wrong with it.
    """
    found = _read(server, entry)
    servers = opened(found, state_folder, rules=rules)
    if servers.problems:
        servers.close()
        raise ConfigError(servers.problems[0])
    return servers


def _read(server: str | Path | Mapping[str, Json], entry: Entry) -> Servers:
    if isinstance(server, str):
        return _in_program({server: _as_in_a_file(entry)})
    if entry:
        raise ConfigError("the keys of a server come with its name, not with a file or a mapping")
    if isinstance(server, Path):
        return read_servers([server])
    table = next((server[name] for name in TABLES if name in server), server)
    return _in_program(table if isinstance(table, Mapping) else {})


def _in_program(table: JsonObject) -> Servers:
    """What the program itself says is as much the operator's as our own file."""
    found = read_table(Path.cwd() / "add_mcp", table)
    return replace(found, servers=tuple(replace(each, is_own=True) for each in found.servers))


def _as_in_a_file(entry: Entry) -> JsonObject:
    """The entry with a list of words taken apart into command and arguments."""
    command, args = entry.get("command", ""), tuple(entry.get("args", ()))
    plain = cast("dict[str, Json]", dict(entry))
    if command and not isinstance(command, str):
        plain |= {"command": command[0], "args": [*command[1:], *args]}
    return plain
