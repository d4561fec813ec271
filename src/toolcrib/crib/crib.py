"""`Crib`: the side of a crib that programs use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, cast, overload

from toolcrib.access import Scope
from toolcrib.api_arguments import check, several
from toolcrib.crib import exchange
from toolcrib.crib.calls import HOST
from toolcrib.crib.crib_index import CribIndex
from toolcrib.crib.operator import Operator
from toolcrib.crib.parts import CribParts
from toolcrib.crib.stages import Stages
from toolcrib.execute import Caller
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
from toolcrib.program import ProgramListeners
from toolcrib.settings import Settings, default_settings
from toolcrib.sources import public_functions

if TYPE_CHECKING:
    import asyncio

    from toolcrib.embed import Embedder
    from toolcrib.execute import ApprovalRequest, Approver
    from toolcrib.pool import ToolsUpdated
    from toolcrib.program import ProgramCheck, ProgramLimits, ProgramOutcome
    from toolcrib.search import Explanation
    from toolcrib.session import Session
    from toolcrib.sources import Source, ToolFacts
    from toolcrib.sources.mcp import Offers, RefreshResult, ServerEntry


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
        check(settings, Settings | None, "Crib()", "write Crib(Settings(...))")
        embeds, remedy = getattr(embedder, "embed", embedder), "a setting can name one: embed"
        check(embeds, Callable | None, "embedder=", remedy)
        settings = settings or default_settings(os.environ)
        self._opened = Stages(settings, CribParts(settings), embedder, owns_parts=True)

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
        crib._stages.open(loop)
        return crib

    @property
    def _stages(self) -> Stages:
        """The stages of an open crib. Raises `ConfigError` once it is closed."""
        self._opened.inventory.check_open()
        return self._opened

    @property
    def settings(self) -> Settings:
        """The settings that hold now; see `Operator.take_settings`."""
        return self._opened.inventory.settings

    @property
    def problems(self) -> tuple[str, ...]:
        """What is named in the settings and cannot be used now, one message each."""
        stages = self._opened
        rules = filter(None, [stages.operator.rules_problem])
        return (*rules, *stages.parts.problems, *stages.inventory.problems)

    @property
    def operator(self) -> Operator:
        """What is for the operator alone: approvals, what use has taught, new settings."""
        return self._stages.operator

    @property
    def index(self) -> CribIndex:
        """The index: its vectors, and its copy in the catalog file."""
        return self._stages.index

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

        The facts hold for each of them. A function of a module that is added again takes its own
        place, as when a cell of a notebook is run again. Raises `NameTaken` and `DeclarationError`.
        """
        with self._stages.inventory.changing_functions() as functions:
            return functions.add_several((fn, *more), facts) if more else functions.add(fn, **facts)

    def add_all(self, module: ModuleType, **facts: Unpack[ToolFacts]) -> tuple[ToolInfo, ...]:
        """Make every public function that a module defines a tool, all of them or none.

        Names that begin with `_` are not public, nor are those that the module's `__all__` leaves
        out. The facts hold for each function; its own `@tool` goes before them. Raises `NameTaken`,
        and `DeclarationError` if there is no public function, or one has no docstring.
        """
        found = public_functions(module, facts)
        with self._stages.inventory.changing_functions() as functions:
            return functions.put_all(found)

    def add_source(self, *sources: Source) -> None:
        """Add whole sources. What is wrong with them is among `problems`."""
        self._stages.inventory.add_source(*sources)

    def add_mcp(
        self, server: str | Path | Mapping[str, Json], **entry: Unpack[ServerEntry]
    ) -> None:
        """Add an MCP server by name, or all of a file or of a mapping with `mcpServers`.

        No server is started. Search finds what each listed when it was last started; `refresh`
        lists the tools of a new one. The keys are those of the file; `command` may also be a list
        with the arguments. Raises `ConfigError`, and `NameTaken` if the name is in use.
        """
        inventory = self._stages.inventory
        inventory.fleet.add(inventory.open_servers(server, entry))

    def remove(self, what: str | Callable[..., object] | Source, /) -> None:
        """Take out what was added: a function, a source or an MCP server, or the name of one.

        Its tools are gone at once, and a server ends with the calls that are under way.
        Raises `UnknownTool` for what was not added, `AmbiguousName` for a name of several things,
        and `ConfigError` for a server that the settings name.
        """
        exchange.remove(self._stages.inventory, what)

    @overload
    def replace(self, new: Callable[..., object], /, **facts: Unpack[ToolFacts]) -> ToolInfo: ...
    @overload
    def replace(
        self, new: Source | str | Path | Mapping[str, Json], /, **entry: Unpack[ServerEntry]
    ) -> None: ...
    def replace(
        self, new: Callable[..., object] | str | Path | Mapping[str, Json] | Source, /, **facts: Any
    ) -> ToolInfo | None:
        """Put something in place of what has its name, in one step.

        A function with its facts, as in `add`; a source with the same kind and id; MCP servers, as
        in `add_mcp`. If it is wrong, what was there stays. Raises `UnknownTool` and `ConfigError`
        if there is nothing to replace, and what adding it raises.
        """
        inventory = self._stages.inventory
        if isinstance(new, str | Path | Mapping):
            servers = inventory.open_servers(cast("str", new), cast("ServerEntry", facts))
            return inventory.fleet.replace([each.server for each in servers.sources], servers)
        if hasattr(new, "capabilities"):
            return exchange.replace_source(inventory, cast("Source", new))
        with inventory.changing_functions() as functions:
            return functions.replace(cast("Callable[..., object]", new), **cast("ToolFacts", facts))

    def on_update(self, listener: Callable[[ToolsUpdated], None]) -> Callable[[], None]:
        """Call this with what was added, changed and removed, after each change of the tools.

        It is called on the thread that made the change, which waits for it. If it raises, that is
        among `problems`, and the crib goes on. Returns a function that ends it.
        """
        return exchange.on_update(self._stages.inventory, listener)

    async def refresh(self, *servers: str) -> Sequence[RefreshResult]:
        """Start these MCP servers, or all, and list their tools again. Search finds them then.

        If one fails, its result has the error, its earlier tools stay, and the others go on.
        Raises `ConfigError` for an unknown name.
        """
        return await self._stages.inventory.fleet.refresh(*servers)

    def offers(self, server: str) -> Offers:
        """The resources and prompts of an MCP server. Raises `ConfigError` for an unknown name."""
        return self._stages.inventory.fleet.server(server).offers

    def listen(self) -> None:
        """Let apps connect and add their tools, until this is closed.

        Raises `SourceError` if another process listens for apps already.
        """
        self._stages.inventory.listen()

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
        query = Query(text, limit, frozenset(several(kinds, "kinds=", Kind)))
        return self._stages.searcher.search(query, caller=_known(caller), scope=scope)

    def explain(
        self, text: str, name: str, *, limit: int | None = None, scope: Scope | None = None
    ) -> Explanation:
        """Why a search returns this capability, or does not.

        Raises `UnknownTool` and `AmbiguousName`.
        """
        own = self._stages.inventory.scope_of(scope)
        return self._stages.searcher.explain(Query(text, limit), name, own)

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
        return await self._stages.calls.make(
            Call.of(name, arguments, pin),
            _known(caller),
            timeout_s=timeout_s,
            approver=approver,
            progress=progress,
            ask=ask,
            log=log,
            paged=paged,
        )

    def check_program(self, program: str, *, caller: Caller = HOST) -> ProgramCheck:
        """Whether a program can be run, and which tools it may call. Nothing of it is run.

        Raises `ConfigError` without the extra `code`, and `TimeoutError` if too many run.
        """
        return self._stages.programs.check(program, _known(caller))

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
        listeners, go = ProgramListeners(approver, progress, ask, log), self._stages.programs.run
        return await go(program, listeners, caller=_known(caller), limits=limits, paged=paged)

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
        listeners, go = ProgramListeners(approver, progress, ask, log), self._stages.programs.resume
        return await go(handle, listeners, caller=_known(caller), limits=limits, paged=paged)

    def propose_recipe(self, program: str, purpose: str, *, caller: Caller = HOST) -> bool:
        """Propose to keep a program as a tool; `purpose` says what it is for.

        It is for the operator to decide: until then nothing can be called. False if it is too
        large, or as many wait as may. Raises `StoreError`.
        """
        return self._stages.recipes.book.propose(program, purpose, _known(caller).id)

    def signature(self, name: str, *, caller: Caller = HOST) -> str:
        """A tool as the typed function that programs call, with its description.

        Raises `UnknownTool`, also for what this caller may not have, and `AmbiguousName`.
        """
        return self._stages.programs.signature(name, _known(caller))

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
        return self._stages.sessions.open(
            id,
            _known(caller),
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
        return self._stages.calls.question(name, arguments, _known(caller))

    def read(self, name: str, *, caller: Caller = HOST) -> Outcome:
        """All about a capability, as text: the knowledge of a skill, the card of an agent.

        `name/path` is a file in the folder of a skill. No name raises: the outcome has the error.
        Raises `StoreError`.
        """
        return self._stages.reader.read(name, _known(caller))

    def result(
        self, handle: str, *, page: int = 1, find: str = "", caller: Caller = HOST
    ) -> Outcome:
        """A page of a long result of this caller; see `Outcome.page`.

        With `find`, only lines with these words, or that match a `/pattern/`; that may take
        seconds. No handle raises: the outcome has the error.
        """
        return self._stages.calls.door.result(handle, _known(caller), page, find)

    def entries(self) -> Mapping[str, Entry]:
        """Everything in the pool by name, also what callers may not see."""
        return self._stages.inventory.entries()

    def get(self, name: str) -> Entry:
        """One entry, by its name, or by the source's own name if only one has that.

        Raises `UnknownTool` and `AmbiguousName`.
        """
        return self._stages.inventory.current().resolve(name)

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
        """End the servers and apps that were started, and let go of the files.

        Whatever is asked of it then raises `ConfigError`.
        """
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()


def _known(caller: Caller) -> Caller:
    """The caller, if it is one. Raises `ConfigError`."""
    check(caller, Caller, "caller=", 'write Caller("ann")')
    return caller
