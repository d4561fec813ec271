"""McpSource: the tools of one MCP server, and what it has beside them, whether or not it runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self

from toolcrib.errors import SourceError, UnknownTool
from toolcrib.model import (
    Call,
    CallContext,
    JsonObject,
    Outcome,
    SourceKind,
    State,
    ToolInfo,
    UnavailableServer,
)
from toolcrib.sources.mcp.cache import Failure
from toolcrib.sources.mcp.definitions import Defined, define
from toolcrib.sources.mcp.engine_room import EngineRoom
from toolcrib.sources.mcp.errands import Errands
from toolcrib.sources.mcp.footprint import resident_bytes
from toolcrib.sources.mcp.keeper import NEEDS_LOGIN, Keeper
from toolcrib.sources.mcp.logins import LoginFile
from toolcrib.sources.mcp.memory import Memory
from toolcrib.sources.mcp.offers import Offers
from toolcrib.sources.mcp.server import Command, ServerConfig
from toolcrib.sources.mcp.start import StartFailed
from toolcrib.sources.mcp.trust import Judgement
from toolcrib.sources.mcp.unavailable import OURS, on_screen, remedy_of, unavailable


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What there is to say of one server. Times are in seconds, `seen` since the epoch.

    `starting` says what its start is at, "installing by npx (35 s)"; it is empty if it does not.
    `memory_bytes` is what its processes take now; None if none runs here, or nobody can tell.
    `listing`: it is about to be listed for the first time, or just being so. `unavailable`: what
    keeps its tools, or some of them, from being used.
    """

    server: str
    transport: Literal["stdio", "http", "sse"]
    state: State
    tools: int
    waiting: int
    flagged: int
    protocol: str
    start_s: float
    seen: float
    failure: Failure | None
    memory_bytes: int | None = None
    listing: bool = False
    starting: str = ""
    unavailable: UnavailableServer | None = None

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> Self:
        """What `as_json` made; what another version has more is left out."""
        known: dict[str, Any]
        known = {each.name: said[each.name] for each in fields(cls) if each.name in said}
        known["failure"] = Failure(**said["failure"]) if said["failure"] else None
        why = said.get("unavailable")
        known["unavailable"] = UnavailableServer(**why) if why else None
        return cls(**known)

    def as_json(self) -> JsonObject:
        """All of it, and the remedy, for programs."""
        failure = self.failure._asdict() if self.failure else None
        return {**asdict(self), "failure": failure, "remedy": self.remedy}

    @property
    def remedy(self) -> str:
        """What the operator may do about it; nothing if nothing is wrong."""
        if self.state == "disabled":
            return ""
        if self.unavailable:
            return on_screen(self.unavailable.remedy)
        if self.failure and self.failure.remedy:
            return on_screen(remedy_of(self.failure, self.server))
        return f"toolcrib logs {self.server}" if self._servers_own else ""

    @property
    def reason(self) -> str:
        """What is wrong with it, for the operator, in the server's own words if it has any."""
        why, failure = self.unavailable, self._servers_own
        if why and (failure is None or why.code != failure.code):
            return why.reason
        return failure.message if failure else ""

    @property
    def _servers_own(self) -> Failure | None:
        """The last failure, if only the server's own words explain it; others are judged anew."""
        failure = self.failure
        return failure if failure and failure.code not in OURS and not failure.reason else None


class Refreshed(NamedTuple):
    """How a refresh of one server went: `error` is empty if it went well.

    `seconds` begin with its turn: that others are started first is none of its doing.
    `waiting` is how many of its tools wait for the operator's review; `remedy` is a command.
    """

    server: str
    tools: int
    seconds: float
    error: str = ""
    waiting: int = 0
    remedy: str = ""


class McpSource:
    """Lists what is known of a server without starting it; starts it when a tool is called.

    Callers may be on any thread, with any event loop or none: the connection lives in the room.
    `offers` are its resources and prompts.
    """

    kind: SourceKind = "mcp"

    def __init__(
        self,
        config: ServerConfig,
        memory: Memory,
        room: EngineRoom,
        logins: LoginFile | None = None,
    ) -> None:
        self.id: str | None = config.prefix or config.id
        self.server = config.id
        self._room = room
        self.trust = memory.trust
        self._memory = memory
        self._logins = logins
        self._keeper = Keeper(config, self._memory, room, logins)
        self._errands = Errands(self._keeper, room)
        self.offers = Offers(memory, self._errands)
        self._defined: tuple[Judgement | None, ServerConfig, Defined]
        self._defined = None, config, Defined({}, ())
        self._listings: set[Future[Refreshed]] = set()
        room.closing.append(self._keeper.close)

    @property
    def config(self) -> ServerConfig:
        """How it is configured. Another one takes effect at once, and must be of this process."""
        return self._keeper.config

    @config.setter
    def config(self, config: ServerConfig) -> None:
        self._keeper.config = config

    @property
    def starting(self) -> str:
        """What its start is at, for people; empty while it does not start."""
        phase = self._keeper.phase
        return phase.words() if phase else ""

    @property
    def is_unknown(self) -> bool:
        """Whether its tools were never listed, as it is configured, and may be."""
        return self._memory.known is None and not self.config.disabled

    @property
    def listing(self) -> bool:
        """Whether it is about to be listed for the first time, or just being so."""
        return bool(self._listings) and self._memory.known is None

    @property
    def problems(self) -> tuple[str, ...]:
        """What was wrong with the last listing, and that there is none yet."""
        said = self._memory.problem
        if self.is_unknown and not self.listing and not said:
            status = self.status()
            said = f"MCP server {self.server!r}: {status.reason} → {status.remedy}"
        return (*filter(None, [said, self._wait()]), *self._look().problems)

    def capabilities(self) -> Sequence[ToolInfo]:
        """What the server listed when it was last reached, in its order. Starts nothing."""
        return tuple(self._look().tools.values())

    def state(self, name: str) -> State:
        """Ready while the server is up, else asleep; or that it wants a login, or a review."""
        self._check(name)
        judged = self.judgement.tools.get(name)
        if judged is None or judged.status == "rejected":
            return "unreviewed"  # it was listed a moment ago, and is no longer
        return self._state() if judged.status == "approved" else judged.status

    async def call(self, call: Call, running: CallContext) -> Outcome:
        """Call a tool, starting the server if need be. Raises `UnknownTool`."""
        self._check(call.name)
        return await self._errands.call(call, running)

    @property
    def judgement(self) -> Judgement:
        """What the server listed last, held against what was decided by now."""
        return self._memory.judgement

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this, from a thread of ours, when the list or the state may be another."""
        self._keeper.told = changed
        if self.judgement.held():
            self._room.submit(self._keeper.heed())

    def refresh(self) -> "Future[Refreshed]":
        """Start the server once, if it is not up, and list its tools anew."""
        listing = self._room.submit(self._refreshed())
        self._listings.add(listing)
        listing.add_done_callback(self._listings.discard)
        return listing

    def warm_up(self) -> None:
        """Start the server in the background, unless something speaks against it."""
        with suppress(RuntimeError):  # closed meanwhile: there is nothing to warm up for
            self._room.submit(self._keeper.warm_up())

    def retire(self, *, finish: bool) -> None:
        """Stop the server for good, soon. `finish`: once the calls under way have ended."""
        self._keeper.told = None
        self._room.closing.remove(self._keeper.close)
        with suppress(RuntimeError):  # closed meanwhile
            self._room.submit(self._keeper.retire(self.config.call_timeout_s if finish else 0.0))

    def log_in(self, show: Callable[[str], None], patience_s: float) -> "Future[None]":
        """Get tokens for the server, by a person at a browser; `show` hears where to send them.

        Its result raises `SourceError` and `ConfigError`. For the operator's command alone.
        """
        return self._room.submit(self._logged_in(show, patience_s))

    def forget_login(self) -> bool:
        """Remove the tokens of the server, and hang up; whether there were any.

        Raises `SourceError`.
        """
        forgot = self._logins is not None and self._logins.forget()
        if forgot:
            self._memory.note(Failure(NEEDS_LOGIN, "its login was forgotten", time.time()))
        if forgot and self._keeper.up:
            self._room.submit(self._keeper.stop())
        return forgot

    def status(self) -> ServerStatus:
        """What is known of the server, without starting it."""
        return self._status(listing=self.listing)

    def _status(self, *, listing: bool) -> ServerStatus:
        known, transport = self._memory.known, self.config.transport
        pid = self._keeper.pid
        status = ServerStatus(
            server=self.server,
            transport="stdio" if isinstance(transport, Command) else transport.kind,
            state="disabled" if self.config.disabled else self._state(),
            tools=len(self._look().tools),
            waiting=len(self.judgement.waiting()),
            flagged=sum(bool(one.flags) for one in self.judgement.tools.values()),
            protocol=known.facts.version if known else "",
            start_s=known.start_s if known else 0.0,
            seen=known.fetched if known else 0.0,
            failure=self._memory.failure,
            memory_bytes=resident_bytes(pid) if pid else None,
            starting=self.starting,
            listing=listing,
        )
        return replace(status, unavailable=unavailable(self.config, status))

    async def _refreshed(self) -> Refreshed:
        failed = ""
        try:
            await self._keeper.refresh()
        except StartFailed as error:
            failed = str(error)
        tools, waiting = len(self._look().tools), len(self.judgement.waiting())
        seconds = time.monotonic() - self._keeper.began
        remedy = self._status(listing=False).remedy if failed else ""
        return Refreshed(self.server, tools, seconds, failed, waiting, remedy)

    async def _logged_in(self, show: Callable[[str], None], patience_s: float) -> None:
        transport = self.config.transport
        if isinstance(transport, Command) or self._logins is None:
            raise SourceError(f"{self.server!r} is a command, and needs no login: see its `env`")
        if transport.brings_its_own:
            raise SourceError(f"{self.server!r} has an `Authorization` header: correct that")
        from toolcrib.sources.mcp.login import log_in  # noqa: PLC0415 - loads the SDK

        await log_in(self.server, transport, self._logins, show, patience_s)

    def _state(self) -> State:
        if self._keeper.up:
            return "ready"
        failure = self._memory.failure
        if failure is None or failure.code != NEEDS_LOGIN:
            return "asleep"
        since = self._logins.written if self._logins else 0.0
        return "asleep" if since > failure.at else "needs_login"

    def _look(self) -> Defined:
        """The tools as they are known now, read once for each listing."""
        judgement, known, config = self.judgement, self._memory.known, self.config
        seen, by, defined = self._defined
        if (judgement is not seen or config is not by) and known is not None:
            defined = define(config, known, judgement)
            self._defined = judgement, config, defined
        return defined

    def _wait(self) -> str:
        """That tools wait for the operator, or why they all do."""
        if self.judgement.problem:
            return f"MCP server {self.server!r}: nothing is approved: {self.judgement.problem}"
        waiting = len(self.judgement.waiting())
        told = f"MCP server {self.server!r}: waiting for review: {waiting}"
        return f"{told}; run `toolcrib review {self.server}`" if waiting else ""

    def _check(self, name: str) -> None:
        if name not in self._look().tools:
            raise UnknownTool(
                f"no tool {name!r} on MCP server {self.server!r}; search for it first"
            )
