"""The MCP servers of one crib, and the exchange of some while the others run on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, TypeAlias

from toolcrib.errors import ConfigError, NameTaken
from toolcrib.sources import mcp

if TYPE_CHECKING:
    from toolcrib.pool import Pool
    from toolcrib.sources.mcp import (
        McpServers,
        McpSource,
        OfferKind,
        RefreshResult,
        ServerConfigs,
        ServerRules,
    )

OFFERS: tuple[OfferKind, ...] = ("resources", "templates", "prompts")

OffersListener: TypeAlias = "Callable[[McpSource, frozenset[str]], None]"


class Fleet:
    """The servers that the settings name, and those that a program adds.

    `by_name` is replaced whole. `changing` is held by whoever changes the pool; `relist` is called
    with a source that says that it is no longer what it was.
    """

    def __init__(self, pool: Pool, changing: RLock, relist: Callable[[McpSource], None]) -> None:
        self.by_name: Mapping[str, McpSource] = {}
        self._pool = pool
        self._changing = changing
        self._relist = relist
        self._configured: McpServers | None = None
        self._open_later: Callable[[], McpServers] | None = None
        self._added: list[McpServers] = []
        self._listeners: list[OffersListener] = []

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with servers that the settings name, beyond what their sources say."""
        return self._configured.problems if self._configured else ()

    @property
    def broken(self) -> tuple[str, ...]:
        """The names of servers of the settings whose entries cannot be used."""
        return self._configured.broken if self._configured else ()

    @property
    def broken_files(self) -> tuple[str, ...]:
        """What is wrong with each file of the settings that cannot be used."""
        return self._configured.broken_files if self._configured else ()

    @property
    def is_refreshing(self) -> bool:
        """Whether any server is being listed."""
        every = (self._configured, *self._added)
        return any(servers.is_refreshing for servers in every if servers)

    def open(self, servers: McpServers | None, open_later: Callable[[], McpServers]) -> None:
        """Take in the servers of the settings, once.

        None if they name no file with servers: others may, and are taken into what `open_later`
        gives, which has none.
        """
        self._configured, self._open_later = servers, open_later
        if servers is not None:
            with self._changing:
                self._exchange(servers.sources, (), servers.broken)

    def add(self, servers: McpServers) -> None:
        """Take in servers of a program. Raises `NameTaken`."""
        taken = [each.server for each in servers.sources if each.server in self.by_name]
        if taken:
            remedy = "take another name, or put this one in its place with `replace`"
            raise NameTaken(f"there is an MCP server {taken[0]!r} already; {remedy}")
        self._added.append(servers)
        with self._changing:
            self._exchange(servers.sources, ())

    def replace(self, names: Sequence[str], servers: McpServers | None = None) -> None:
        """Let servers of the program go, and take these in, in one step. Raises `ConfigError`.

        Calls that are under way end with their server.
        """
        gone = [self.server(name) for name in names]
        own = [source for each in self._added for source in each.sources]
        if others := [each.server for each in gone if each not in own]:
            remedy = "change it there, or with `toolcrib edit` and `toolcrib remove`"
            raise ConfigError(f"the settings name the MCP server {others[0]!r}; {remedy}")
        self._added += [servers] if servers else []
        with self._changing:
            self._exchange(servers.sources if servers else (), gone)
        for each in self._added:
            each.drop(gone)
        self._added = [each for each in self._added if each.sources]

    def take(self, found: ServerConfigs, rules: ServerRules) -> None:
        """Have these in place of those of the settings, in a crib that has those.

        Servers that are configured as they were run on and notice nothing. The tools of one that is
        gone are gone at once, and so is the server; one that is configured otherwise may end the
        calls that are under way.
        """
        if self._open_later is None:
            return
        with self._changing:
            self._configured = self._configured or self._open_later()
            exchanged = self._configured.take(found, rules)
            self._exchange(exchanged.came, exchanged.gone, found.broken)
        came = frozenset(exchanged.came)
        for source in self._configured.sources:
            if source not in came:  # what was decided about its tools may be otherwise
                self._relist(source)
        for source in exchanged.gone:
            now = self.by_name.get(source.server)
            source.retire(finish=now is not None and not now.config.disabled)

    async def refresh(self, *names: str) -> Sequence[RefreshResult]:
        """Start these servers once, or all, and list their tools anew; then the pool has them.

        Raises `ConfigError` for a name that none has.
        """
        import asyncio  # noqa: PLC0415 - a search waits for nothing

        every = list(self.by_name.values())
        chosen = [mcp.find_server(name, every) for name in names] if names else every
        return await asyncio.gather(*(asyncio.wrap_future(each.refresh()) for each in chosen))

    def server(self, name: str) -> McpSource:
        """One server by its name. Raises `ConfigError` for a name that none has."""
        return mcp.find_server(name, list(self.by_name.values()))

    def listen(self, listener: OffersListener) -> Callable[[], None]:
        """Call this, on any thread, with a server and the kinds of its offers that are others.

        Also for one that comes or goes. Returns what ends it.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def close(self) -> None:
        """Stop all that were started."""
        for servers in (*self._added, *filter(None, [self._configured])):
            servers.close()

    def _exchange(
        self,
        came: Sequence[McpSource],
        gone: Sequence[McpSource],
        broken: Sequence[str] | None = None,
    ) -> None:
        if broken is not None:
            self._pool.reserve("mcp", broken)
        self._pool.add(*came, instead_of=gone)
        left = {name: each for name, each in self.by_name.items() if each not in frozenset(gone)}
        self.by_name = left | {each.server: each for each in came}
        for source in came:
            source.offers.listen(partial(self._tell, source))
            source.watch(partial(self._relist, source))
        for source in (*gone, *came) if self._listeners else ():
            if source.offers.kinds():
                self._tell(source, frozenset(OFFERS))

    def _tell(self, source: McpSource, kinds: frozenset[str]) -> None:
        for listener in tuple(self._listeners):
            listener(source, kinds)
