"""What screens ask and buttons do: of the gateway where one runs, else of the files.

Calls wait at a gateway alone. Definitions are decided on in the files, with a gateway and without,
as `toolcrib review` does; a gateway is told of it. Everything here waits for files or processes,
and is called on a thread.
"""

import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, cast

from toolcrib.crib import edited_documents, inventory_of
from toolcrib.dashboard.backends import (
    AskGateway,
    NoKeys,
    OpenCrib,
    OpenKeys,
    OwnCrib,
    WatchGateway,
    watch_nothing,
)
from toolcrib.dashboard.client_queries import ClientQueries
from toolcrib.dashboard.event_queries import EventQueries
from toolcrib.dashboard.rankings import Rankings
from toolcrib.dashboard.tool_catalog import ToolCatalog
from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.model import Json
from toolcrib.review import Desk, ReviewItem, undecided
from toolcrib.settings import Settings, own_servers_file
from toolcrib.sources.mcp import (
    McpServers,
    OwnServersFile,
    RefreshResult,
    ServerStatus,
    Switches,
    find_server,
    last_log_lines,
    log_path,
    read_servers,
    refresh_all,
)
from toolcrib.wiring import stores_of

LOGIN_S = 300.0
LOG_LINES = 80
_BROWSER_WORDS = ("browser", "playwright", "puppeteer", "chrome", "selenium", "computer_use")


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A call that waits for the operator. `expires_s`: how long it still does."""

    id: str
    caller: str
    name: str
    description: str
    permission_kind: str
    arguments: Json
    expires_s: float

    @classmethod
    def of_json(cls, given: Mapping[str, Any]) -> Self:
        """As the gateway tells it. Fields that only another version has are left out."""
        return cls(**{name: given[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Overview:
    """What there is at one moment: the calls that wait, and the servers by their names."""

    has_gateway: bool
    calls: tuple[WaitingCall, ...] = ()
    servers: tuple[ServerStatus, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def definitions_waiting(self) -> int:
        """How many definitions nobody has decided on."""
        return sum(each.waiting for each in self.servers if each.state != "disabled")

    @property
    def logins(self) -> tuple[ServerStatus, ...]:
        """The servers that want a login."""
        return tuple(each for each in self.servers if each.state == "needs_login")

    @property
    def failed(self) -> tuple[ServerStatus, ...]:
        """The servers that did not start when they were last wanted."""
        off = ("disabled", "needs_login", "ready")
        return tuple(each for each in self.servers if each.failure and each.state not in off)

    @property
    def waiting(self) -> int:
        """How many things wait in the inbox."""
        return len(self.calls) + self.definitions_waiting + len(self.logins)


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions that wait; how many stay out because somebody rejected them."""

    waiting: tuple[ReviewItem, ...]
    rejected: int
    problems: tuple[str, ...] = ()


NO_DEFINITIONS = Definitions((), 0)


class ServerLogTail(NamedTuple):
    """The last lines that a server wrote, the newest last."""

    server: str
    lines: Sequence[str] = ()


class Operations:
    """What the operator sees and does. `settings` reads them anew each time.

    What is asked about events is asked of `events`, what about clients of `clients`. `crib` stands
    for one of these settings. Everything here raises `ToolcribError`, with what to do next.
    `is_operator`: whoever looks may act.
    """

    is_operator = True

    def __init__(
        self,
        settings: Callable[[], Settings],
        ask: AskGateway,
        watch: WatchGateway = watch_nothing,
        keys: OpenKeys = NoKeys,
        crib: OpenCrib | None = None,
    ) -> None:
        self._settings = settings
        self._ask = ask
        self.events = EventQueries(settings, ask, watch)
        self.clients = ClientQueries(self.events, ask, keys)
        self._own = OwnCrib(settings)
        self.rankings = Rankings(ask, crib or self._own)
        self.tools = ToolCatalog(crib or self._own)

    def close(self) -> None:
        """Let go of what was opened."""
        self._own.close()

    def look(self) -> Overview:
        """How things are now. A gateway that does not answer is told of as a problem."""
        try:
            reply = self._ask("servers")
            if reply is not None:
                return self._by_gateway(cast("Mapping[str, Any]", reply))
            problems: tuple[str, ...] = ()
        except ConfigError as error:
            problems = (str(error),)
        with self._own() as crib:
            fleet = inventory_of(crib).fleet
            known = tuple(source.status() for source in fleet.by_name.values())
            return Overview(has_gateway=False, servers=known, problems=problems + fleet.problems)

    def definitions(self) -> Definitions:
        """What the servers listed last and nobody has approved."""
        with self._servers() as servers:
            if servers.decisions is None:
                return NO_DEFINITIONS
            desk = Desk(servers.sources, servers.decisions)
            items = desk.items()
            waiting = tuple(undecided(items))
            return Definitions(waiting, len(items) - len(waiting), desk.problems())

    def browser_servers(self) -> tuple[str, ...]:
        """The servers that have tools which drive a browser, as far as names tell."""
        tools = McpServers.cached_tools(self._settings().state_folder)
        found = {server for server, tool in tools if _drives_browser(f"{server} {tool}")}
        return tuple(sorted(found))

    def log(self, server: str) -> ServerLogTail:
        """The last lines of a server's log; none of a server that is not there."""
        settings = self._settings()
        known = read_servers(settings.mcp_config)
        if server not in {*(each.id for each in known.servers), *known.broken}:
            return ServerLogTail(server)
        return ServerLogTail(
            server, last_log_lines(log_path(settings.state_folder, server), LOG_LINES)
        )

    def decide_call(self, id: str, *, allowed: bool) -> None:
        """Allow one call, or deny it, by its full ticket."""
        if self._ask("decide", id=id, allowed=allowed) is None:
            raise ConfigError("the gateway has ended, and no call waits any more")

    def decide_definition(self, server: str, tool: str, pin: str, *, approved: bool) -> None:
        """Approve the definition of this pin, or reject it; no other one of the tool."""
        with self._servers() as servers:
            if servers.decisions is None:
                raise ConfigError("there are no MCP servers any more; look again")
            desk = Desk(servers.sources, servers.decisions)
            item = next((each for each in desk.every(server) if each.tool == tool), None)
            if item is None or item.pin != pin:
                raise ConfigError(f"{server}/{tool} has changed meanwhile; look at it again")
            desk.approve(item) if approved else desk.reject(item)
            desk.settle()
        self._tell()

    def refresh(self, server: str) -> RefreshResult:
        """Start a server if need be, and list its tools."""
        reply = self._ask("refresh", servers=[server])
        if reply is not None:
            return RefreshResult(*_only(reply).values())
        with self._servers() as servers:
            return refresh_all([find_server(server, servers.sources)])[0]

    def stop(self, server: str) -> None:
        """Stop a server that the gateway runs."""
        if self._ask("stop_server", server=server) is None:
            raise ConfigError("no gateway runs, so no server does; there is nothing to stop")

    def switch(self, server: str, *, on: bool) -> None:
        """Enable a server, or disable it."""
        settings, own = self._settings(), OwnServersFile(own_servers_file())

        def change(now: Switches) -> Switches:
            return replace(now, disabled=not on)

        with edited_documents(settings):
            elsewhere = own.switches_elsewhere(server, settings.mcp_config)
            own.change_switches(server, elsewhere, change)
        self._tell()

    def log_in(self, server: str, show: Callable[[str], None]) -> RefreshResult:
        """Log in to a server: `show` hears where the person agrees. Then list its tools."""
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # what goes wrong, we say ourselves
        with self._servers() as servers:
            find_server(server, servers.sources).log_in(show, LOGIN_S).result()
        return self.refresh(server)

    def forget_login(self, server: str) -> None:
        """Remove the tokens of a server, and hang up."""
        if self._ask("forget_login", server=server) is None:
            with self._servers() as servers:
                find_server(server, servers.sources).forget_login()

    @contextmanager
    def _servers(self) -> Generator[McpServers]:
        settings = self._settings()
        with (
            closing(stores_of(settings)) as stores,
            closing(McpServers.open(settings.mcp_config, stores)) as servers,
        ):
            yield servers

    def _by_gateway(self, reply: Mapping[str, Any]) -> Overview:
        calls = cast("Sequence[Mapping[str, Any]]", self._ask("approvals") or ())
        return Overview(
            has_gateway=True,
            calls=tuple(map(WaitingCall.of_json, calls)),
            servers=tuple(map(ServerStatus.of_json, reply["servers"])),
            problems=tuple(reply["broken_files"]),
        )

    def _tell(self) -> None:
        """Let the gateway take a change at once; if it does not answer, it does so by itself."""
        with suppress(ToolcribError):
            self._ask("changed")


def _only(reply: Json) -> Mapping[str, Any]:
    (result,) = cast("Sequence[Mapping[str, Any]]", reply)
    return {name: result[name] for name in RefreshResult._fields}


def _drives_browser(names: str) -> bool:
    return any(word in names.lower() for word in _BROWSER_WORDS)
