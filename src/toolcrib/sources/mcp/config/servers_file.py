"""Reads the `mcpServers` JSON that every MCP client uses, with a few keys of our own.

Only a file that is no JSON is unusable as a whole. A bad entry is a problem, and the others are
read.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from toolcrib.api_arguments import check
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.model import Json, JsonObject
from toolcrib.settings import is_own_servers_file
from toolcrib.sources.mcp.config.fields import Fields, is_object
from toolcrib.sources.mcp.config.server import (
    ServerConfig,
)
from toolcrib.sources.mcp.config.server_entry import (
    ENTRY_KEYS,
    FOREIGN_KEYS,
    ServerEntry,
    read_entry,
)
from toolcrib.sources.mcp.config.switches import Switches, read_switches
from toolcrib.sources.text_file import read_text_file
from toolcrib.system import LastGoodCopies

LONGEST_ID = 128
TABLES = ("mcpServers", "servers")  # `servers` is VS Code's word
OVERRIDES = "overrides"
OVERRIDE_KEYS = frozenset({"disabled", "enabled_tools", "disabled_tools"})
"""What our own file may say of servers in other files."""


@dataclass(frozen=True, slots=True)
class ServerConfigs:
    """The servers of one or more files, in their order, and what is wrong with the rest.

    `broken` are the names of servers whose entry cannot be used. `broken_files` says what is wrong
    with each file that cannot be used at all; that is among `problems` too. `overrides` are what
    our own file says of servers in other files, by their names.
    """

    servers: tuple[ServerConfig, ...]
    problems: tuple[str, ...]
    broken: tuple[str, ...] = ()
    broken_files: tuple[str, ...] = ()
    overrides: Mapping[str, Fields] = field(default_factory=dict[str, Fields])


def read_servers(paths: Sequence[Path], last_good: LastGoodCopies | None = None) -> ServerConfigs:
    """All servers of these files; of two with one id, or one prefix, the first.

    A file that cannot be used is a problem and costs no other. With `last_good` its last good copy
    is used instead. Then the `overrides` of our own file are applied.
    """
    found: dict[str, ServerConfig] = {}
    problems: list[str] = []
    broken: list[str] = []
    broken_files: list[str] = []
    every = [(path, _read_file(path, last_good)) for path in paths]
    overrides = {id: fields for _, read in every for id, fields in read.overrides.items()}
    for path, read in every:
        problems += read.problems
        broken += read.broken
        broken_files += read.broken_files
        for each in read.servers:
            server = _overridden(each, overrides.get(each.id))
            if found.setdefault(server.prefix or server.id, server) is not server:
                problems.append(f"{path}: {server.id!r} is the name of another server; rename one")
    return ServerConfigs(tuple(found.values()), tuple(problems), tuple(broken), tuple(broken_files))


def _read_file(path: Path, last_good: LastGoodCopies | None) -> ServerConfigs:
    """The servers of one file, or of its last good copy."""
    try:
        text = read_text_file(path)
        read = _parsed(path, text)
    except ToolcribError as error:
        return _last_good(path, error, last_good)
    if last_good:
        last_good.keep(path, text.encode())
    return read


def _last_good(path: Path, error: ToolcribError, last_good: LastGoodCopies | None) -> ServerConfigs:
    """The last good copy of a file that cannot be used. A file that is gone was removed: none."""
    copy = None
    if last_good and isinstance(error.__cause__, FileNotFoundError):
        last_good.forget(path)
    elif last_good:
        copy = last_good.read(path)
    if copy is None:
        return ServerConfigs((), (str(error),), broken_files=(str(error),))
    problem = f"{error}. Until then, what it said before holds"
    try:
        before = _parsed(path, copy.decode())
    except (ToolcribError, ValueError):  # of another version, or damaged
        return ServerConfigs((), (str(error),), broken_files=(str(error),))
    return replace(before, problems=(problem, *before.problems), broken_files=(problem,))


def _parsed(path: Path, text: str) -> ServerConfigs:
    """The servers in the text of a file. Raises `ConfigError` naming file and line."""
    try:
        top = cast("Json", json.loads(text))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}: not JSON: {error.msg}; correct it") from error
    except RecursionError as error:
        raise ConfigError(f"{path}:1: nested too deep; correct it") from error
    table = next((top[name] for name in TABLES if name in top), None) if is_object(top) else None
    if not is_object(top) or not is_object(table):
        raise ConfigError(f"{path}:1: has no object `mcpServers`; it lists the servers by name")
    read = read_table(path, table)
    if not is_own_servers_file(path):
        return read
    problems = [*read.problems]
    overrides = _overrides(path, top, problems)
    return replace(read, problems=tuple(problems), overrides=overrides)


def _overrides(path: Path, top: JsonObject, problems: list[str]) -> Mapping[str, Fields]:
    """What our own file says of servers in other files, by their names."""
    where = f"{path}: {OVERRIDES}"
    found = top.get(OVERRIDES)
    table: JsonObject = found if is_object(found) else {}
    read = {id: Fields(f"{where}: {id!r}", each) for id, each in table.items() if is_object(each)}
    if found is not None and (not is_object(found) or len(read) < len(found)):
        problems.append(f"{where}: has to be an object of objects, by the names of servers")
    for fields in read.values():
        fields.report_unknown(OVERRIDE_KEYS, ())
        problems += fields.problems
    return read


def _overridden(server: ServerConfig, fields: Fields | None) -> ServerConfig:
    return read_switches(fields, Switches.of(server)).on(server) if fields else server


def read_table(path: Path, table: JsonObject, *, is_own: bool = False) -> ServerConfigs:
    """The servers of a table that is, or will be, in this file. `is_own`: whatever file it is."""
    problems: list[str] = []
    servers = tuple(_servers(path, table, problems, is_own=is_own or is_own_servers_file(path)))
    broken = table.keys() - {each.id for each in servers}
    return ServerConfigs(servers, tuple(problems), tuple(sorted(broken)))


def _servers(
    path: Path, table: JsonObject, problems: list[str], *, is_own: bool
) -> Iterator[ServerConfig]:
    folder = path.parent
    for id, values in table.items():
        where = f"{path}: server {id!r}"
        if not is_object(values) or not 0 < len(id) <= LONGEST_ID:
            problems.append(f"{where}: has to be an object under a name of 1 to {LONGEST_ID} signs")
            continue
        fields = Fields(where, values)
        fields.report_unknown(ENTRY_KEYS, FOREIGN_KEYS)  # first: it may be what is missing below
        server = read_entry(id, fields, folder, is_own=is_own)
        problems += fields.problems
        if server:
            yield server


def read_program_servers(
    server: str | Path | Mapping[str, Json], entry: ServerEntry
) -> ServerConfigs:
    """What a program adds: one server by its name, or all of a file or a mapping.

    Raises `ConfigError` for keys that come without a name.
    """
    check(server, str | Path | Mapping, "add_mcp()", "name one, or hand over a file or a mapping")
    if isinstance(server, str):
        return _read_own_table({server: _with_plain_command(entry)})
    if entry:
        raise ConfigError("the keys of a server come with its name, not with a file or a mapping")
    if isinstance(server, Path):
        return read_servers([server])
    table = next((server[name] for name in TABLES if name in server), server)
    return _read_own_table(table if is_object(table) else {})


def _read_own_table(table: JsonObject) -> ServerConfigs:
    """The servers of a program, which are the operator's own as much as those in our file."""
    return read_table(Path.cwd() / "add_mcp", table, is_own=True)


def _with_plain_command(entry: ServerEntry) -> JsonObject:
    """The entry as a file has it: a command that is a list becomes command and arguments."""
    command, args = entry.get("command", ""), tuple(entry.get("args", ()))
    plain = cast("dict[str, Json]", dict(entry))
    if command and not isinstance(command, str):
        plain |= {"command": command[0], "args": [*command[1:], *args]}
    return plain
