"""The MCP servers of some files, each as a source."""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.sources.mcp.cache import MCPToolsCache
from toolcrib.sources.mcp.config import Servers, read_servers
from toolcrib.sources.mcp.engine_room import EngineRoom
from toolcrib.sources.mcp.fingerprint import config_hash, install_key
from toolcrib.sources.mcp.logins import LoginFile
from toolcrib.sources.mcp.memory import Memory
from toolcrib.sources.mcp.server import ServerConfig
from toolcrib.sources.mcp.server_log import ServerLog, forget_log, log_path
from toolcrib.sources.mcp.source import McpSource
from toolcrib.sources.mcp.state import KEY, open_state
from toolcrib.sources.mcp.trust import Trust
from toolcrib.store.decisions import Decisions
from toolcrib.text.nearest import nearest

KNOWN = "mcp"
LOGINS = "logins"


@dataclass(frozen=True, slots=True)
class McpServers:
    """The sources, what is wrong with the rest, and what stops all servers that were started.

    `decisions` is what was decided about their tools; None where there are no sources. `broken` are
    the names of servers whose entries cannot be used.
    """

    sources: tuple[McpSource, ...]
    problems: tuple[str, ...]
    close: Callable[[], None]
    decisions: Decisions | None = None
    broken: tuple[str, ...] = ()


def mcp_servers(
    files: Sequence[Path],
    state_folder: Path,
    loop: AbstractEventLoop | None = None,
    *,
    always_load: bool = True,
) -> McpServers:
    """A source for every server in the files. Starts none, and loads no SDK.

    They live in the background, or on the loop that is given; see `BackgroundLoop`. `always_load`:
    whether they may ask that tools of theirs are never deferred.
    """
    return opened(read_servers(files), state_folder, loop, always_load=always_load)


def opened(
    found: Servers,
    state_folder: Path,
    loop: AbstractEventLoop | None = None,
    *,
    always_load: bool = True,
) -> McpServers:
    """The same, for servers that were read already."""
    room = EngineRoom(loop)
    if not found.servers:
        return McpServers((), found.problems, room.close, broken=found.broken)
    try:
        state = open_state(state_folder)
    except ToolcribError as error:
        return McpServers((), (*found.problems, str(error)), room.close)
    cache, logins = MCPToolsCache(state_folder / KNOWN), state_folder / LOGINS
    decisions = state.decisions

    def close() -> None:
        room.close()
        decisions.close()

    def source(read: ServerConfig) -> McpSource:
        config = read if always_load else replace(read, defer=read.defer or "automatic")
        hashed = config_hash(config.transport, state.key)
        trust = Trust(config, decisions, hashed)
        log = ServerLog(config.id, log_path(state_folder, config.id))
        memory = Memory(config.id, hashed, cache, trust, log)
        return McpSource(config, memory, room, LoginFile(logins, config.id))

    sources = tuple(map(source, found.servers))
    problems = (*found.problems, *state.problems)
    return McpServers(sources, problems, close, decisions, found.broken)


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
