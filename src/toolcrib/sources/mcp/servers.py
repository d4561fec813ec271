"""All configured MCP servers, each as a source: opened from files or by a program, refreshed."""

from asyncio import AbstractEventLoop
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Self

from toolcrib.errors import ConfigError, StoreError, ToolcribError
from toolcrib.model import Json, TellSpan
from toolcrib.observe import Record, drop
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.config.server_entry import ServerEntry
from toolcrib.sources.mcp.config.servers_file import (
    ServerConfigs,
    read_program_servers,
    read_servers,
)
from toolcrib.sources.mcp.identity import config_hash, identity_of
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache, cached_tools
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.server_log import ServerLog, forget_log, log_path
from toolcrib.sources.mcp.source import McpSource
from toolcrib.sources.mcp.status import RefreshResult
from toolcrib.sources.mcp.trust import InstallState, ServerTrust, open_install_state
from toolcrib.store import DECISIONS_FILE, LISTINGS_FOLDER, DecisionStore, Stores
from toolcrib.system import LastGoodCopies

REPORT_EVERY_S = 1.0


class ServerRules(NamedTuple):
    """What holds for all servers.

    `always_load`: whether a server may ask that its tools are never deferred. `env_from`: the
    variables of ours that each server is given, where they are set.
    """

    always_load: bool
    env_from: tuple[str, ...]


NO_RULES = ServerRules(always_load=True, env_from=())


class ServerChanges(NamedTuple):
    """The sources that are new, and those that are gone. A changed server has one of each."""

    came: tuple[McpSource, ...]
    gone: tuple[McpSource, ...]


class McpServers:
    """The configured servers, each as a source. Starts none, and loads no SDK.

    `sources` are in the order of the files. `problems`, `broken` and `broken_files` are those of
    `ServerConfigs`. `decisions` is what was decided about tools; None before the first server.
    Connections live on a loop in the background, or on the loop that is given: see
    `BackgroundLoop`. `record` hears of starts, ends and changed tools, `tell` of requests.
    """

    def __init__(
        self,
        stores: Stores,
        loop: AbstractEventLoop | None = None,
        record: Record = drop,
        tell: TellSpan | None = None,
    ) -> None:
        self.sources: tuple[McpSource, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.broken: tuple[str, ...] = ()
        self.broken_files: tuple[str, ...] = ()
        self._stores = stores
        self._cache = MCPToolsCache(stores.listings)
        self._loop = ServerLoop(loop)
        self.record = record
        self._tell = tell
        self._state: InstallState | None = None

    @classmethod
    def open(  # noqa: PLR0913 - what servers are given, each by its name
        cls,
        files: Sequence[Path],
        stores: Stores,
        loop: AbstractEventLoop | None = None,
        rules: ServerRules = NO_RULES,
        *,
        record: Record = drop,
        tell: TellSpan | None = None,
    ) -> Self:
        """Every server in the files. A broken file counts as it was when it could last be read."""
        servers = cls(stores, loop, record, tell)
        servers.take(read_servers(files, LastGoodCopies(stores.folder)), rules)
        return servers

    @classmethod
    def open_added(  # noqa: PLR0913 - the same
        cls,
        server: str | Path | Mapping[str, Json],
        entry: ServerEntry,
        stores: Stores,
        rules: ServerRules = NO_RULES,
        *,
        record: Record = drop,
        tell: TellSpan | None = None,
    ) -> Self:
        """What a program adds: one server by its name, or all of a file or a mapping.

        Raises `ConfigError` for the first thing that is wrong with it.
        """
        configs = read_program_servers(server, entry)
        servers = cls(stores, record=record, tell=tell)
        servers.take(configs, rules)
        if servers.problems:
            servers.close()
            raise ConfigError(servers.problems[0])
        return servers

    @staticmethod
    def cached_tools(state_folder: Path) -> Iterator[tuple[str, str]]:
        """Server and own name of each tool that was ever listed. Quick: for completion."""
        return cached_tools(state_folder / LISTINGS_FOLDER)

    @staticmethod
    def listing_files(state_folder: Path) -> Sequence[Path]:
        """The files that change when a server lists something else, or a definition is decided on.

        They need not be there.
        """
        listings = sorted((state_folder / LISTINGS_FOLDER).glob("*.json"))
        decisions = state_folder / DECISIONS_FILE
        return [decisions, Path(f"{decisions}-wal"), *listings]

    @staticmethod
    def forget(config: ServerConfig, stores: Stores) -> None:
        """Remove all that is remembered of a server. Raises `SourceError` and `StoreError`."""
        hashed = config_hash(config.transport, stores.install_key)
        MCPToolsCache(stores.listings).forget(config.id, hashed)
        stores.logins.forget(config.id)
        forget_log(log_path(stores.folder, config.id))

    @property
    def decisions(self) -> DecisionStore | None:
        return self._state.decisions if self._state else None

    @property
    def is_refreshing(self) -> bool:
        """Whether any of them is being listed."""
        return bool(self._loop.refreshing)

    def take(self, configs: ServerConfigs, rules: ServerRules = NO_RULES) -> ServerChanges:
        """Have just these servers from now on.

        A source stays if its process is configured as before, whatever it does. One that is gone
        runs on until it is retired: see `McpSource.retire`.
        """
        self.problems = configs.problems
        self.broken, self.broken_files = configs.broken, configs.broken_files
        before = self.sources
        ruled = [_with_rules(each, rules) for each in configs.servers]
        try:
            self.sources = self._sources(ruled) if ruled else ()
        except ToolcribError as error:
            self.problems += (str(error),)
            self.sources = ()
        return ServerChanges(
            came=tuple(each for each in self.sources if each not in before),
            gone=tuple(each for each in before if each not in self.sources),
        )

    def drop(self, gone: Sequence[McpSource]) -> None:
        """Stop these for good, as far as they are here; with the last one the thread ends too."""
        for source in (each for each in self.sources if each in gone):
            source.retire(finish=False)
        self.sources = tuple(each for each in self.sources if each not in gone)
        if not self.sources:
            self.close()

    def close(self) -> None:
        """Stop all that were started. Returns when no process is left.

        The stores are for their owner to close.
        """
        self._loop.stop_all()

    def _sources(self, configs: Sequence[ServerConfig]) -> tuple[McpSource, ...]:
        """One for each, the same as before where that is possible.

        Raises `SourceError` and `StoreError`.
        """
        state = self._state = self._state or open_install_state(self._stores)
        self.problems += state.problems
        before = {source.config.id: source for source in self.sources}
        sources = tuple(
            _reused(before.get(each.id), each, state.key) or self._source(each, state)
            for each in configs
        )
        with suppress(StoreError):  # this is only for cleaning up
            both = ((each.trust.source, each.trust.entry_source) for each in sources)
            state.decisions.used(*(name for names in both for name in names))
        return sources

    def _source(self, config: ServerConfig, state: InstallState) -> McpSource:
        identity = identity_of(config, state.key)
        trust = ServerTrust(config, state.decisions, identity)
        log = ServerLog.within(self._stores.folder, config.id)
        memory = ServerMemory(
            config.id,
            identity.config_hash,
            self._cache,
            trust,
            log,
            record=self.record,
            tell=self._tell,
        )
        login = ServerLogin(self._stores.logins, config.id)
        return McpSource(config, memory, self._loop, login)


def _reused(source: McpSource | None, config: ServerConfig, key: bytes) -> McpSource | None:
    """The source with this configuration, if that changes neither process nor identity."""
    if source is None or source.config.differs_in_process(config):
        return None
    if source.trust.identity != identity_of(config, key):
        return None
    source.config = config
    return source


def _with_rules(config: ServerConfig, rules: ServerRules) -> ServerConfig:
    defer = config.defer if rules.always_load else config.defer or "automatic"
    if (defer, rules.env_from) == (config.defer, config.inherits):
        return config
    return replace(config, defer=defer, inherits=rules.env_from)


def find_server(name: str, sources: Sequence[McpSource]) -> McpSource:
    """The source of this name, or of this prefix. Raises `ConfigError` with the nearest names."""
    for source in sources:
        if name in (source.server, source.id):
            return source
    raise unknown_server(name, [source.server for source in sources])


def unknown_server(name: str, configured: Sequence[str]) -> ConfigError:
    """That no server is configured under this name, with the nearest of those that are."""
    from toolcrib.text import list_nearest  # noqa: PLC0415 - loads a library

    near = list_nearest(name, configured)
    return ConfigError(f"no MCP server {name!r} is configured; nearest: {near}")


def refresh_all(
    sources: Sequence[McpSource],
    progress: Callable[[RefreshResult], None] = lambda _: None,
    waiting: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> list[RefreshResult]:
    """Start them all, a few at a time, and list their tools. In the order of the sources.

    `progress` is called for each as it is done. `waiting` is called now and then with what the
    others are at, by their names: "installing by npx (35 s)". One that fails costs no other, and
    what was known of it stays.
    """
    futures = {source.refresh(): source for source in sources}
    results: dict[str, RefreshResult] = {}
    left = set(futures)
    while left:
        done, left = wait(left, REPORT_EVERY_S, FIRST_COMPLETED)
        for future in done:
            results[futures[future].server] = result = future.result()
            progress(result)
        if left:
            others = sorted((futures[future] for future in left), key=lambda each: each.server)
            waiting({each.server: each.starting for each in others})
    return [results[source.server] for source in sources]
