"""`Crib`: the side of a crib that programs use."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from secrets import token_bytes
from threading import Lock
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Self, Unpack, overload

from toolcrib import execute, program, session
from toolcrib.access import Scope
from toolcrib.crib.capability_reader import CapabilityReader
from toolcrib.crib.crib_events import SearchRecord
from toolcrib.crib.crib_index import CribIndex
from toolcrib.crib.inventory import Inventory
from toolcrib.crib.live_index import LiveIndex
from toolcrib.crib.operator import Operator
from toolcrib.crib.pack_files import PackFiles
from toolcrib.crib.packs import Packs
from toolcrib.crib.parts import CribParts
from toolcrib.crib.recipes import Recipes
from toolcrib.crib.searcher import Searcher
from toolcrib.crib.sessions import Sessions
from toolcrib.errors import UnknownTool
from toolcrib.execute import Caller, RuleFile
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
    ProgressHandler,
    Query,
    ToolInfo,
)
from toolcrib.pool import entry_names
from toolcrib.program import ProgramListeners
from toolcrib.settings import Settings, default_settings, with_own_servers
from toolcrib.store import FileStores
from toolcrib.system import LastGoodCopies
from toolcrib.wiring import event_log_of, policy_of, program_limits_of, use_advice_of

if TYPE_CHECKING:
    import asyncio

    from toolcrib.crib.follower import FollowedTenant
    from toolcrib.embed import Embedder
    from toolcrib.execute import ApprovalRequest, Approver, Door
    from toolcrib.observe import EventLog, Tracer
    from toolcrib.program import (
        ProgramCheck,
        ProgramLimits,
        ProgramOutcome,
        Programs,
        RecipeDesk,
        ToolSignature,
    )
    from toolcrib.search import Explanation
    from toolcrib.session import Host, Session
    from toolcrib.sources import Source, ToolFacts
    from toolcrib.sources.mcp import Offers, RefreshResult, ServerEntry
    from toolcrib.store import ReplicaStores, Stores
    from toolcrib.uses import UseHistory

HOST = Caller("host")
"""Who calls when nobody else is named: the program that holds the crib."""


class Crib:
    """Tools, skills and agents of any number, and the search over them. Safe to share.

    It is empty until you add something. For the next start it keeps on disk what MCP servers have
    listed, the vectors of tools, and the index of large pools; settings can change that. Without
    settings it reads no file, and of the environment only when tools wait for a search:
    `TOOLCRIB_TOOL_SEARCH`, else `ENABLE_TOOL_SEARCH`.
    """

    def __init__(
        self, settings: Settings | None = None, *, embedder: Embedder | None = None
    ) -> None:
        settings = settings or default_settings(os.environ)
        self._join(settings, CribParts(settings), embedder)
        self._owns_parts = True

    def _join(self, settings: Settings, parts: CribParts, embedder: Embedder | None = None) -> None:
        """Join the stages by these settings, on parts that others may have too."""
        self._parts, self._owns_parts = parts, False
        self._stores = stores = parts.stores(settings)
        shared_key = None if isinstance(stores, FileStores) else stores.packs.key
        self._pack_files = files = PackFiles.of(settings, _program(), shared_key)
        self._events = event_log_of(settings, stores)
        self._tracer = parts.tracer
        tell = self._tracer.tell if self._tracer else None
        self._inventory = inventory = Inventory(settings, stores, files, self._events.append, tell)
        self._live_index = LiveIndex(
            settings,
            inventory.pool,
            inventory.changing,
            embedder,
            files,
            stores=stores,
            make_embedder=parts.embedder,
            say=inventory.report,
        )
        self._packs = Packs(inventory, self._live_index, files, say=inventory.report)
        self._index = CribIndex(inventory.current, self._live_index, self._packs)
        self._advice = use_advice_of(
            settings, inventory.pool, inventory.facts, self._live_index.store_if_there
        )
        self._rule_file = RuleFile(settings.rules_file, LastGoodCopies(settings.state_folder))
        self._followed: FollowedTenant | None = None
        self._made_door: Door | None = None
        self._made_programs: Programs | None = None
        self._recipes = Recipes(inventory, self._seal_key, lambda: self._make_programs(self._door))
        self._memory_key = token_bytes(32)
        self._making_door = Lock()
        self._searcher = Searcher(inventory, self._live_index, self._advice)
        self._reader = CapabilityReader(inventory, self._advice)
        self._sessions = Sessions(inventory, self._live_index, self._host, self._events.append)
        self._operator = Operator(
            inventory,
            self._searcher,
            lambda: self._door,
            self._advice,
            self._rule_file,
            recipes=self._recipes,
        )

    @classmethod
    def from_settings(
        cls, settings: Settings, *, loop: asyncio.AbstractEventLoop | None = None
    ) -> Self:
        """A crib with every source that the settings name.

        With `loop`, MCP servers live on that event loop. Calls from there are then cheaper. The
        loop has to run until the crib is closed, and `close` is called from another thread.
        Raises `StoreError` if the settings name a shared store that cannot be opened.
        """
        crib = cls(settings)
        try:
            crib._open(loop)
        except BaseException:
            crib.close()
            raise
        return crib

    def _open(
        self,
        loop: asyncio.AbstractEventLoop | None,
        on_documents: Callable[[], None] = lambda: None,
    ) -> None:
        """Take in what the settings name, and keep in step with a shared store."""
        stores, follower = self._stores, self._parts.follower
        if follower is None:
            self._inventory.open(loop)
            self._recipes.open()
            return
        from toolcrib.crib.follower import FollowedTenant  # noqa: PLC0415 - for a shared store
        from toolcrib.store import ReplicaStores  # noqa: PLC0415

        if isinstance(stores, ReplicaStores):
            generation = stores.catch_up().generation  # the files of this machine are those of all
            if self.settings.rules_file:  # they are the user's, as is the file that came just now
                self._inventory.settings = with_own_servers(self.settings)
            self._share_packs(stores, generation)
            self._inventory.open(loop)
            self._recipes.open()
            self._followed = FollowedTenant(stores, self._inventory, generation, on_documents)
            follower.follow(self._followed)

    def _share_packs(self, stores: ReplicaStores, begun: int) -> None:
        """Have the packs of other replicas, and let them have ours; `begun` is the generation now.

        Before the first source is added.
        """
        from toolcrib.crib.shared_packs import SharedPacks  # noqa: PLC0415 - for a shared store

        def generation() -> int:
            return self._followed.generation if self._followed else begun

        if self._pack_files and self._live_index.is_packable:
            self._packs.share(
                SharedPacks(stores.packs, self._pack_files, self.settings, generation)
            )

    @property
    def settings(self) -> Settings:
        """The settings that hold now; see `Operator.take_settings`."""
        return self._inventory.settings

    @property
    def problems(self) -> tuple[str, ...]:
        """What is named in the settings and cannot be used now, one message each."""
        rules = filter(None, [self._operator.rules_problem])
        return (*rules, *self._parts.problems, *self._inventory.problems)

    @property
    def operator(self) -> Operator:
        """What is for the operator alone: approvals, what use has taught, new settings."""
        return self._operator

    @property
    def index(self) -> CribIndex:
        """The index: its vectors, and its copy in the catalog file."""
        return self._index

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

        The facts hold for each of them. Raises `NameTaken` and `DeclarationError`.
        """
        if more:
            return self._inventory.add_functions((fn, *more), facts)
        return self._inventory.add_function(fn, facts)

    def add_all(self, module: ModuleType, **facts: Unpack[ToolFacts]) -> tuple[ToolInfo, ...]:
        """Make every public function that a module defines a tool, all of them or none.

        Names that begin with `_` are not public, nor are those that the module's `__all__` leaves
        out. The facts hold for each function; its own `@tool` goes before them. Raises `NameTaken`,
        and `DeclarationError` if there is no public function, or one has no docstring.
        """
        return self._inventory.add_module(module, facts)

    def add_source(self, *sources: Source) -> None:
        """Add whole sources. What is wrong with them is among `problems`."""
        self._inventory.add_source(*sources)

    def add_mcp(
        self, server: str | Path | Mapping[str, Json], **entry: Unpack[ServerEntry]
    ) -> None:
        """Add an MCP server by name, or all of a file or of a mapping with `mcpServers`.

        No server is started. Search finds what each listed when it was last started; `refresh`
        lists the tools of a new one. The keys are those of the file; `command` may also be a list
        with the arguments. Raises `ConfigError`, and `NameTaken` if the name is in use.
        """
        self._inventory.add_mcp(server, entry)

    async def refresh(self, *servers: str) -> Sequence[RefreshResult]:
        """Start these MCP servers, or all, and list their tools again. Search finds them then.

        If one fails, its result has the error, its earlier tools stay, and the others go on.
        Raises `ConfigError` for an unknown name.
        """
        return await self._inventory.fleet.refresh(*servers)

    def offers(self, server: str) -> Offers:
        """The resources and prompts of an MCP server. Raises `ConfigError` for an unknown name."""
        return self._inventory.fleet.server(server).offers

    def listen(self) -> None:
        """Let apps connect and add their tools, until this is closed.

        Raises `SourceError` if another process listens for apps already.
        """
        self._inventory.listen()

    def search(
        self,
        text: str,
        *,
        limit: int | None = None,
        kinds: Iterable[Kind] = (),
        scope: Scope | None = None,
        caller: Caller = HOST,
    ) -> Answer:
        """The capabilities that fit best, best first. No query raises.

        `scope` limits what may be found; without one, that of the caller does.
        """
        began = time.perf_counter()
        query = Query(text, limit, frozenset(kinds))
        found = self._searcher.search(
            query, self._inventory.scope_of(scope or caller.scope), caller.id
        )
        if text:  # an empty query browses
            record = SearchRecord(found, caller, time.time(), time.perf_counter() - began)
            self._events.append_later("search", record.event)
            if self._tracer:
                self._tracer.tell(partial(record.span, content=self._tracer.content))
        return found

    def explain(
        self, text: str, name: str, *, limit: int | None = None, scope: Scope | None = None
    ) -> Explanation:
        """Why a search returns this capability, or does not.

        Raises `UnknownTool` and `AmbiguousName`.
        """
        return self._searcher.explain(Query(text, limit), name, self._inventory.scope_of(scope))

    async def call(  # noqa: PLR0913 - what a call may have, each by its name
        self,
        name: str,
        arguments: JsonObject | str = "{}",
        *,
        caller: Caller = HOST,
        pin: str = "",
        timeout_s: float | None = None,
        approver: Approver | None = None,
        progress: ProgressHandler | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
        paged: bool = False,
    ) -> Outcome:
        """Call a tool. No name and no argument raises: the outcome has the error.

        `arguments` may be JSON text, as some providers hand them over. With `pin`, the call is
        made only if the definition is still the one with that pin. The `approver` is asked where
        the rules want a person's leave; without one the call waits at `operator.tickets`.
        `progress`, `ask` and `log` are called while the tool runs; see `CallContext`. `paged` is
        for models: a long result comes page by page; see `result`.
        """
        self._inventory.look_again(name)
        outcome = await self._door.execute(
            Call.of(name, arguments, pin),
            self._inventory.restricted(caller),
            timeout_s=timeout_s,
            approver=approver,
            progress=progress,
            ask=ask,
            log=log,
        )
        return await self._door.paged(outcome, caller) if paged else outcome

    def check_program(self, program: str, *, caller: Caller = HOST) -> ProgramCheck:
        """Whether a program can be run, and which tools it may call. Nothing of it is run.

        Raises `ConfigError` without the extra `code`, and `TimeoutError` if too many run.
        """
        return self._programs.check(
            program, self._inventory.restricted(caller), program_limits_of(self.settings)
        )

    async def run(  # noqa: PLR0913 - what a program may have, each by its name
        self,
        program: str,
        *,
        caller: Caller = HOST,
        limits: ProgramLimits | None = None,
        approver: Approver | None = None,
        progress: ProgressHandler | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
        paged: bool = False,
    ) -> ProgramOutcome:
        """Run a program that calls tools: a few lines of Python, checked before anything is called.

        No program raises: the outcome has the error, and what became of each call. Each call goes
        through the door as one of `call` does. Without `limits` the settings say them. `progress`,
        `ask` and `log` are for what its tools say and ask; `paged` is for models, as in `call`.
        Raises `ConfigError` without the extra `code`.
        """
        outcome = await self._programs.run(
            program,
            self._inventory.restricted(caller),
            limits or program_limits_of(self.settings),
            approver,
            ProgramListeners(progress, ask, log),
        )
        return await self._door.paged(outcome, caller) if paged else outcome

    async def resume(  # noqa: PLR0913 - what a program may have, each by its name
        self,
        handle: str,
        *,
        caller: Caller = HOST,
        limits: ProgramLimits | None = None,
        approver: Approver | None = None,
        progress: ProgressHandler | None = None,
        ask: InputHandler | None = None,
        log: LogHandler | None = None,
        paged: bool = False,
    ) -> ProgramOutcome:
        """Go on with a program that waits for a person; see `ProgramOutcome.suspended`.

        It goes on where it was, once, in any process: what it has called is not called again. A
        call that was approved is made, after all checks; one that was denied raises in the program.
        If nobody has answered, it goes on waiting under the same handle. No handle raises: the
        outcome has the error. Raises `ConfigError` without the extra `code`, and `StoreError`.
        """
        outcome = await self._programs.resume(
            handle,
            self._inventory.restricted(caller),
            limits or program_limits_of(self.settings),
            approver,
            ProgramListeners(progress, ask, log),
        )
        return await self._door.paged(outcome, caller) if paged else outcome

    def propose_recipe(self, program: str, purpose: str, *, caller: Caller = HOST) -> bool:
        """Propose to keep a program as a tool; `purpose` says what it is for.

        It is for the operator to decide: until then nothing can be called. False if it is too
        large, or as many wait as may. Raises `StoreError`.
        """
        return self._recipes.book.propose(program, purpose, caller.id)

    def signature(self, name: str, *, caller: Caller = HOST) -> str:
        """A tool as the typed function that programs call, with its description.

        Raises `UnknownTool`, also for what this caller may not have, and `AmbiguousName`.
        """
        entry = entry_names(self._inventory.seen_by(caller)).resolve(name)
        found = self._signatures(caller, [entry.name])
        if entry.name not in found:
            raise UnknownTool(f"{entry.name!r} is no tool that this caller can call")
        return found[entry.name].text

    def session(  # noqa: PLR0913 - what a session may have, each by its name
        self,
        id: str | None = None,
        *,
        caller: Caller = HOST,
        tool_search: str | None = None,
        context_window: int | None = None,
        prefetch: str | None = None,
        style: str | None = None,
        bound: Iterable[str] = (),
    ) -> Session:
        """What one conversation of this caller sees. Its reveals are kept under its id.

        Without an id it is for one request only. `tool_search`, `context_window`, `prefetch` and
        `style` None mean the settings; with the style `code` the model writes programs. `bound` are
        the names of tools that the caller has already: they are neither listed nor found. Raises
        `ConfigError` for an unknown word or a style that cannot be had, and `StoreError`.
        """
        return self._sessions.open(
            id,
            caller,
            bound,
            tool_search=tool_search,
            context_window=context_window,
            prefetch=prefetch,
            style=style,
        )

    def question(
        self, name: str, arguments: JsonObject | str, *, caller: Caller = HOST
    ) -> ApprovalRequest | None:
        """What a person would be asked before this call; None if nobody would be asked.

        Nothing is sent. For hosts that gather all questions before they call.
        """
        self._inventory.current()
        return self._door.question(Call.of(name, arguments), self._inventory.restricted(caller))

    def read(self, name: str, *, caller: Caller = HOST) -> Outcome:
        """All about a capability, as text: the knowledge of a skill, the card of an agent.

        `name/path` is a file in the folder of a skill. No name raises: the outcome has the error.
        Raises `StoreError`.
        """
        return self._reader.read(name, caller)

    def result(
        self, handle: str, *, page: int = 1, find: str = "", caller: Caller = HOST
    ) -> Outcome:
        """A page of a long result of this caller; see `Outcome.page`.

        With `find`, only lines with these words, or that match a `/pattern/`; that may take
        seconds. No handle raises: the outcome has the error.
        """
        return self._door.result(handle, caller, page, find)

    def entries(self) -> Mapping[str, Entry]:
        """Everything in the pool by name, also what callers may not see."""
        return self._inventory.entries()

    def get(self, name: str) -> Entry:
        """One entry, by its name, or by the source's own name if only one has that.

        Raises `UnknownTool` and `AmbiguousName`.
        """
        return self._inventory.current().resolve(name)

    def dashboard(self, *, port: int = 0, browser: bool = True) -> None:
        """Look at this crib in the browser: why a search finds what it finds, and all tools.

        Serves pages on this machine alone and waits until Ctrl-C, or until nobody has been logged
        in for ten minutes. Prints a link that is good once, and opens it unless `browser` is False.
        Port 0 takes a free one. Raises `ConfigError` if the port cannot be had, or if an event loop
        runs on this thread.
        """
        # By its name, as a plugin: the dashboard stands above the crib and knows it, not the
        # other way round.
        shown = import_module("toolcrib.dashboard")
        shown.show_crib_to_user(self, port=port, browser=browser)

    def close(self) -> None:
        """End the servers and apps that were started, and let go of the files."""
        if self._followed and self._parts.follower:
            self._parts.follower.leave(self._followed)
        self._packs.close()
        if self._made_programs:
            self._made_programs.close()
        self._recipes.close()
        self._inventory.close()
        self._advice.history.close()
        self._live_index.close()
        self._events.close()
        self._stores.close()
        if self._owns_parts:
            self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _door(self) -> Door:
        """Made by the first call: a search needs nothing of what calls need."""
        with self._making_door:
            self._made_door = self._made_door or self._make_door()
            return self._made_door

    def _make_door(self) -> Door:
        settings, inventory = self.settings, self._inventory
        return execute.Door(
            inventory.pool,
            policy_of(settings, self._rule_file.rules),
            events=self._events,
            tracer=self._tracer,
            tickets=execute.Tickets(lambda: self._stores.tickets, self._events.append),
            results=lambda: self._stores.results,
            on_success=lambda caller, tool: self._advice.history.called(caller.id, tool),
            why_unknown=inventory.why_unknown,
        )

    @property
    def _programs(self) -> Programs:
        door = self._door
        with self._making_door:
            self._made_programs = self._made_programs or self._make_programs(door)
            return self._made_programs

    def _make_programs(self, door: Door) -> Programs:
        host = program.ProgramHost(
            groups=lambda: self._inventory.groups(self._inventory.entries()),
            call=self._program_call,
            asks=door.asks,
            tickets=door.tickets,
            suspensions=program.Suspensions(
                lambda: self._stores.suspensions, self._seal_key, self.settings.tenant
            ),
        )
        return program.Programs(host, self.settings.program.at_once)

    def _seal_key(self) -> bytes:
        """What seals suspended programs; where nothing is to be left on disk, that of a process."""
        if self.settings.store_path == ":memory:":
            return self._memory_key
        return self._stores.install_key

    async def _program_call(  # noqa: PLR0913 - what a call has, each by its name
        self,
        name: str,
        arguments: JsonObject,
        *,
        caller: Caller,
        pin: str,
        timeout_s: float,
        approver: Approver | None,
        listeners: ProgramListeners,
    ) -> Outcome:
        limit_s = min(timeout_s, self.settings.call.timeout_s)
        return await self.call(
            name,
            arguments,
            caller=caller,
            pin=pin,
            timeout_s=limit_s,
            approver=approver,
            progress=listeners.progress_of(name),
            ask=listeners.ask,
            log=listeners.log,
        )

    def _host(self, caller: Caller) -> Host:
        """What a session of this caller reaches of the crib."""
        from asyncio import to_thread  # noqa: PLC0415 - a search waits for nothing

        return session.Host(
            search=partial(self.search, caller=caller),
            call=partial(self.call, caller=caller),
            run=partial(self.run, caller=caller),
            resume=partial(self.resume, caller=caller),
            signatures=partial(self._signatures, caller),
            means=partial(self._means, caller),
            question=partial(self.question, caller=caller),
            read=partial(self.read, caller=caller),
            result=partial(self.result, caller=caller),
            asks=partial(self._door.asks, caller=caller),
            check=self._door.check,
            aside=to_thread,
        )

    def _signatures(self, caller: Caller, names: Iterable[str]) -> Mapping[str, ToolSignature]:
        return self._programs.signatures_of(names, self._inventory.restricted(caller))

    def _means(self, caller: Caller, name: str) -> Entry | None:
        self._inventory.current()
        return self._door.means(name, caller)


def _program() -> str:
    """The file of the program that runs; empty where there is none, as at a prompt."""
    return str(getattr(sys.modules.get("__main__"), "__file__", None) or "")


def crib_beside(
    other: Crib,
    settings: Settings,
    loop: asyncio.AbstractEventLoop,
    on_documents: Callable[[], None],
) -> Crib:
    """A crib of these settings on the parts of another one. See `open_tenant`."""
    crib = Crib.__new__(Crib)
    crib._join(settings, parts_of(other))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in
    try:
        crib._open(loop, on_documents)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the same
    except BaseException:
        crib.close()
        raise
    return crib


def parts_of(crib: Crib) -> CribParts:
    """What a crib may share with others of its process. Programs are not promised it."""
    return crib._parts  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def inventory_of(crib: Crib) -> Inventory:
    """What a crib holds, for the gateway and the commands. Programs are not promised it."""
    return crib._inventory  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def searcher_of(crib: Crib) -> Searcher:
    """What searches a crib, for the gateway and the dashboard. Programs are not promised it."""
    return crib._searcher  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def signatures_in(crib: Crib, names: Iterable[str], caller: Caller) -> Mapping[str, ToolSignature]:
    """Tools as typed functions, for the gateway; not those that the caller may not call."""
    return crib._signatures(caller, names)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def recipes_of(crib: Crib) -> RecipeDesk:
    """The operator's desk for recipes, for the commands. Programs are not promised it."""
    return crib._recipes.desk  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def use_history_of(crib: Crib) -> UseHistory:
    """What a crib keeps about use, for the commands. Programs are not promised it."""
    return crib._advice.history  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def events_of(crib: Crib) -> EventLog:
    """The log of a crib's events, for the gateway. Programs are not promised it."""
    return crib._events  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def stores_in(crib: Crib) -> Stores:
    """What lasts of a crib, for the gateway. Programs are not promised it."""
    return crib._stores  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in


def tracer_in(crib: Crib) -> Tracer | None:
    """Who takes the spans of a crib, for the gateway. Programs are not promised it."""
    return crib._tracer  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in
