"""What is known of one server, read from the cache when somebody needs it, and let go again.

Thousands of servers may be configured, and a few of them are in use. Of the others nothing is in
memory: whether they were listed, and which version of their listing there is, the head of their
file tells. What was only read is let go when others are read; what a running server lists stays.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import RLock
from typing import NamedTuple

from toolcrib.errors import StoreError
from toolcrib.model import Call, JsonObject, TellSpan
from toolcrib.observe import Record, drop
from toolcrib.sources.mcp.lifecycle.cache import MCPToolsCache
from toolcrib.sources.mcp.lifecycle.server_events import ServerEvents
from toolcrib.sources.mcp.listing import (
    KnownServer,
    ServerFacts,
    ServerIntroduction,
    ServerListing,
    changed_names,
)
from toolcrib.sources.mcp.outcome import StartFailed, StartFailure
from toolcrib.sources.mcp.server_log import ServerLog
from toolcrib.sources.mcp.tool_definitions import ToolDefinitions
from toolcrib.sources.mcp.trust import ServerJudgement, ServerTrust
from toolcrib.store import ListingHead

MOST_LOOKS = 3
NO_LISTING = "none"


class FormerListing(NamedTuple):
    """The listing before the last one, with the version that its file had."""

    version: str
    known: KnownServer


@dataclass(slots=True)
class LoadedListing:
    """What is in memory of a server: its last listing, how it is judged, and its tools by that.

    `version` is that of the file; empty if the listing is in no file. `judged` is what was judged
    last, under the trust's `mark`.
    """

    known: KnownServer | None
    version: str
    judgement: ServerJudgement = field(default_factory=ServerJudgement)
    judged: KnownServer | None = None
    mark: object = None
    definitions: ToolDefinitions | None = None
    former: FormerListing | None = None

    def changed_names(self) -> frozenset[str] | None:
        """The names of tools that are listed otherwise than in the former version.

        None if there is no such, or if the server says something else of itself: that goes with
        every tool.
        """
        known, former = self.known, self.former
        if known is None or former is None or known.facts != former.known.facts:
            return None
        return changed_names(former.known.listing, known.listing)


class ServerMemory:
    """What is known of one server. Its supervisor writes it; any thread may read it.

    `problem` says what is wrong with `known`, and is empty if nothing is. `in_use`: it stays in
    memory. `on_kept` is called when a listing was kept; `on_offers_changed` are called with the
    kinds of offers that have changed: both in the thread that writes. What happens to the server
    goes into its `log`, and `record` hears of it; `tell` hears of requests to it, if anybody does.
    """

    def __init__(  # noqa: PLR0913 - what a server's memory is given, each by its name
        self,
        server: str,
        config_hash: str,
        cache: MCPToolsCache,
        trust: ServerTrust,
        log: ServerLog | None = None,
        *,
        record: Record = drop,
        tell: TellSpan | None = None,
    ) -> None:
        self._server = server
        self._hash = config_hash
        self._cache = cache
        self._turn = RLock()
        self._loaded: LoadedListing | None = None
        self._failure: tuple[StartFailure | None] | None = None
        self._logged_failure = ""
        self.trust = trust
        self.log = log or ServerLog(server)
        self._events = ServerEvents(server, record)
        self.tell = tell
        self.problem = ""
        self.in_use = False
        self.on_kept: Callable[[], object] = lambda: None
        self.on_offers_changed: list[Callable[[frozenset[str]], None]] = []

    @property
    def known(self) -> KnownServer | None:
        """Its last listing; None if it was never reached as it is configured."""
        return self._load().known

    @property
    def facts(self) -> ServerFacts | None:
        """What the server said of itself; None if it was never reached as it is configured."""
        return known.facts if (known := self.known) else None

    @property
    def failure(self) -> StartFailure | None:
        """How its last start failed; None if it went well, or nobody tried."""
        if self._failure is None:
            self._failure = (self._cache.read_failure(self._server, self._hash),)
        return self._failure[0]

    def head(self) -> ListingHead | None:
        """Which listing there is, and of when, without reading it; None if there is none."""
        if loaded := self._loaded:
            known = loaded.known
            return known and ListingHead(loaded.version, known.fetched, known.start_s)
        return self._cache.head(self._server, self._hash)

    def version(self) -> str:
        """Another one for another listing; empty if that cannot be told."""
        head = self.head()
        return head.version if head else NO_LISTING

    def look(self) -> LoadedListing:
        """What is known, and what was decided about it by now.

        The judgement is the same object while both stay. This reads the file of decisions.
        """
        with self._turn:
            loaded = self._load()
            if loaded.known is None:
                return loaded
            for _ in range(MOST_LOOKS):
                mark = self.trust.version()
                as_decided = mark is not None and mark == loaded.mark
                is_sure = as_decided and not loaded.judgement.problem
                if is_sure and loaded.judged is loaded.known:
                    break
                loaded.judgement = self.trust.judge(
                    loaded.known, loaded.judgement, as_decided=as_decided
                )
                # Judging may decide something: then it is looked at once more.
                loaded.mark, loaded.judged = mark, loaded.known
            return loaded

    @property
    def is_in_doubt(self) -> bool:
        """Whether decisions could not be read when this was judged last."""
        loaded = self._loaded
        return loaded is not None and bool(loaded.judgement.problem)

    def judge(self) -> ServerJudgement:
        """How what is known is judged by now; see `look`."""
        return self.look().judgement

    @property
    def definitions(self) -> ToolDefinitions | None:
        """The tools as they were last made; None if they are not in memory."""
        loaded = self._loaded
        return loaded.definitions if loaded else None

    def define(self, loaded: LoadedListing, made: ToolDefinitions) -> None:
        """Have these as the tools, unless something else was decided while they were made."""
        with self._turn:
            if loaded.judgement is made.judgement:
                loaded.definitions = made

    def let_go(self) -> None:
        """Have nothing in memory that can be read again, unless the server is in use."""
        loaded = self._loaded
        if loaded and loaded.version and not self.in_use:
            self._loaded = None

    def use(self, *, up: bool) -> None:
        """The server runs, so that its listing is needed all the time; or no longer."""
        self.in_use = up
        self._cache.recent.touch(self.let_go)

    def serves_offers(self) -> bool:
        """Whether its resources and prompts may be shown and read, as decided by now."""
        loaded = self.look()
        return loaded.known is not None and self.trust.admits(loaded.judgement)

    def check(self, call: Call) -> None:
        """Check a call by what the server lists and what is decided now. Raises `StartFailed`."""
        judged = self.judge().tools.get(call.name)
        self._check_current()  # after it: by what it was judged has to be current
        if judged is None or judged.status == "rejected":
            message = f"{call.name!r} is no longer among its tools; search again"
            raise StartFailed("unknown_tool", message, retryable=False)
        if judged.status != "approved":
            message = f"{call.name!r} is not as it was approved; `toolcrib review {self._server}`"
            raise StartFailed("definition_changed", message, retryable=False)
        if call.pin not in ("", self.trust.identity.call_pin(judged.pin)):
            message = f"{call.name!r} has another definition than when it was shown; search again"
            raise StartFailed("definition_changed", message, retryable=False)

    def check_offers(self) -> None:
        """Check that its resources and prompts may be read. Raises `StartFailed`."""
        are_served = self.serves_offers()
        self._check_current()
        if not are_served:
            message = f"none of its tools is approved yet; `toolcrib review {self._server}`"
            raise StartFailed("unreviewed", message, retryable=False)

    def _check_current(self) -> None:
        try:
            self.trust.check_current()
        except StoreError as error:
            raise StartFailed("store_away", str(error), retryable=True) from error

    def keep(self, introduction: ServerIntroduction, start_s: float) -> None:
        """Remember what a server said as it started. A cut list does not replace a whole one."""
        with self._turn:
            facts, listing = introduction.facts, self._better(introduction.listing)
            summary = f"speaks {facts.version}, lists {len(listing.tools)} tools"
            self.log.note(f"up after {start_s:.1f} s: {summary}")
            known = KnownServer(
                server=self._server,
                config_hash=self._hash,
                facts=facts,
                listing=listing,
                fetched=time.time(),
                start_s=start_s,
                declared=introduction.declared,
            )
            kinds = self._write(known)
        self._events.started(start_s)
        self.on_kept()
        self._tell(kinds)

    def keep_listing(self, listing: ServerListing) -> bool:
        """Remember the list of a server that is up; whether it differs from the one before."""
        with self._turn:
            before, better = self.known, self._better(listing)
            if before is None or before.listing == better:
                return False
            was = len(before.listing.tools)
            self.log.note(f"lists {len(better.tools)} tools now, {was} before")
            kinds = self._write(replace(before, listing=better, fetched=time.time()))
        self.on_kept()
        self._tell(kinds)
        return True

    def reread(self) -> None:
        """Have the listing that another process has kept, if it is later than ours."""
        with self._turn:
            before, head = self._loaded, self._cache.head(self._server, self._hash)
            if before is None or head is None:
                return  # whoever needs it reads it
            was = before.known
            if was and head.fetched <= was.fetched:
                return
            found = self._cache.read(self._server, self._hash)
            known = found.known
            if known is None or (was and known.fetched <= was.fetched):
                return
            if was:
                tools = _reused(known.listing, was.listing)
                known = replace(known, listing=replace(known.listing, tools=tools))
            self._loaded = replace(
                before,
                known=known,
                version=found.version,
                former=FormerListing(before.version, was) if was and before.version else None,
            )
            kinds = _changed(was.listing if was else ServerListing(), known.listing)
        self._tell(kinds)

    def note(self, failure: StartFailure | None) -> None:
        """Remember how a start went; None: it went well."""
        before, self._failure = self.failure, (failure,)
        if failure:
            message = f"{failure.message} ({failure.code})"
            self.log.note(message, aloud=message != self._logged_failure)
            self._logged_failure = message
            self._events.failed(failure.code)
        if failure or before:
            self._cache.write_failure(self._server, self._hash, failure)

    def ended(self, why: str, status: int | None, up_s: float, *, crashed: bool) -> None:
        """The server ended, by itself or because we stopped it, after so many seconds."""
        self.log.ended(why, status, up_s)
        self._events.ended(up_s, crashed=crashed)

    def _load(self) -> LoadedListing:
        """What is in memory, read now if it is not."""
        if loaded := self._loaded:
            return loaded
        with self._turn:
            if self._loaded is None:
                found = self._cache.read(self._server, self._hash)
                self.problem = found.problem or self.problem
                loaded = self._loaded = LoadedListing(found.known, found.version or NO_LISTING)
            else:
                loaded = self._loaded
        self._cache.recent.touch(self.let_go)
        return loaded

    def _better(self, listing: ServerListing) -> ServerListing:
        """The listing, completed by what was known before of what could not be listed now."""
        known, self.problem = self.known, ""
        before = known.listing if known else ServerListing()
        offers = {**before.offers, **listing.offers}
        if listing.complete or known is None or not before.complete:
            return ServerListing(_reused(listing, before), listing.complete, offers)
        self.problem = (
            f"MCP server {self._server!r} lists tools without end; its last whole list stays"
        )
        return replace(before, offers=offers)

    def _write(self, known: KnownServer) -> frozenset[str]:
        """Have this from now on; the kinds of offers that have changed."""
        before = self.look()
        was = before.known
        is_same = was is not None and before.judged is was and _says_the_same(known, was)
        loaded = self._loaded = replace(
            before,
            known=known,
            version="",
            judged=known if is_same else before.judged,
            former=FormerListing(before.version, was) if was and before.version else None,
        )
        judged = self.look().judgement  # here, in a thread that may take its time
        self._events.judged(before.judgement, judged)
        try:
            loaded.version = self._cache.write(known)
        except StoreError as error:
            self.problem = str(error)
        return _changed(was.listing if was else ServerListing(), known.listing)

    def _tell(self, kinds: frozenset[str]) -> None:
        for on_change in tuple(self.on_offers_changed) if kinds else ():
            on_change(kinds)


def _says_the_same(known: KnownServer, before: KnownServer) -> bool:
    """Whether nothing is new but that the server was reached again."""
    return (known.facts, known.listing) == (before.facts, before.listing)


def _reused(listing: ServerListing, before: ServerListing) -> tuple[JsonObject, ...]:
    """The tools of a listing; those that are as before are the very same objects."""
    by_name = {str(each.get("name")): each for each in before.tools}
    old = ((by_name.get(str(each.get("name")), each), each) for each in listing.tools)
    return tuple(earlier if earlier == each else each for earlier, each in old)


def _changed(before: ServerListing, now: ServerListing) -> frozenset[str]:
    """The kinds of offers that have changed."""
    every = {*before.offers, *now.offers}
    return frozenset(kind for kind in every if before.offers.get(kind) != now.offers.get(kind))
