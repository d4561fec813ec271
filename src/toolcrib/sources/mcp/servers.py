"""The MCP servers of some files, each as a source."""

from asyncio import AbstractEventLoop
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.sources.last_good import LastGood
from toolcrib.sources.mcp.cache import MCPToolsCache
from toolcrib.sources.mcp.config import Servers, read_servers
from toolcrib.sources.mcp.engine_room import EngineRoom
from toolcrib.sources.mcp.fingerprint import config_hash, install_key, program_hash
from toolcrib.sources.mcp.logins import LoginFile
from toolcrib.sources.mcp.masked_entry import masked_entry
from toolcrib.sources.mcp.memory import Memory
from toolcrib.sources.mcp.server import ServerConfig
from toolcrib.sources.mcp.server_log import ServerLog, forget_log, log_path
from toolcrib.sources.mcp.source import McpSource
from toolcrib.sources.mcp.state import KEY, State, open_state
from toolcrib.sources.mcp.trust import Identity, Trust
from toolcrib.store import Decisions
from toolcrib.text.canonical import canonical
from toolcrib.text.nearest import nearest

KNOWN = "mcp"
LOGINS = "logins"


class Rules(NamedTuple):
    """What holds for all servers.

    `always_load`: whether they may ask that tools of theirs are never deferred. `env_from`: the
    variables of ours that each is given, where they are set.
    """

    always_load: bool = True
    env_from: tuple[str, ...] = ()


NO_RULES = Rules()


class Exchanged(NamedTuple):
    """Which sources are new, and which are no longer there.

    A server that is another now has one among the new and one among the gone.
    """

    came: tuple[McpSource, ...]
    gone: tuple[McpSource, ...]


class McpServers:
    """The servers that are configured, each as a source, and where they live. Starts none.

    `sources` are in the order of the files. `problems`, `broken` and `broken_files` are those of
    `Servers`. `decisions` is what was decided about tools; None before the first server.
    They live in the background, or on the loop that is given; see `BackgroundLoop`.
    """

    def __init__(self, state_folder: Path, loop: AbstractEventLoop | None = None) -> None:
        self.sources: tuple[McpSource, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.broken: tuple[str, ...] = ()
        self.broken_files: tuple[str, ...] = ()
        self._state_folder = state_folder
        self._cache, self._logins = MCPToolsCache(state_folder / KNOWN), state_folder / LOGINS
        self._room = EngineRoom(loop)
        self._state: State | None = None

    @property
    def decisions(self) -> Decisions | None:
        return self._state.decisions if self._state else None

    def take(self, found: Servers, rules: Rules = NO_RULES) -> Exchanged:
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
        return Exchanged(
            came=tuple(each for each in self.sources if each not in before),
            gone=tuple(each for each in before if each not in self.sources),
        )

    def close(self) -> None:
        """Stop all that were started. Returns when no process is left."""
        self._room.close()
        if self._state:
            self._state.decisions.close()

    def _kept_or_made(self, wanted: Sequence[ServerConfig]) -> tuple[McpSource, ...]:
        """Raises `SourceError` and `StoreError`."""
        state = self._state = self._state or open_state(self._state_folder)
        self.problems += state.problems
        before = {source.config.id: source for source in self.sources}
        return tuple(
            _kept(before.get(each.id), each) or self._source(each, state) for each in wanted
        )

    def _source(self, config: ServerConfig, state: State) -> McpSource:
        hashed = config_hash(config.transport, state.key)
        trust = Trust(config, state.decisions, identity(config, state.key))
        log = ServerLog(config.id, log_path(self._state_folder, config.id))
        memory = Memory(config.id, hashed, self._cache, trust, log)
        return McpSource(config, memory, self._room, LoginFile(self._logins, config.id))


def identity(config: ServerConfig, key: bytes) -> Identity:
    """What makes the server the one it is.

    In our own file, which the operator alone writes, it is the program, whatever that is told. In
    any other file it is the whole entry: another hand may have changed a word of it.
    """
    whole, entry = config_hash(config.transport, key), canonical(masked_entry(config.transport))
    if not config.is_own:
        return Identity(whole, entry=entry)
    return Identity(program_hash(config.transport, key), whole, entry)


def _kept(source: McpSource | None, config: ServerConfig) -> McpSource | None:
    """The source, going by this configuration, if its process is the same by it."""
    if source is None or source.config.differs_in_process(config):
        return None
    source.config = config
    return source


def _by_rule(config: ServerConfig, rules: Rules) -> ServerConfig:
    defer = config.defer if rules.always_load else config.defer or "automatic"
    return replace(config, defer=defer, inherits=rules.env_from)


def mcp_servers(
    files: Sequence[Path],
    state_folder: Path,
    loop: AbstractEventLoop | None = None,
    rules: Rules = NO_RULES,
) -> McpServers:
    """A source for every server in the files; for a file that is broken, as it was before.

    Loads no SDK. Where they live: see `McpServers`.
    """
    found = read_servers(files, LastGood(state_folder))
    return opened(found, state_folder, loop, rules)


def opened(
    found: Servers,
    state_folder: Path,
    loop: AbstractEventLoop | None = None,
    rules: Rules = NO_RULES,
) -> McpServers:
    """The same, for servers that were read already."""
    servers = McpServers(state_folder, loop)
    servers.take(found, rules)
    return servers


def one_server(name: str, sources: Sequence[McpSource]) -> McpSource:
    """The source of this name, or of this prefix. Raises `ConfigError` with the nearest names."""
    for source in sources:
        if name in (source.server, source.id):
            return source
    near = ", ".join(nearest(name, [source.server for source in sources])) or "none"
    raise ConfigError(f"no MCP server {name!r} is configured; nearest: {near}")


def forget_server(config: ServerConfig, state_folder: Path) -> None:
    """Let go of all that is remembered of a server. Raises `SourceError`."""
    hashed = config_hash(config.transport, install_key(state_folder / KEY))
    MCPToolsCache(state_folder / KNOWN).forget(config.id, hashed)
    LoginFile(state_folder / LOGINS, config.id).forget()
    forget_log(log_path(state_folder, config.id))
