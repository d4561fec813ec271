"""McpSource: the tools, resources and prompts of one MCP server, whether or not it runs."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock

from toolcrib.errors import SourceError, UnknownTool
from toolcrib.model import (
    Call,
    CallContext,
    JsonObject,
    Outcome,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.sources.mcp.client.upstream_request import UpstreamRequest
from toolcrib.sources.mcp.config.server import ServerCommand, ServerConfig
from toolcrib.sources.mcp.lifecycle.memory import ServerMemory
from toolcrib.sources.mcp.lifecycle.server_loop import ServerLoop
from toolcrib.sources.mcp.lifecycle.supervisor import NEEDS_LOGIN, ServerSupervisor
from toolcrib.sources.mcp.oauth.server_login import ServerLogin
from toolcrib.sources.mcp.offers import Offers
from toolcrib.sources.mcp.outcome import StartDiagnosis, StartFailed, StartFailure
from toolcrib.sources.mcp.status import RefreshResult, ServerStatus
from toolcrib.sources.mcp.summary import ListingSummary, listing_stamp
from toolcrib.sources.mcp.tool_definitions import NONE_DEFINED, ToolDefinitions, define_tools
from toolcrib.sources.mcp.trust import NOTHING, ServerJudgement
from toolcrib.store import ListingKey
from toolcrib.system import resident_bytes


class McpSource:
    """Lists what is known of a server without starting it; starts it when a tool is called.

    Callers may be on any thread, with any event loop or none: connections live on the server loop.
    """

    kind: SourceKind = "mcp"
    ends_when_cancelled = True
    returns_json = True

    def __init__(
        self,
        config: ServerConfig,
        memory: ServerMemory,
        loop: ServerLoop,
        logins: ServerLogin | None = None,
    ) -> None:
        self.id: str | None = config.prefix or config.id
        self.server = config.id
        self.trust = memory.trust
        self._memory = memory
        self._loop = loop
        self._logins = logins
        self._config = config
        self._on_change: Callable[[], None] | None = None
        self._made: ServerSupervisor | None = None
        self._making = Lock()
        self._summary = ListingSummary()
        self._last_stamp = ""
        self._refreshing: set[Future[RefreshResult]] = set()
        memory.on_kept = self._look  # in a thread that may take its time

    @property
    def config(self) -> ServerConfig:
        """How it is configured. Another one takes effect at once, and must be of this process."""
        return self._made.config if self._made else self._config

    @config.setter
    def config(self, config: ServerConfig) -> None:
        with self._making:
            self._config = config
            if self._made:
                self._made.config = config

    @cached_property
    def offers(self) -> Offers:
        """Its resources and prompts."""
        kinds = lambda: self._summarized().offers  # noqa: E731 - asked for each time
        return Offers(self._memory, lambda: self._supervisor, kinds)

    @property
    def starting(self) -> str:
        """What its start is at, for people; empty while it does not start."""
        phase = self._made.phase if self._made else None
        return phase.words() if phase else ""

    @property
    def calls(self) -> tuple[int, int]:
        """How many calls it serves now, and how many wait."""
        return self._made.calls if self._made else (0, 0)

    @property
    def is_unknown(self) -> bool:
        """Whether its tools were never listed, as it is configured, and may be."""
        return not self.config.disabled and self._memory.head() is None

    @property
    def listing(self) -> bool:
        """Whether it is about to be listed for the first time, or just being so.

        One that has failed is not: it is tried again, and its failure is what there is to say.
        """
        is_first = self._memory.head() is None and self._memory.failure is None
        return bool(self._refreshing) and is_first

    @property
    def problems(self) -> tuple[str, ...]:
        """What was wrong with the last listing, and that there is none yet."""
        summary, problem = self._summarized(), self._memory.problem
        if self.is_unknown and not self.listing and not problem:
            status = self.status()
            problem = f"MCP server {self.server!r}: {status.reason} → {status.remedy}"
        return (*filter(None, [problem, summary.review_problem(self.server)]), *summary.problems)

    def capabilities(self) -> Sequence[ToolInfo]:
        """What the server listed when it was last reached, in its order. Starts nothing."""
        return tuple(self._look().tools.values())

    def stamp(self) -> str:
        """The same as long as it would list the same tools; empty if that cannot be told.

        It covers the listing, by its version; the decisions, by their seals; and the configuration.
        """
        sure = not self._memory.is_in_doubt
        self._last_stamp = self._stamp(self._memory.version(), self.trust.mark()) if sure else ""
        return self._last_stamp

    def revision(self) -> str:
        """Its stamp."""
        return self.stamp()

    def changed_since(self, revision: str) -> Collection[str] | None:
        """The names of tools that are others since then; None if more than its list may differ."""
        definitions, loaded = self._look(), self._memory.look()
        if not loaded.former or revision != self._stamp(loaded.former.version, loaded.mark):
            return None
        changed = loaded.changed_names()
        return None if changed is None else changed | definitions.asking

    def capability(self, name: str) -> ToolInfo | None:
        """The tool of this name, as `capabilities` has it; None if it is not among them."""
        return self._look().tools.get(name)

    def summary(self) -> JsonObject:
        """What else is known of its listing."""
        return self._summarized().as_json()

    def adopt(self, summary: JsonObject) -> None:
        """Go on with a summary of the stamp that `stamp` gave last.

        The listing is read when somebody needs it.
        """
        if (stamp := self._last_stamp) and (known := ListingSummary.of_json(summary, stamp)):
            self._summary = known

    def state_of_all(self) -> State:
        """Ready while the server is up, else asleep; or that it wants a login."""
        if self._is_up:
            return "ready"
        failure = self._memory.failure
        if failure is None or failure.code != NEEDS_LOGIN:
            return "asleep"
        since = self._logins.written if self._logins else 0.0
        return "asleep" if since > failure.at else "needs_login"

    def state(self, name: str) -> State:
        """The same; or that the tool waits for a review.

        As decided when `capabilities` was last called: a list of tools is of one moment.
        """
        listed = self._memory.definitions
        if listed is None or name not in listed.tools:
            listed = self._check(name)
        judgement = listed.judgement or NOTHING
        judged = judgement.tools.get(name)
        if judged is None or judged.status == "rejected":
            return "unreviewed"  # it was listed a moment ago, and is no longer
        return self.state_of_all() if judged.status == "approved" else judged.status

    async def call(self, call: Call, context: CallContext) -> Outcome:
        """Call a tool, starting the server if need be. Raises `UnknownTool`.

        What was decided is looked up right before the call is sent; and before a server is started,
        so that none is started for nothing.
        """
        listed = self._memory.definitions
        if not self._is_up or listed is None or call.name not in listed.tools:
            self._check(call.name)
        check = partial(self._memory.check, call)
        return await self._supervisor.request(UpstreamRequest.of(call), context, check)

    def judge(self) -> ServerJudgement:
        """What the server listed last, and what was decided about it by now.

        This reads the file of decisions: whoever needs it twice keeps it.
        """
        return self._memory.judge()

    def watch(self, changed: Callable[[], None]) -> None:
        """Call this, from a thread of ours, when the list or the state may have changed."""
        with self._making:
            self._on_change = changed
            if self._made:
                self._made.on_change = changed
        summary = self._summary if self._summary.stamp else self._summarized()
        if summary.held:
            self._loop.submit(self._supervisor.follow_reviews())

    def refresh(self) -> "Future[RefreshResult]":
        """Start the server once, if it is not up, and list its tools again.

        It is done when whoever watches has been told: what it reports is what others see by then.
        """
        future = self._loop.submit(self._refresh())
        for refreshing in (self._refreshing, self._loop.refreshing):
            refreshing.add(future)
            future.add_done_callback(refreshing.discard)
        return future

    @property
    def listing_key(self) -> ListingKey:
        """What its listing is kept by."""
        return ListingKey(self.server, self.trust.identity.config_hash)

    def reread(self) -> None:
        """Have the listing that another process has kept. Whoever watches is not told."""
        self._memory.reread()

    def warm_up(self) -> None:
        """Start the server in the background, unless something speaks against it."""
        with suppress(RuntimeError):  # closed meanwhile: there is nothing to warm up for
            self._loop.submit(self._supervisor.warm_up())

    def stop(self) -> "Future[None]":
        """Hang up on the server, which ends it if it is ours; the next call starts it again."""
        return self._loop.submit(self._stop())

    def retire(self, *, finish: bool) -> None:
        """Stop the server for good, soon. `finish`: once the calls under way have ended."""
        with self._making:
            made, self._on_change = self._made, None
            self._config = replace(self._config, disabled=True)
        if made is None:
            return  # it was never started, and now never is
        made.on_change = None
        self._loop.on_stop.remove(made.close)
        with suppress(RuntimeError):  # closed meanwhile
            patience_s = self.config.call_timeout_s if finish else 0.0
            self._loop.submit(made.retire(patience_s))

    def log_in(self, show: Callable[[str], None], patience_s: float) -> "Future[None]":
        """Get tokens for the server, by a person at a browser; `show` hears where to send them.

        Its result raises `SourceError` and `ConfigError`. For the operator's command alone.
        """
        return self._loop.submit(self._log_in(show, patience_s))

    def forget_login(self) -> bool:
        """Remove the tokens of the server, and hang up; whether there were any.

        Raises `StoreError`.
        """
        forgot = self._logins is not None and self._logins.forget()
        if forgot:
            self._memory.note(StartFailure(NEEDS_LOGIN, "its login was forgotten", time.time()))
        if forgot and self._is_up:
            self.stop()
        return forgot

    def status(self) -> ServerStatus:
        """What is known of the server, without starting it."""
        return self._status(listing=self.listing)

    def missing_program(self) -> StartDiagnosis | None:
        """Which program has to be installed before it can start, as far as one can see.

        None for a server elsewhere. Raises `ConfigError` for a variable that is not set.
        """
        from toolcrib.sources.mcp.transport.isolation import (  # noqa: PLC0415 - rarely needed
            missing_program,
        )

        transport = self.config.transport
        return missing_program(transport) if isinstance(transport, ServerCommand) else None

    @property
    def _is_up(self) -> bool:
        return self._made is not None and self._made.up

    @property
    def _supervisor(self) -> ServerSupervisor:
        """Who runs the server; made when there is something to run."""
        with self._making:
            if self._made is None:
                made = ServerSupervisor(self._config, self._memory, self._loop, self._logins)
                made.on_change = self._on_change
                self._loop.on_stop.append(made.close)
                self._made = made
            return self._made

    def _status(self, *, listing: bool) -> ServerStatus:
        pid = self._made.pid if self._made else None
        return ServerStatus.of(
            self.config,
            self._summarized(),
            self._memory.head(),
            self.state_of_all(),
            failure=self._memory.failure,
            memory_bytes=resident_bytes(pid) if pid else None,
            starting=self.starting,
            listing=listing,
        )

    async def _refresh(self) -> RefreshResult:
        failure = ""
        try:
            await self._supervisor.refresh()
        except StartFailed as error:
            failure = str(error)
        seconds = time.monotonic() - self._supervisor.began
        summary = self._summarized()
        status = self._status(listing=False)
        remedy, cut = status.remedy if failure else "", status.cut_words
        if told := self._on_change:
            await asyncio.to_thread(told)
        found = self.server, summary.tools, seconds, failure, summary.waiting, remedy, cut
        return RefreshResult(*found)

    async def _stop(self) -> None:
        if self._is_up:
            await self._supervisor.stop()

    async def _log_in(self, show: Callable[[str], None], patience_s: float) -> None:
        from toolcrib.sources.mcp.oauth.login import log_in  # noqa: PLC0415 - loads the SDK

        try:
            await asyncio.to_thread(self._supervisor.check_entry)
        except StartFailed as error:
            raise SourceError(f"{self.server!r} {error}") from None
        await log_in(self.server, self.config.transport, self._logins, show, patience_s)

    def _look(self) -> ToolDefinitions:
        """The tools by what is decided now, made once for each listing; the summary goes along."""
        config = self.config
        loaded = self._memory.look()
        stamp = self._stamp(loaded.version, loaded.mark)  # before what it stands for, never after
        known, judgement, last = loaded.known, loaded.judgement, loaded.definitions
        if judgement.problem:  # it says nothing of what was decided under that mark
            stamp = ""
        if known is None:
            self._summary = ListingSummary(stamp)
            return NONE_DEFINED
        if last is None or last.judgement is not judgement or last.config is not config:
            identity = self.trust.identity
            last = define_tools(config, known, judgement, identity, last or NONE_DEFINED)
            self._memory.define(loaded, last)
        if not stamp or stamp != self._summary.stamp:
            admitted = self.trust.admits(judgement)
            self._summary = ListingSummary.of(stamp, known, judgement, last, admitted=admitted)
        return last

    def _summarized(self) -> ListingSummary:
        """The summary as of now. Reads the listing only if it is not the one that is summarized."""
        stamp = self.stamp()
        if not stamp or stamp != self._summary.stamp:
            self._look()
        return self._summary

    def _stamp(self, version: str, mark: object) -> str:
        return listing_stamp(version, mark, self.trust.identity, self.config)

    def _check(self, name: str) -> ToolDefinitions:
        """The tools of this tool's server, by what is decided now. Raises `UnknownTool`."""
        listed = self._look()
        if name not in listed.tools:
            self._supervisor.tell_changed()  # whoever still shows it lists anew
            raise UnknownTool(
                f"no tool {name!r} on MCP server {self.server!r}; search for it first"
            )
        return listed
