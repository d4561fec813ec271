"""All configured MCP servers, each as a source: opened from files or a program, refreshed."""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.config.server_entry import ServerEntry
from toolcrib.sources.mcp.config.servers_file import TABLES, ServerConfigs, read_servers, read_table
from toolcrib.sources.mcp.identity import config_hash, identity_of
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache, ServerMemory
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop
from toolcrib.sources.mcp.oauth.login_file import LoginFile
from toolcrib.sources.mcp.server_log import ServerLog, forget_log, log_path
from toolcrib.sources.mcp.source import McpSource, RefreshResult
from toolcrib.sources.mcp.trust import KEY_FILE, InstallState, ServerTrust, open_install_state
from toolcrib.store import Decisions, install_key
from toolcrib.system import LastGoodCopies
from toolcrib.text import nearest_names

CACHE_FOLDER = "mcp"
LOGINS_FOLDER = "logins"


class ServerRules(NamedTuple):
    """What holds for all servers.

    `always_load`: whether they may ask that tools of theirs are never deferred. `env_from`: the
    variables of ours that each is given, where they are set.
    """

    always_load: bool
    env_from: tuple[str, ...]


NO_RULES = ServerRules(always_load=True, env_from=())


class ServerChanges(NamedTuple):
    """Which sources are new, and which are no longer there.

    A server that is another now has one among the new and one among the gone.
    """

    came: tuple[McpSource, ...]
    gone: tuple[McpSource, ...]


class McpServers:
    """The servers that are configured, each as a source, and where they live. Starts none.

    `sources` are in the order of the files. `problems`, `broken` and `broken_files` are those of
    `ServerConfigs`. `decisions` is what was decided about tools; None before the first server.
    They live in the background, or on the loop that is given; see `BackgroundLoop`.
    """

    def __init__(self, state_folder: Path, loop: AbstractEventLoop | None = None) -> None:
        self.sources: tuple[McpSource, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.broken: tuple[str, ...] = ()
        self.broken_files: tuple[str, ...] = ()
        self._state_folder = state_folder
        self._cache, self._logins = (
            MCPToolsCache(state_folder / CACHE_FOLDER),
            state_folder / LOGINS_FOLDER,
        )
        self._loop = ServerLoop(loop)
        self._state: InstallState | None = None

    @property
    def decisions(self) -> Decisions | None:
        return self._state.decisions if self._state else None

    def take(self, found: ServerConfigs, rules: ServerRules = NO_RULES) -> ServerChanges:
        """Have just these servers from now on.

        Those whose process is configured as before stay, whatever they do; those that are gone run
        on until they are told otherwise: see `McpSource.retire`.
        """
        wanted = [_by_rule(each, rules) for each in found.servers]
        self.problems = found.problems
        self.broken, self.broken_files = found.broken, found.broken_files
        before = self.sources
        try:
            self.sources = self._kept_or_made(wanted) if wanted else ()
        except ToolcribError as error:
            self.problems += (str(error),)
            self.sources = ()
        return ServerChanges(
            came=tuple(each for each in self.sources if each not in before),
            gone=tuple(each for each in before if each not in self.sources),
        )

    def close(self) -> None:
        """Stop all that were started. Returns when no process is left."""
        self._loop.stop_all()
        if self._state:
            self._state.decisions.close()

    def _kept_or_made(self, wanted: Sequence[ServerConfig]) -> tuple[McpSource, ...]:
        """Raises `SourceError` and `StoreError`."""
        state = self._state = self._state or open_install_state(self._state_folder)
        self.problems += state.problems
        before = {source.config.id: source for source in self.sources}
        return tuple(
            _kept(before.get(each.id), each) or self._source(each, state) for each in wanted
        )

    def _source(self, config: ServerConfig, state: InstallState) -> McpSource:
        hashed = config_hash(config.transport, state.key)
        trust = ServerTrust(config, state.decisions, identity_of(config, state.key))
        log = ServerLog(config.id, log_path(self._state_folder, config.id))
        memory = ServerMemory(config.id, hashed, self._cache, trust, log)
        return McpSource(config, memory, self._loop, LoginFile(self._logins, config.id))


def _kept(source: McpSource | None, config: ServerConfig) -> McpSource | None:
    """The source, going by this configuration, if its process is the same by it."""
    if source is None or source.config.differs_in_process(config):
        return None
    source.config = config
    return source


def _by_rule(config: ServerConfig, rules: ServerRules) -> ServerConfig:
    defer = config.defer if rules.always_load else config.defer or "automatic"
    return replace(config, defer=defer, inherits=rules.env_from)


def open_server_files(
    files: Sequence[Path],
    state_folder: Path,
    loop: AbstractEventLoop | None = None,
    rules: ServerRules = NO_RULES,
) -> McpServers:
    """A source for every server in the files; for a file that is broken, as it was before.

    Loads no SDK. Where they live: see `McpServers`.
    """
    found = read_servers(files, LastGoodCopies(state_folder))
    return open_servers(found, state_folder, loop, rules)


def open_servers(
    found: ServerConfigs,
    state_folder: Path,
    loop: AbstractEventLoop | None = None,
    rules: ServerRules = NO_RULES,
) -> McpServers:
    """The same, for servers that were read already."""
    servers = McpServers(state_folder, loop)
    servers.take(found, rules)
    return servers


def find_server(name: str, sources: Sequence[McpSource]) -> McpSource:
    """The source of this name, or of this prefix. Raises `ConfigError` with the nearest names."""
    for source in sources:
        if name in (source.server, source.id):
            return source
    near = ", ".join(nearest_names(name, [source.server for source in sources])) or "none"
    raise ConfigError(f"no MCP server {name!r} is configured; nearest: {near}")


def forget_server(config: ServerConfig, state_folder: Path) -> None:
    """Let go of all that is remembered of a server. Raises `SourceError`."""
    hashed = config_hash(config.transport, install_key(state_folder / KEY_FILE))
    MCPToolsCache(state_folder / CACHE_FOLDER).forget(config.id, hashed)
    LoginFile(state_folder / LOGINS_FOLDER, config.id).forget()
    forget_log(log_path(state_folder, config.id))


# Starts servers once, to learn what they list.

REPORT_EVERY_S = 1.0
"""How often somebody who waits for servers hears what those that are not done are at."""


def refresh_all(
    sources: Sequence[McpSource],
    progress: Callable[[RefreshResult], None] = lambda _: None,
    waiting: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> list[RefreshResult]:
    """Refresh them all, a few at a time; `progress` hears of each as it is done.

    `waiting` hears now and then what the others are at; see `under_way`. In the order of the
    sources. One that fails costs no other, and what was known of it stays.
    """
    running = {source.refresh(): source for source in sources}
    done: dict[str, RefreshResult] = {}
    left = set(running)
    while left:
        ended, left = wait(left, REPORT_EVERY_S, FIRST_COMPLETED)
        for future in ended:
            done[running[future].server] = how = future.result()
            progress(how)
        if left:
            waiting(start_phases(running[future] for future in left))
    return [done[source.server] for source in sources]


def start_phases(sources: Iterable[McpSource]) -> dict[str, str]:
    """What each server is at, by its name: "installing by npx (35 s)"; empty if nobody knows."""
    return {each.server: each.starting for each in sorted(sources, key=lambda each: each.server)}


# MCP servers that a program adds to its crib, in the words of the file.


def open_added_servers(
    server: str | Path | Mapping[str, Json],
    entry: ServerEntry,
    state_folder: Path,
    rules: ServerRules = NO_RULES,
) -> McpServers:
    """Sources for what was added: one by its name, or all of a file or a mapping.

    Raises `ConfigError` for the first thing that is wrong with it.
    """
    found = _read_added(server, entry)
    servers = open_servers(found, state_folder, rules=rules)
    if servers.problems:
        servers.close()
        raise ConfigError(servers.problems[0])
    return servers


def _read_added(server: str | Path | Mapping[str, Json], entry: ServerEntry) -> ServerConfigs:
    if isinstance(server, str):
        return _in_program({server: _as_in_a_file(entry)})
    if entry:
        raise ConfigError("the keys of a server come with its name, not with a file or a mapping")
    if isinstance(server, Path):
        return read_servers([server])
    table = next((server[name] for name in TABLES if name in server), server)
    return _in_program(table if isinstance(table, Mapping) else {})


def _in_program(table: JsonObject) -> ServerConfigs:
    """What the program itself says is as much the operator's as our own file."""
    found = read_table(Path.cwd() / "add_mcp", table)
    return replace(found, servers=tuple(replace(each, is_own=True) for each in found.servers))


def _as_in_a_file(entry: ServerEntry) -> JsonObject:
    """The entry with a list of words taken apart into command and arguments."""
    command, args = entry.get("command", ""), tuple(entry.get("args", ()))
    plain = cast("dict[str, Json]", dict(entry))
    if command and not isinstance(command, str):
        plain |= {"command": command[0], "args": [*command[1:], *args]}
    return plain
