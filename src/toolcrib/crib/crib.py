"""The one place that knows every stage and wires them.

crib = Crib()
crib.add(my_function)
crib.search("what I need")
crib.explain("what I need", "my_function")
await crib.call("my_function", {"its": "arguments"})
crib.add_mcp("time", command=["uvx", "mcp-server-time"])
crib.session("thread-1").active_tools()
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from threading import RLock
from types import ModuleType, TracebackType
from typing import Self, Unpack, overload

from toolcrib.access import (
    Scope,
    allows_source,
    count_unreviewed,
    hidden_names,
    why_barred,
    why_hidden,
)
from toolcrib.crib.fleet import Fleet, OffersListener
from toolcrib.crib.live_index import LiveIndex
from toolcrib.crib.unavailable_servers import (
    MOST_SERVERS,
    ServerPurposes,
    matching_servers,
    may_see_server,
    query_stems,
    server_of_name,
)
from toolcrib.embed import Embedder
from toolcrib.errors import SourceError, ToolcribError
from toolcrib.execute import (
    ApprovalRequest,
    Approver,
    Caller,
    CallRefused,
    Door,
    RuleFile,
    Tickets,
    VisibleTools,
)
from toolcrib.index import Catalog, Progress, View
from toolcrib.model import (
    Answer,
    Call,
    Entry,
    InputHandler,
    Json,
    JsonObject,
    Kind,
    LogHandler,
    Outcome,
    Query,
    SkillInfo,
    ToolInfo,
)
from toolcrib.model import ProgressHandler as CallProgress
from toolcrib.pool import EntryCache, Pool, warm_up_best
from toolcrib.search import Explanation, Search, answer_query, explain, monolingual_share
from toolcrib.session import (
    Deferral,
    DeferralPlan,
    Host,
    Prices,
    RequestReveals,
    Session,
    describe,
    make_plan,
    skill_file_text,
)
from toolcrib.settings import Settings, default_settings
from toolcrib.sources import (
    FunctionSource,
    Source,
    ToolFacts,
    WatchableSource,
    mcp_rules,
    public_functions,
    read_skill_file,
    skill_files,
    sources_from_settings,
)
from toolcrib.sources.apps import AppRegistry
from toolcrib.sources.mcp import McpSource, RefreshResult, open_added_servers, read_servers
from toolcrib.sources.mcp import ServerEntry as McpEntry
from toolcrib.store import StoredReveals
from toolcrib.system import LastGoodCopies
from toolcrib.text import Language, load_glossary, token_counter
from toolcrib.tools import OwnFiles
from toolcrib.uses import UseAdvice, UseHints, UseHistory, unresolved_links
from toolcrib.wiring import (
    app_rules_of,
    audit_of,
    deferral_of,
    fit_in_place,
    habits_of,
    policy_of,
    rules_of,
    tickets_of,
)

_log = logging.getLogger(__name__)

MOST_OFTEN_WITH = 5
MOST_NAMED = 5

HOST = Caller("host")
"""Who calls when nobody else is named: the program that holds the crib."""


class Crib:
    """A pool of capabilities and the search over it. Safe to share between threads.

    Empty until something is added. Unless the settings say otherwise it leaves on disk what is
    known of servers that were added, and the vectors of tools, for the next start.
    Without settings, the environment says when tools wait for a search (`TOOLCRIB_TOOL_SEARCH`,
    else `ENABLE_TOOL_SEARCH`), and nothing else.
    """

    def __init__(
        self, settings: Settings | None = None, *, embedder: Embedder | None = None
    ) -> None:
        self.settings = settings or default_settings(os.environ)
        self.pool = Pool()
        self._problems: tuple[str, ...] = ()
        self._changing = RLock()
        self._shelf = LiveIndex(self.settings, self.pool, self._changing, embedder, say=self._say)
        self._audit = audit_of(self.settings)
        self._uses = UseHistory(
            None if self.settings.store_path == ":memory:" else self._shelf.store_if_there,
        )
        learns = self.settings.search.learn_boost if self.settings.search.learn else 0.0
        self._advice = UseAdvice(self._uses, self.pool, boost=learns)
        self._tickets = tickets_of(self.settings)
        self._rule_file = RuleFile(
            self.settings.rules_file, LastGoodCopies(self.settings.state_folder)
        )
        self._door = Door(
            self.pool,
            policy_of(self.settings, self._rule_file.rules),
            audit=self._audit,
            tickets=self._tickets,
            heard=self._heard,
            why_unknown=self.why_unknown,
        )
        self._functions = FunctionSource(named_by="program")
        self._added = False
        self._fleet = Fleet(self.pool, self._changing, self._refresh)
        self._hidden = EntryCache[tuple[Scope, frozenset[Kind]], frozenset[str]]()
        self._seen = EntryCache[Scope, Mapping[str, Entry]]()
        self._plans = EntryCache[tuple[Scope, Deferral, bool], DeferralPlan]()
        self._prices = Prices(token_counter)
        self._alone = EntryCache[None, Mapping[Language, float]]()
        self._purposes = ServerPurposes()
        self._rules = rules_of(self.settings)
        self._glossary = load_glossary(self.settings.search.glossaries)

    @classmethod
    def from_settings(
        cls, settings: Settings, *, loop: asyncio.AbstractEventLoop | None = None
    ) -> Self:
        """A crib with every source that the settings name.

        With `loop`, MCP servers live on that one, which makes calls from there cheaper: it has to
        run until this is closed, and `close` is then called from another thread.
        """
        crib = cls(settings)
        found = sources_from_settings(settings, crib._functions, loop)
        crib._problems = found.problems
        crib.add_source(*found.sources)
        crib._fleet.open(found.servers)
        if settings.apps.enabled:
            crib._problems += crib._apps.problems
        astray_links = unresolved_links(found.sources, list(crib.entries()), crib.pool.candidates)
        crib._problems += tuple(astray_links)
        return crib

    @property
    def problems(self) -> tuple[str, ...]:
        """What the settings name and what could not be used, as of now; one message a thing."""
        found = (*self._problems, *self._fleet.problems, *self.pool.problems)
        return (*filter(None, [self.rules_problem]), *found)

    @property
    def rules_problem(self) -> str:
        """What is wrong with the file of rules, and what becomes of calls; empty if nothing is."""
        return self._rule_file.problem

    @property
    def broken_files(self) -> tuple[str, ...]:
        """What is wrong with each file of MCP servers that cannot be used; among `problems` too.

        What it said before holds until it can be, if that is known.
        """
        return self._fleet.broken_files

    @overload
    def add(self, fn: Callable[..., object], /, **facts: Unpack[ToolFacts]) -> ToolInfo: ...
    @overload
    def add(
        self,
        fn: Callable[..., object],
        second: Callable[..., object],
        /,
        *more: Callable[..., object],
        **facts: Unpack[ToolFacts],
    ) -> tuple[ToolInfo, ...]: ...
    def add(
        self, fn: Callable[..., object], /, *more: Callable[..., object], **facts: Unpack[ToolFacts]
    ) -> ToolInfo | tuple[ToolInfo, ...]:
        """Make a function a tool, or several, all of them or none.

        What is said of several counts for each. Raises `NameTaken` and `DeclarationError`.
        """
        with self._changing:
            self._added = True
            if more:
                return self._functions.add_several((fn, *more), facts)
            return self._functions.add(fn, **facts)

    def add_all(self, module: ModuleType, **facts: Unpack[ToolFacts]) -> tuple[ToolInfo, ...]:
        """Make every public function that a module defines a tool, all of them or none.

        What begins with `_`, or is not in the module's `__all__` if it has one, is not public. What
        is said here counts for each, unless its `@tool` says otherwise. Raises `NameTaken`, and
        `DeclarationError` for a module without public functions, or with one without a docstring.
        """
        found = public_functions(module, facts)
        with self._changing:
            self._added = True
            return self._functions.put_all(found)

    def add_source(self, *sources: Source) -> None:
        """Take whole sources in; what is wrong with them is among `problems`."""
        with self._changing:
            self._problems += self.pool.add(*sources)
        for source in sources:
            if isinstance(source, WatchableSource):
                source.watch(partial(self._refresh, source))

    def add_mcp(self, server: str | Path | Mapping[str, Json], **entry: Unpack[McpEntry]) -> None:
        """Add an MCP server by name, or all of a file or of a mapping with `mcpServers`.

        Starts none: what they listed when they were last reached is found at once, and `refresh`
        lists those that never were. The keys are those of the file, but for `command`, which may be
        a list with its arguments. Raises `ConfigError`, and `NameTaken` for a second of one name.
        """
        said = self.settings
        self._fleet.add(open_added_servers(server, entry, said.state_folder, mcp_rules(said)))

    async def refresh(self, *servers: str) -> Sequence[RefreshResult]:
        """Start these MCP servers once, or all, and list their tools anew; search finds them then.

        One that fails costs no other: its result has the error, and what was known of it stays.
        Raises `ConfigError` for a name that none has.
        """
        return await self._fleet.refresh(*servers)

    def take_settings(self, settings: Settings) -> bool:
        """Go on by these settings, and by what the files with MCP servers say now.

        Servers that are configured as before run on, and so do calls. False, and nothing is done,
        where the settings need a new crib. One that is not made `from_settings` gets no servers.
        """
        if not fit_in_place(self.settings, settings):
            return False
        found = read_servers(settings.mcp_config, LastGoodCopies(settings.state_folder))
        self._glossary = load_glossary(settings.search.glossaries)
        self._rules = rules_of(settings)
        self._door.policy = policy_of(settings, self._rule_file.rules)
        self.settings = settings
        self._fleet.take(found, mcp_rules(settings))
        return True

    def listen(self) -> None:
        """Let apps join from now on, and add their tools, until this is closed.

        Raises `SourceError` when another process lets them join.
        """
        self._apps.listen()

    def search(
        self,
        text: str,
        *,
        limit: int | None = None,
        kinds: Iterable[Kind] = (),
        scope: Scope | None = None,
        caller: Caller = HOST,
    ) -> Answer:
        """What fits best, best first. Never raises for what a query says.

        `scope` is the caller's, unless it is given.
        """
        query = Query(text, limit, frozenset(kinds))
        seen = self._scope(scope or caller.scope)
        self._gathered()
        with self._shelf.view() as (catalog, view):
            found = answer_query(query, self._search(catalog, view, query, seen))
        found = self._mentioning_reviews(found, seen)
        if not query.kinds or "tool" in query.kinds:
            found = self._mentioning_servers(self._mentioning_listing(found, seen), seen)
        self._advice.answered(found, caller.id, seen)
        if self.settings.mcp.warm_up:
            warm_up_best(self.pool, found)
        return found

    def explain(
        self, text: str, name: str, *, limit: int | None = None, scope: Scope | None = None
    ) -> Explanation:
        """Why a search returns this capability, or does not.

        Raises `UnknownTool` and `AmbiguousName`.
        """
        query = Query(text, limit)
        entry = self.get(name)
        caller = self._scope(scope)
        with self._shelf.view() as (catalog, view):
            search = self._search(catalog, view, query, caller)
            return explain(query, entry, why_hidden(entry, caller), search)

    def hints(self, name: str) -> UseHints:
        """What a capability is used with, by declared links and by recorded use.

        For the operator: it names what a caller may not see. Raises `UnknownTool`,
        `AmbiguousName` and `StoreError`.
        """
        return self._advice.hints(self.get(name).name)

    @property
    def uses(self) -> UseHistory:
        """What is kept about use, to show and to forget. For the operator, as `hints`."""
        return self._uses

    async def call(  # noqa: PLR0913 - what a call may have, each by its name
        self,
        name: str,
        arguments: JsonObject | str = "{}",
        *,
        caller: Caller = HOST,
        pin: str = "",
        timeout_s: float | None = None,
        approver: Approver | None = None,
        progress: CallProgress | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
        paged: bool = False,
    ) -> Outcome:
        """Call a tool. Never raises for what a model says: the outcome has the error.

        `arguments` may be JSON text, as some providers hand them over. `pin` is that of the
        definition which was shown, if it has to be that one. `approver` is asked where the rules
        say so; without one the operator finds a ticket at `tickets`. `progress`, `ask` and `log`
        are who listens meanwhile; see `CallContext`. `paged`: the result is for a model, which
        reads a long one page by page; see `result`.
        """
        self._look_again(self._gathered(), name)
        call = Call.of(name, arguments, pin)
        outcome = await self._door.execute(
            call,
            self._known(caller),
            timeout_s=timeout_s,
            approver=approver,
            progress=progress,
            ask=ask,
            log=log,
        )
        return self._door.paged(outcome, caller) if paged else outcome

    def session(
        self,
        id: str | None = None,
        *,
        caller: Caller = HOST,
        mode: str | None = None,
        context_window: int | None = None,
        bound: Iterable[str] = (),
    ) -> Session:
        """What one conversation of this caller sees; its reveals last as long as its id is used.

        Without an id it is for one request alone, and shared with nobody. `mode` and
        `context_window` None mean the settings. `bound` are the names of tools that the caller has
        got already: they are neither listed nor found. Raises `ConfigError` for a mode that is
        none, and `StoreError`.
        """
        scope = replace(caller.scope, bound=caller.scope.bound.union(bound))
        deferral = deferral_of(self.settings, mode, context_window)
        known = self._known(replace(caller, scope=scope))
        return Session(
            self._host(known),
            partial(self._plan, known.scope, deferral),
            RequestReveals() if id is None else StoredReveals(self._shelf.store, caller.id, id),
            self._prices,
            habits_of(self.settings, deferral),
        )

    def question(
        self, name: str, arguments: JsonObject | str, *, caller: Caller = HOST
    ) -> ApprovalRequest | None:
        """What a person would be asked before this call is made; None if nobody would be.

        Sends nothing and asks nobody: for hosts that gather all questions before they call.
        """
        self._gathered()
        return self._door.question(Call.of(name, arguments), self._known(caller))

    def read(self, name: str, *, caller: Caller = HOST) -> Outcome:
        """All about what this caller may see, in words: of a skill its text, of an agent its card.

        `name/path` is a file in the folder of a skill. Never raises for what a model says: the
        outcome has the error. Raises `StoreError`.
        """
        whose, _, path = name.partition("/")
        why = partial(self.why_unknown, caller=caller)
        visible = VisibleTools(self.seen_by(self._known(caller)), why)
        try:
            entry = visible.resolve(whose)
            if path:
                return Outcome(skill_file_text(entry.name, path, self._file(entry, path)))
        except CallRefused as refused:
            return Outcome(error=refused.error)
        often = visible.among(self.hints(entry.name).often_with)[:MOST_OFTEN_WITH]
        skill = entry.capability
        files = skill_files(skill, self._own) if isinstance(skill, SkillInfo) else ()
        return Outcome(describe(entry, often, files))

    def result(
        self, handle: str, *, page: int = 1, find: str = "", caller: Caller = HOST
    ) -> Outcome:
        """A page of a long result of this caller; see `Outcome.page`.

        With `find`, of its lines that have these words, or fit a `/pattern/`: that may take
        seconds. Never raises for what a model says: the outcome has the error.
        """
        return self._door.result(handle, caller, page, find)

    @property
    def tickets(self) -> Tickets:
        """The calls that wait for approval. For the operator: never hand it to a model."""
        return self._tickets

    def entries(self) -> Mapping[str, Entry]:
        """Everything in the pool by name, hidden or not."""
        return self._gathered().entries

    def seen_by(self, caller: Caller) -> Mapping[str, Entry]:
        """What this caller may see and call, by name. Nothing else is to be named to them."""
        entries, scope = self.entries(), self._scope(caller.scope)
        return self._seen.get(
            entries,
            scope,
            lambda: {name: each for name, each in entries.items() if not why_barred(each, scope)},
        )

    def why_unknown(self, name: str, caller: Caller = HOST) -> str:
        """Why there is no such tool for this caller, where the server that it names is the reason.

        In a sentence or two with what to do; "" if it names none whose tools cannot be had.
        """
        fleet, scope = self._fleet, self._scope(caller.scope)
        found = server_of_name(name, fleet.by_name, fleet.broken)
        return str(found[1]) if found and may_see_server(scope, found[0]) else ""

    def get(self, name: str) -> Entry:
        """One entry, by name or by a bare name that is unique.

        Raises `UnknownTool` and `AmbiguousName`.
        """
        return self._gathered().resolve(name)

    @property
    def servers(self) -> Mapping[str, McpSource]:
        """The MCP servers by name, for what they have beside tools."""
        return self._fleet.by_name

    def listen_offers(self, heard: OffersListener) -> Callable[[], None]:
        """Call this when a server has other resources or prompts; see `Fleet.listen`."""
        return self._fleet.listen(heard)

    @property
    def has_embedder(self) -> bool:
        """Whether search has a vector arm to look forward to."""
        return self._shelf.has_embedder

    def embedded(self, timeout_s: float | None = None) -> bool:
        """Wait until all that is indexed has its vectors; whether it has.

        Nobody has to: searches work meanwhile, by words.
        """
        self._gathered()
        return self._shelf.catalog().embedded(timeout_s)

    def store_index(
        self,
        *,
        embedding: Callable[[int, int], None] = lambda _done, _all: None,
        progress: Progress | None = None,
    ) -> None:
        """Write the index of all entries to the catalog file, for the next start to use.

        `embedding` hears how many texts have a vector, of how many; `progress` how many rows are
        written.
        """
        self._gathered()
        self._shelf.rebuild(embedding, progress)

    def stored_index_fits(self) -> bool | None:
        """Whether the catalog file has the index of just these entries; None if there is no file.

        Raises `StoreError`.
        """
        self._gathered()
        return self._shelf.stored_fits()

    def close(self) -> None:
        """End the servers and apps that were started, and let go of the catalog file."""
        self._fleet.close()
        self._uses.close()
        if "_apps" in self.__dict__:
            self._apps.close()
        self._shelf.close()
        self._tickets.close()
        if self._audit:
            self._audit.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _say(self, problem: str) -> None:
        """Put something that went wrong on the way among the problems and into the log, once."""
        with self._changing:
            if problem in self.problems:
                return
            self._problems += (problem,)
        _log.warning("%s", problem)

    def _refresh(self, source: Source) -> None:
        """List one source again: it says that it is no longer what it was."""
        with self._changing:
            if self.pool.has(source):  # it may be gone by now
                self.pool.refresh(source)

    def _look_again(self, pool: Pool, name: str) -> None:
        """See whether somebody has logged in elsewhere meanwhile, where that is what is missing."""
        for entry in pool.candidates(name):
            if entry.state == "needs_login":
                with suppress(ToolcribError):  # what was known before stays
                    self._refresh(pool.source_of(entry.name))

    def _gathered(self) -> Pool:
        """The pool with all functions that were added; nobody waits while another changes it."""
        if self._added:
            with self._changing:
                self.pool.refresh(self._functions)
                self._added = False
        return self.pool

    def _search(self, catalog: Catalog, view: View, query: Query, caller: Scope) -> Search:
        entries = self.pool.entries
        unseen = self._hidden_from(caller, query.kinds, entries)
        return Search(
            view,
            entries,
            self._rules,
            hidden=unseen,
            vectors=partial(catalog.with_vectors, size=view.vector_size),
            cosines=catalog.cosines,
            glossary=self._glossary,
            alone=self._spoken_alone(entries),
            learned=self._advice.learned(query.text, caller),
            often_with=self._advice.often_with(entries),
        )

    def _mentioning_reviews(self, found: Answer, scope: Scope) -> Answer:
        """The answer; where nothing was found, with how many tools nobody has approved yet."""
        waiting = 0 if found.hits else count_unreviewed(self.pool.entries.values(), scope)
        if not waiting:
            return found
        said = f"Not searched: {waiting} that wait for the operator's review (`toolcrib review`)."
        return replace(found, note=f"{found.note} {said}".strip())

    def _mentioning_servers(self, found: Answer, scope: Scope) -> Answer:
        """The answer, with the servers that it may be about and whose tools cannot be had."""
        servers, asked = self.servers, query_stems(found.query, self._glossary)
        purposes = self._purposes.of(servers, self.pool.entries)
        fit = matching_servers(asked, servers, self._fleet.broken, purposes)
        told = (why for origin, why in fit if may_see_server(scope, origin))
        return replace(found, unavailable=tuple(islice(told, MOST_SERVERS)))

    def _mentioning_listing(self, found: Answer, scope: Scope) -> Answer:
        """The answer, with which servers of this caller have not said yet what they have."""
        every = self.servers.items()
        names = [
            name for name, each in every if each.listing and allows_source(each.id or "", scope)
        ]
        if not names:
            return found
        them = f"{len(names)} server{' is' if len(names) == 1 else 's are'} still being listed"
        first = ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")
        said = f"{them} ({first}): search again in a moment if what you need is theirs."
        return replace(found, note=f"{found.note} {said}".strip())

    def _spoken_alone(self, entries: Mapping[str, Entry]) -> Mapping[Language, float]:
        """Who needs a translation, remembered as long as the entries are these."""
        return self._alone.get(entries, None, lambda: monolingual_share(entries.values()))

    def _heard(self, caller: Caller, tool: str) -> None:
        self._uses.called(caller.id, tool)

    def _file(self, entry: Entry, path: str) -> str:
        """Raises `Refused`."""
        skill = entry.capability
        if not isinstance(skill, SkillInfo):
            message = (
                f"{entry.name!r} is a {skill.kind} and has no files; leave out '/' and the path"
            )
            raise CallRefused("bad_arguments", "arguments", message)
        try:
            return read_skill_file(skill, path, self._own)
        except SourceError as error:
            raise CallRefused("bad_arguments", "arguments", str(error)) from error

    @property
    def _own(self) -> OwnFiles:
        return OwnFiles.of(self.settings)

    def _host(self, caller: Caller) -> Host:
        """What a session of this caller reaches of the crib."""
        return Host(
            search=partial(self.search, caller=caller),
            call=partial(self.call, caller=caller),
            means=partial(self._means, caller),
            question=partial(self.question, caller=caller),
            read=partial(self.read, caller=caller),
            result=partial(self.result, caller=caller),
            asks=partial(self._door.asks, caller=caller),
            check=self._door.check,
            aside=asyncio.to_thread,
        )

    def _means(self, caller: Caller, name: str) -> Entry | None:
        self._gathered()
        return self._door.means(name, caller)

    def _plan(self, scope: Scope, deferral: Deferral, used: int) -> DeferralPlan:
        """What this caller's sessions defer, remembered as long as the entries are these."""
        entries = self.entries()
        key = scope, deferral, deferral.is_late(used)
        return self._plans.get(
            entries,
            key,
            lambda: make_plan(
                entries.values(), scope, deferral, is_late=key[2], price=self._prices.of
            ),
        )

    def _hidden_from(
        self, caller: Scope, kinds: frozenset[Kind], entries: Mapping[str, Entry]
    ) -> frozenset[str]:
        """What this caller does not get to see, remembered as long as the entries are these."""
        return self._hidden.get(
            entries, (caller, kinds), lambda: hidden_names(entries.values(), caller, kinds)
        )

    def _scope(self, scope: Scope | None) -> Scope:
        """Who asks, with what is hidden from everyone."""
        asked = scope or Scope()
        internal = asked.internal.union(self.settings.search.internal)
        return asked if internal == asked.internal else replace(asked, internal=internal)

    def _known(self, caller: Caller) -> Caller:
        """The caller, without what is hidden from everyone."""
        scope = self._scope(caller.scope)
        return caller if scope is caller.scope else replace(caller, scope=scope)

    @cached_property
    def _apps(self) -> AppRegistry:
        """The apps that are known, in the pool, and whichever joins them."""
        rules = app_rules_of(self.settings)
        apps = AppRegistry(self.settings.state_folder / "apps", rules, joined=self.add_source)
        self.add_source(*apps.sources)
        return apps
