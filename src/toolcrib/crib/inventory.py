"""What a crib holds: the pool, the sources that feed it, and what each caller may see of it.

    functions ─┐
    sources   ─┼→ pool → entries → what a caller sees
    servers   ─┤
    apps      ─┘

One thread at a time changes it, any number read it. What is wrong with a source is a problem here,
and never an error of whoever reads.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Literal

from toolcrib import execute
from toolcrib.access import (
    GroupJudge,
    Scope,
    VisibleEntries,
    call_filter,
    search_filter,
    updated_filter,
    why_barred,
    why_hidden,
)
from toolcrib.api_arguments import check
from toolcrib.crib.fleet import Fleet, OffersListener
from toolcrib.crib.pack_files import PackFiles
from toolcrib.crib.unavailable_servers import UnavailableServers
from toolcrib.errors import ConfigError, SourceError, ToolcribError
from toolcrib.execute import Caller, ProfileRules, RuleFile, Verdict
from toolcrib.model import (
    Entry,
    EntryGroups,
    EntryTraits,
    Json,
    Kind,
    NameFilter,
    TellSpan,
)
from toolcrib.observe import Record, drop
from toolcrib.pool import EntryCache, EntryTable, FactMaker, Pool, PoolPack
from toolcrib.search import PoolFacts, StoredFacts, facts_of, facts_version
from toolcrib.settings import Settings, with_own_servers
from toolcrib.sources import (
    FunctionSource,
    Source,
    StampedSource,
    WatchableSource,
    apps,
    mcp,
    sources_from_settings,
)
from toolcrib.system import LastGoodCopies
from toolcrib.uses import unresolved_links
from toolcrib.wiring import app_rules_of, mcp_rules_of, rulebook_of

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from toolcrib.sources.apps import AppRegistry
    from toolcrib.sources.mcp import McpServers, McpSource, ServerEntry
    from toolcrib.store import Stores

_OF_SOURCES = ("tools", "tool_modules", "skills", "agents", "mcp_config")
"""The settings that name sources."""

_log = logging.getLogger(__name__)


class Inventory:
    """The pool of one crib and all that feeds it. Safe to share between threads.

    `changing` is held by whoever changes the pool. `stores` has what is known of servers; it is for
    its owner to close. `packs`: where the pool may be found as it was;
    `on_left_pack` is called once that was found to be damaged. `record` hears of what servers do,
    `tell` of requests to them. `is_heard`: somebody hears of each change of the pool, so that added
    functions do not wait for its next use.
    """

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        packs: PackFiles | None = None,
        record: Record = drop,
        tell: TellSpan | None = None,
    ) -> None:
        self.settings = settings
        self._stores = stores
        self._packs = packs
        self._record, self._tell = record, tell
        self.on_left_pack: Callable[[], None] = lambda: None
        self.rule_file = RuleFile(settings.rules_file, LastGoodCopies(settings.state_folder))
        self.rulebook = rulebook_of(settings, self.rule_file.rules)
        self.pool = Pool()
        self.changing = RLock()
        self.fleet = Fleet(self.pool, self.changing, self.relist)
        self.unavailable = UnavailableServers(self.fleet)
        named = [key for key in _OF_SOURCES if getattr(settings, key)]
        unread = f"the settings name {', '.join(named)}: Crib.from_settings(settings) reads that"
        self._problems = (f"{unread}, Crib(settings) does not",) if named else ()
        self._closed = False
        self._functions = FunctionSource(named_by="program", exchanges=True)
        self._functions_changed = False
        self.is_heard = False
        self._groups = EntryCache[None, EntryGroups]()
        self._hidden = EntryCache[tuple[Scope, frozenset[Kind]], NameFilter]()
        self._facts = EntryCache[None, tuple[object, PoolFacts]](by_state=False)
        self._seen = EntryCache[Scope, VisibleEntries]()
        self._denied = EntryCache[ProfileRules, frozenset[str]]()

    def open(self, loop: AbstractEventLoop | None) -> None:
        """Take in every source that the settings name, once."""
        files = self.settings.mcp_config
        servers = self._open_servers(loop, files) if files else None
        named = servers and (servers.sources or servers.broken or servers.broken_files)
        found = sources_from_settings(self.settings, self._functions, has_servers=bool(named))
        self._problems = found.problems
        self.add_source(*found.sources)
        self._look_in_pack()
        self.fleet.open(servers, partial(self._open_servers, loop, ()))
        if self.settings.apps.enabled and self._apps_folder.exists():  # without one, nobody joined
            self._problems += self._apps.problems
        links = unresolved_links(found.sources, self.entries(), self.pool.candidates)
        self._problems += tuple(links)

    def take(self, settings: Settings) -> None:
        """Go on by these settings, and by what the files with MCP servers say now."""
        with self.changing:  # of two at once, the later one has read the later files
            found = mcp.read_servers(settings.mcp_config, LastGoodCopies(settings.state_folder))
            self.settings = settings
            self.rulebook = rulebook_of(settings, self.rule_file.rules)
            self.fleet.take(found, mcp_rules_of(settings))

    def take_documents(self) -> None:
        """Have the servers that the files say now, which came from the shared store just before."""
        with self.changing:
            settings = self.settings
            self.take(with_own_servers(settings) if settings.rules_file else settings)

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong with the sources, as of now; one message a thing."""
        return (*self._problems, *self.fleet.problems, *self.pool.problems)

    @property
    def servers(self) -> Mapping[str, McpSource]:
        """The MCP servers by name, for what they have beside tools."""
        return self.fleet.by_name

    def report(self, problem: str) -> None:
        """Put something that went wrong on the way among the problems and into the log, once."""
        with self.changing:
            if problem in self.problems:
                return
            self._problems += (problem,)
        _log.warning("%s", problem)

    @contextmanager
    def changing_functions(self) -> Generator[FunctionSource]:
        """The functions of the program, to be changed. The pool has them at its next use."""
        with self.changing:
            self._functions_changed = True
            yield self._functions
            if self.is_heard:
                self.current()

    def add_source(self, *sources: Source, instead_of: Sequence[Source] = ()) -> None:
        """Take whole sources in; what is wrong with them is among `problems`.

        Raises `ConfigError` for what is no source.
        """
        for source in sources:
            if isinstance(source, type) or not hasattr(source, "capabilities"):
                message = f"add_source() takes sources one by one, not {source!r:.80}; make one"
                raise ConfigError(message)
        if any(isinstance(source, StampedSource) for source in sources):
            self._look_in_pack()
        with self.changing:
            self._problems += self.pool.add(*sources, instead_of=instead_of)
        for source in sources:
            if isinstance(source, WatchableSource):
                source.watch(partial(self.relist, source))

    def open_servers(
        self, server: str | Path | Mapping[str, Json], entry: ServerEntry
    ) -> McpServers:
        """MCP servers of the program, for the fleet to take in. Raises `ConfigError`."""
        settings = self.settings
        servers = mcp.McpServers.open_added(
            server,
            entry,
            self._stores,
            mcp_rules_of(settings),
            record=self._record,
            tell=self._tell,
        )
        self._look_in_pack()
        return servers

    def listen(self) -> None:
        """Let apps join from now on. Raises `SourceError` if another process lets them join."""
        self._apps.listen()

    def listen_offers(self, listener: OffersListener) -> Callable[[], None]:
        """Call this when a server has other resources or prompts; see `Fleet.listen`."""
        return self.fleet.listen(listener)

    def relist(self, source: Source) -> None:
        """List one source again: it says that it is no longer what it was."""
        with self.changing:
            if self.pool.has(source):  # it may be gone by now
                self.pool.refresh(source)

    def look_again(self, name: str) -> None:
        """List the source of a tool again that needs a login: somebody may have logged in."""
        for entry in self.current().candidates(name):
            if entry.state == "needs_login":
                with suppress(ToolcribError):  # what was known before stays
                    self.relist(self.pool.source_of(entry.name))

    def current(self) -> Pool:
        """The pool with all functions that were added; nobody waits while another changes it.

        Raises `ConfigError` once it is closed.
        """
        self.check_open()
        if self._functions_changed:
            with self.changing:
                self.pool.refresh(self._functions)
                self._functions_changed = False
        if self.pool.is_damaged:
            with self.changing:
                self.pool.leave_pack()
            self.on_left_pack()
        return self.pool

    def entries(self) -> Mapping[str, Entry]:
        """Everything in the pool by name, hidden or not."""
        return self.current().entries

    def scope_of(self, scope: Scope | None, profile: str = "") -> Scope:
        """The scope of a caller of a profile, without what is hidden or denied by the rules."""
        check(scope, Scope | None, "scope=", 'write Scope(allowed=["get_*"])')
        own, denied = scope or Scope(), self._denied_to(profile)
        internal = own.internal.union(self.settings.search.internal)
        if (internal, denied) == (own.internal, own.denied):
            return own
        return replace(own, internal=internal, denied=denied)

    def verdict(self, entry: Entry, profile: str = "") -> Verdict | Literal[""]:
        """What the rules say of calls of a tool now; "" of what is none, or if nobody can tell."""
        with suppress(ConfigError):
            return self.rulebook.verdict(entry, profile) if entry.kind == "tool" else ""
        return ""

    def _denied_to(self, profile: str) -> frozenset[str]:
        """The names that the rules deny callers of a profile, the same set while they are."""
        try:
            rules = self.rulebook.of_profile(profile)
        except ConfigError:  # then no tool is called at all
            return frozenset()
        if not rules.rules:
            return frozenset()
        entries = self.entries()
        made = partial(rules.denied, self.groups(entries))
        return self._denied.get(entries, rules, made, partial(rules.still_denied, entries))

    def restricted(self, caller: Caller) -> Caller:
        """The caller, with their scope as `scope_of` has it."""
        scope = self.scope_of(caller.scope, caller.profile)
        return caller if scope is caller.scope else replace(caller, scope=scope)

    def seen_by(self, caller: Caller) -> Mapping[str, Entry]:
        """What this caller may see and call, by name. Nothing else is to be named to them."""
        entries, scope = self.entries(), self.scope_of(caller.scope, caller.profile)
        return self._seen.get(
            entries,
            scope,
            lambda: VisibleEntries(entries, call_filter(self.groups(entries), scope)),
            lambda old, changed: VisibleEntries(
                entries,
                updated_filter(old.hidden, entries, changed, lambda e: why_barred(e, scope)),
            ),
        )

    def groups_seen_by(self, caller: Caller) -> Mapping[EntryTraits, Collection[str]]:
        """The names of the same by traits; no group is empty."""
        groups = self.groups(self.entries())
        judge = GroupJudge(self.scope_of(caller.scope, caller.profile))
        seen = ((traits, judge.callable_names(groups, traits)) for traits in groups)
        return {traits: names for traits, names in seen if names}

    def hidden_from(
        self, scope: Scope, kinds: frozenset[Kind], entries: Mapping[str, Entry]
    ) -> NameFilter:
        """What a search of this scope does not see, remembered as long as the entries are these."""
        return self._hidden.get(
            entries,
            (scope, kinds),
            lambda: search_filter(self.groups(entries), scope, kinds),
            lambda old, changed: updated_filter(
                old, entries, changed, lambda entry: why_hidden(entry, scope, kinds)
            ),
        )

    def groups(self, entries: Mapping[str, Entry]) -> EntryGroups:
        """These entries by their traits, mended when they change."""
        return self._groups.get(
            entries,
            None,
            lambda: (
                entries.groups() if isinstance(entries, EntryTable) else EntryGroups.of(entries)
            ),
            lambda old, changed: old.changed(entries, changed),
        )

    def facts(self, entries: Mapping[str, Entry]) -> PoolFacts:
        """What search knows of all entries, mended when they change."""
        place = entries.place if isinstance(entries, EntryTable) else None

        def mended(old: tuple[object, PoolFacts], changed: Collection[str]) -> PoolFacts:
            former, known = old
            stored = None if former is place else _stored_facts_of(entries, known, changed)
            return stored or known.changed(entries, changed)

        return self._facts.get(
            entries,
            None,
            lambda: (place, _stored_facts_of(entries) or PoolFacts.of(entries)),
            lambda old, changed: (place, mended(old, changed)),
        )[1]

    def fact_maker(self) -> FactMaker:
        """What makes the facts that are stored with entries; those that are known are taken."""
        entries = self.pool.entries
        known = self.facts(entries)

        def text_of(entry: Entry) -> str:
            facts = known.of_name(entry.name) if entries.get(entry.name) == entry else None
            return (facts or facts_of(entry)).text

        return FactMaker(facts_version(), text_of)

    def why_unknown(self, name: str, caller: Caller) -> str:
        """Why there is no such tool for this caller, where the server that it names is the reason.

        In a sentence or two with what to do; "" if it names none whose tools cannot be had. Raises
        `CallRefused` for a tool that the rules deny.
        """
        scope = self.scope_of(caller.scope, caller.profile)
        for entry in self.pool.candidates(name) if scope.denied else ():
            if why_barred(entry, scope) == "denied":
                raise execute.ruled_out(entry.name)
        return self.unavailable.reason(name, scope)

    def check_open(self) -> None:
        """Raises `ConfigError` once it is closed: nothing is found, called or started then."""
        if self._closed:
            raise ConfigError("this crib is closed; make another one, or close it later")

    def close(self) -> None:
        """End the servers and apps that were started."""
        self._closed = True
        self.fleet.close()
        if "_apps" in self.__dict__:
            self._apps.close()

    def _look_in_pack(self) -> None:
        """Have the servers that come from now on as the pack has them, if there is one. Once."""
        packs, self._packs = self._packs, None
        if packs is None or not packs.pool.exists():
            return
        with suppress(SourceError), self.changing:
            if pack := PoolPack.open(packs.pool, packs.key):
                self.pool.adopt(pack)

    def _open_servers(self, loop: AbstractEventLoop | None, files: Sequence[Path]) -> McpServers:
        """The MCP servers that these files name. They live on the loop, if one is given."""
        rules, stores = mcp_rules_of(self.settings), self._stores
        return mcp.McpServers.open(files, stores, loop, rules, record=self._record, tell=self._tell)

    @property
    def _apps_folder(self) -> Path:
        return self.settings.state_folder / "apps"

    @cached_property
    def _apps(self) -> AppRegistry:
        """The apps that are known, in the pool, and whichever joins them."""
        rules = app_rules_of(self.settings)
        registry = apps.AppRegistry(self._apps_folder, rules, joined=self.add_source)
        self.add_source(*registry.sources)
        return registry


def _stored_facts_of(
    entries: Mapping[str, Entry], known: PoolFacts | None = None, changed: Collection[str] = ()
) -> PoolFacts | None:
    """The facts that were stored with entries, and those of entries in memory; None without any.

    Those in memory that have not changed are taken from the `known` ones.
    """
    written = entries.stored.facts(facts_version()) if isinstance(entries, EntryTable) else None
    if not isinstance(entries, EntryTable) or written is None:
        return None
    in_memory = {name: entries[name] for name in entries.names_in_memory()}
    kept = {name: known.of_name(name) for name in in_memory.keys() - changed} if known else {}
    return PoolFacts.of(in_memory, StoredFacts(written.names, written.text_of), kept)
