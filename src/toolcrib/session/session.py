"""One conversation: what its model sees, finds and may call.

    session = crib.session("thread-1")
    tools = session.active_tools()          # core, search tool, what was revealed
    outcome = await session.call(name, arguments)

An adapter turns `active_tools()` into its provider's wire, hands every call of the model to `call`
in the order in which the model made them, and asks for `active_tools()` again before each request.
The order matters within one batch too: a tool that a search in the batch has found can be called
after that search, and not before it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TypeVar, cast

from toolcrib.api_arguments import check, several
from toolcrib.execute import ApprovalRequest, Approver, CallRefused
from toolcrib.model import (
    Call,
    ConversationTokens,
    JsonObject,
    Kind,
    Outcome,
    PrefetchMode,
    ProgressHandler,
    Query,
    ToolInfo,
)
from toolcrib.program import ProgramListeners, ProgramOutcome
from toolcrib.session.accounting import Prices, TokenEstimate, estimate_tokens_of
from toolcrib.session.code_tools import (
    CODE_TOOLS,
    RUN_TOOL,
    functions_found,
    only_in_programs,
    read_run_request,
)
from toolcrib.session.deferral_plan import DeferralPlan
from toolcrib.session.deferred_summary import DeferStyle, note
from toolcrib.session.host import Host
from toolcrib.session.policy import SessionOptions
from toolcrib.session.prefetch import (
    Prefetch,
    Prefetcher,
    PrefetchMemory,
    UserMessage,
)
from toolcrib.session.result_page import read_page_request
from toolcrib.session.reveals import Reveals, not_a_tool, not_revealed, to_reveal
from toolcrib.session.search_result import SearchResult
from toolcrib.session.search_tool import SEARCH_TOOL, SEARCH_TOOL_NAMES, all_queries, read_request

OutcomeT = TypeVar("OutcomeT", bound=Outcome)


class Session:
    """What one conversation sees. Safe to share between threads; made by `Crib.session`.

    Everything it gives depends on the catalog, on its caller and on its reveals alone. Raises
    `StoreError` where its reveals cannot be read or kept.
    """

    def __init__(  # noqa: PLR0913 - what it is made of, each by its name
        self,
        host: Host,
        plan: Callable[[int], DeferralPlan],
        reveals: Reveals,
        *,
        prices: Prices,
        options: SessionOptions,
        memory: PrefetchMemory,
    ) -> None:
        self._host = host
        self._make_plan = plan
        self._reveals = reveals
        self._prices = prices
        self._options = options
        self._prefetcher = Prefetcher(host.search, reveals, memory, options)
        self._newest: UserMessage | None = None

    @property
    def deferring(self) -> bool:
        """Whether tools wait for a search. Then there is a search tool, and a note about it."""
        return self._plan.deferring

    @property
    def search_tool(self) -> ToolInfo | None:
        """The search tool; None where there is nothing to find or to read with it.

        Where nothing is deferred, it is listed from the first long result on.
        """
        return next(iter(self._own_tools(self._plan)), None)

    @property
    def style(self) -> DeferStyle:
        """How deferred tools are shown: hidden, in a line each, as stubs, or in programs alone."""
        return self._options.style

    @property
    def prefetch_mode(self) -> PrefetchMode:
        """Whether the user's messages are searched before the model is asked."""
        return self._options.prefetch

    def active_tools(self) -> tuple[ToolInfo, ...]:
        """The tools to send with the next request.

        Core, then the search tool, then what was revealed, in first-reveal order. With the style
        `stub` then all deferred ones by source and name, those without parameters that are not
        revealed. With the style `code`: core, the search tool, `tool_run`. While the catalog stays
        as it is, a reveal changes nothing that stands before it.
        """
        own, plan = self._host.of_request(), self._plan
        behind = plan.shown_behind_core(() if self.style == "code" else self._reveals.names())
        return (*self.stable_tools(), *(tool for tool in behind if tool.name not in own))

    def stable_tools(self) -> tuple[ToolInfo, ...]:
        """Core and search tool, in code mode `tool_run` too: what no reveal changes.

        It is the beginning of `active_tools`. What a provider should cache ends with its last.
        """
        plan = self._list()
        return (*self._core(plan), *self._own_tools(plan))

    def core_tools(self) -> tuple[ToolInfo, ...]:
        """What is always shown whole, by source and name; every tool where nothing is deferred.

        The tools of this request come last; see `per_request_tools`.
        """
        return self._core(self._list())

    @property
    def core_names(self) -> tuple[str, ...]:
        """The names of `core_tools` but for those of this request; no definition is read."""
        return self._list().core_names

    def revealed_tools(self) -> tuple[ToolInfo, ...]:
        """The deferred tools that this conversation has found, in first-reveal order.

        One that is gone, or that the caller may not call any more, is not among them. In code mode
        there are none.
        """
        if self.style == "code":
            return ()
        deferred, own = self._plan.deferred_by_name, self._host.of_request()
        names = (name for name in self._reveals.names() if name not in own)
        return tuple(deferred[name] for name in names if name in deferred)

    def deferred_tools(self) -> tuple[ToolInfo, ...]:
        """All that waits for a search, revealed by now or not, by source and name.

        The same as long as the catalog is: for wires that take the whole catalog once.
        """
        return self._plan.deferred_tools

    def search(
        self,
        query: str | None = None,
        *,
        queries: Sequence[str] = (),
        limit: int | None = None,
        kinds: Iterable[Kind] = (),
    ) -> SearchResult:
        """Search as this session's caller, and reveal what is found: at most 8 tools in all.

        `limit` is for each query. The best hit of a query and whatever it selects by name is
        revealed; further hits as far as `session.reveal_tokens` go. Never what the caller may not
        call, or what cannot be called now. An empty query browses, and reveals nothing; nor does
        any in code mode.
        """
        of_kinds = frozenset(several(kinds, "kinds=", Kind))
        asked = all_queries(query, several(queries, "queries="))
        answers = tuple(self._host.search(Query(each, limit, of_kinds)) for each in asked)
        names = to_reveal(
            answers,
            {} if self.style == "code" else self._plan.deferred_by_name,
            self._reveals.names(),
            most=self._options.most_revealed,
            tokens=self._options.reveal_tokens,
        )
        revealed = self._reveals.add(names) if names else ()
        active = {tool.name: tool for tool in (*self._core(self._plan), *self.revealed_tools())}
        return SearchResult.of(answers, active.get, revealed)

    def prefetch(self, message: str) -> tuple[ToolInfo, ...]:
        """Search with what the user wrote, and reveal the sure hits; those that it shows, in order.

        For programs without an adapter: before the first request and before each later one that
        begins with a message of the user. Each thing that the message asks for is searched by
        itself. What is found is shown, never called, and only if search is sure of it: at most 3
        tools for each, in at most `session.prefetch_tokens`. A message is searched once. Nothing is
        shown for one that asks for nothing, and nothing at all with `session.prefetch` off.
        """
        return self._shown(self._prefetcher.show(message, self._plan))

    def explain_prefetch(self, message: str) -> Prefetch:
        """What a message would show before any search, and why; it shows and changes nothing."""
        return self._prefetcher.plan(message, self._plan)

    def prefetched(self, messages: Iterable[str]) -> Mapping[str, tuple[ToolInfo, ...]]:
        """The tools that each of these messages has shown in this conversation, the best first.

        A message that has shown none is not among them.
        """
        shown = self._prefetcher.shown_by(several(messages, "prefetched()"))
        return {message: self._shown(names) for message, names in shown.items()}

    async def call(  # noqa: PLR0913 - what a call may have, each by its name
        self,
        name: str,
        arguments: JsonObject | str = "{}",
        *,
        pin: str = "",
        approver: Approver | None = None,
        timeout_s: float | None = None,
        progress: ProgressHandler | None = None,
        paged: bool = True,
    ) -> Outcome:
        """Call a tool as this session's caller. Never raises for what a model says.

        `pin` is that of the definition which a person was shown, if it has to be that one. Of a
        long result the outcome is the first page, unless `paged` is False; see `Outcome.page`.

        `tool_search`, or `search_capability`, searches. Its content is `SearchResult.text`, and its
        structured content has the names under `tools` (callable now) and `revealed` (new); with
        `read` its content is the text of a skill or an agent, or a page of a long result. A
        deferred tool that is not revealed is refused with `not_revealed`, unless the setting
        `session.auto_reveal` is on and its arguments fit: then it is revealed and called. All else
        goes to the door as it is.

        In code mode `tool_search` gives typed functions, and `tool_run` runs a program, or resumes
        one: the outcome is a `ProgramOutcome`. `pin` and `timeout_s` are not for programs. A
        deferred tool is refused with `not_revealed`: programs call it.
        """
        check(name, str, "the name of a tool to call")
        if name in SEARCH_TOOL_NAMES:
            return await self._host.aside(lambda: self._run_search(arguments))
        if self.runs_programs(name):
            return await self._run_program(arguments, approver, progress, paged=paged)
        try:
            self._admit(name, arguments)
        except CallRefused as refused:
            return Outcome(error=refused.error)
        outcome = await self._host.call(
            Call.of(name, arguments, pin),
            timeout_s=timeout_s,
            approver=approver,
            progress=progress,
            paged=paged,
        )
        return self._noting(outcome)

    async def run(
        self,
        program: str,
        *,
        approver: Approver | None = None,
        progress: ProgressHandler | None = None,
        paged: bool = True,
    ) -> ProgramOutcome:
        """Run a program as this session's caller; see `Crib.run`.

        It may call whatever the caller may: nothing has to be revealed. Of a long result the
        outcome is the first page, unless `paged` is False.
        """
        outcome = await self._host.run(program, ProgramListeners(approver, progress), paged=paged)
        return self._noting(outcome)

    async def resume(
        self,
        handle: str,
        *,
        approver: Approver | None = None,
        progress: ProgressHandler | None = None,
        paged: bool = True,
    ) -> ProgramOutcome:
        """Go on with a program of this session's caller that waits for a person; see `Crib`."""
        outcome = await self._host.resume(handle, ProgramListeners(approver, progress), paged=paged)
        return self._noting(outcome)

    def runs_programs(self, name: str) -> bool:
        """Whether calls of this name run programs. Then each of their calls is approved by itself.

        So it is in code mode, with `tool_run`.
        """
        return self.style == "code" and name == RUN_TOOL.name

    def question(self, name: str, arguments: JsonObject | str = "{}") -> ApprovalRequest | None:
        """What a person would be asked before this call is made; None if nobody would be.

        Sends nothing, asks nobody and reveals nothing. For frameworks that ask between the model's
        call and ours: what `call` would refuse at once is not asked about.
        """
        try:
            self._names_revealed_by(name, arguments)
        except CallRefused:
            return None
        if name in SEARCH_TOOL_NAMES or self.runs_programs(name):
            return None
        return self._host.question(name, arguments)

    def asks(self, name: str) -> bool:
        """Whether the rules want a person's leave for calls of this tool, revealed or not.

        For frameworks that have to know it before there is a call; `question` judges the call.
        """
        return not self.runs_programs(name) and self._host.asks(name)

    def see(self, names: Iterable[str | UserMessage], *, prefetch: bool | None = None) -> None:
        """Take for revealed what the caller's own conversation shows to be.

        `names` in the order in which they appear: of the tools in results of the search tool (see
        `revealed_in`), of tool references, of tools that were called, and of the search tool where
        a result was long (see `begins_with_page_note`). Other names have no effect. A session
        without an id that is shown its conversation before each request keeps no state of its own.

        Among the names may stand what the user wrote. A message shows in its place what it has
        shown before. With `prefetch` True the newest one is prefetched too, with False none counts.
        """
        seen = several(names, "see()", str | UserMessage)
        self._newest = self._prefetcher.see(seen, self._plan, prefetch=prefetch)

    def compacted(self, names: Collection[str | UserMessage]) -> None:
        """Forget all reveals but those of these names, which are still in the conversation.

        What a message of the user among them has shown stays too. The conversation counts as short
        again; see `used`.
        """
        kept = several(names, "compacted()", str | UserMessage)
        self._reveals.keep(self._prefetcher.kept(kept))
        if self._options.keep_called:
            self._reveals.set_tokens(ConversationTokens())

    def clear(self) -> None:
        """Begin anew: nothing is revealed."""
        self.compacted(())

    def used(self, tokens: int) -> None:
        """Tell how many tokens the conversation takes by now, for the mode `conversation:N`.

        It only ever rises, until the conversation is compacted or cleared: tools that were deferred
        do not come back because one request was shorter. It is kept with the id of the session.
        What it defers is deferred from the next request on: what the last one showed can be called
        in reply to it.
        """
        if not self._options.keep_called:
            return
        length = self._reveals.tokens()
        if tokens > length.now:
            self._reveals.set_tokens(length._replace(now=tokens))

    def system_note(self) -> str:
        """How to find tools, for the system prompt; "" where nothing is deferred."""
        return note(self._options.style) if self.deferring else ""

    def deferred_summary(self) -> str:
        """What is deferred, by source, within a budget; "" where nothing is, or all is listed.

        The same bytes as long as the catalog is the same: it does not shrink when one is revealed.
        """
        if self._options.style == "stub":
            return ""
        return self._plan.summary(self._options.summary_tokens)

    def token_estimate(self) -> TokenEstimate:
        """What the tools of this session cost with each request, and what deferring them saves."""
        return estimate_tokens_of(
            self._plan,
            self._prices,
            own=self._own_tools(self._plan),
            revealed=self.revealed_tools(),
            prompt=[self.system_note(), self.deferred_summary()],
            prefetched=self._prefetcher.names(),
            lists_stubs=self.style == "stub",
        )

    def _noting(self, outcome: OutcomeT) -> OutcomeT:
        """The outcome; from the first long result on there is a tool to read on with."""
        if outcome.handle:
            self._reveals.add([SEARCH_TOOL.name])
        return outcome

    def _shown(self, names: Iterable[str]) -> tuple[ToolInfo, ...]:
        deferred = self._plan.deferred_by_name
        return tuple(deferred[name] for name in names if name in deferred)

    @property
    def _plan(self) -> DeferralPlan:
        """What is deferred in the next request."""
        return self._make_plan(self._tokens.now)

    @property
    def _listed_plan(self) -> DeferralPlan:
        """What was deferred in the last request, to which the model replies."""
        now, at_listing = self._tokens
        return self._make_plan(now if at_listing is None else at_listing)

    @property
    def _tokens(self) -> ConversationTokens:
        return self._reveals.tokens() if self._options.keep_called else ConversationTokens()

    def _list(self) -> DeferralPlan:
        """The plan for the next request, which the model is shown from now on."""
        plan, length = self._plan, self._tokens
        is_new = length.at_listing is None or self._listed_plan is not plan
        if self._options.keep_called and is_new:
            self._reveals.set_tokens(length._replace(at_listing=length.now))
        return plan

    def _core(self, plan: DeferralPlan) -> tuple[ToolInfo, ...]:
        own = self._host.of_request()
        tools = (cast("ToolInfo", entry.capability) for entry in own.values())
        return (*(tool for tool in plan.core_tools if tool.name not in own), *tools)

    def _own_tools(self, plan: DeferralPlan) -> tuple[ToolInfo, ...]:
        """The search tool, if there is one, and what else is ours."""
        if self.style == "code":
            return CODE_TOOLS
        holds = SEARCH_TOOL.name in self._reveals.names()
        return (SEARCH_TOOL,) if plan.deferring or holds else ()

    def _run_search(self, arguments: JsonObject | str) -> Outcome:
        try:
            request = read_request(self._host.check(SEARCH_TOOL, arguments))
        except CallRefused as refused:
            return Outcome(error=refused.error)
        if page := read_page_request(request.read):
            return self._host.result(page.handle, page=page.number, find=page.find)
        if request.read:
            return self._host.read(request.read)
        result = self.search(queries=request.queries, limit=request.limit, kinds=request.kinds)
        if self.style == "code":
            return functions_found(result, self._host.signatures, self._options.answer_tokens)
        return result.outcome(self._options.answer_tokens)

    async def _run_program(
        self,
        arguments: JsonObject | str,
        approver: Approver | None,
        progress: ProgressHandler | None,
        *,
        paged: bool,
    ) -> Outcome:
        try:
            asked = read_run_request(arguments, self._host.check)
        except CallRefused as refused:
            return Outcome(error=refused.error)
        run = (
            partial(self.resume, asked.handle) if asked.handle else partial(self.run, asked.program)
        )
        return await run(approver=approver, progress=progress, paged=paged)

    def _admit(self, name: str, arguments: JsonObject | str) -> None:
        """Reveal the tool of a call, if calling it does. Raises as `_names_revealed_by`."""
        self._reveals.add(self._names_revealed_by(name, arguments))

    def _names_revealed_by(self, name: str, arguments: JsonObject | str) -> tuple[str, ...]:
        """The name that a call reveals, if any.

        Raises `CallRefused` for a deferred tool that is not revealed, unless the call reveals it.
        """
        entry = self._host.means(name)
        if entry is None:
            return ()
        if entry.kind != "tool":
            raise not_a_tool(entry)
        tool = self._listed_plan.deferred_by_name.get(entry.name)
        if tool and self.style == "code":
            raise only_in_programs(tool, self._host.signatures([tool.name]))
        if tool and entry.name not in self._reveals.names():
            self._check_unrevealed(tool, arguments)
        return (entry.name,) if tool or self._options.keep_called else ()

    def _check_unrevealed(self, tool: ToolInfo, arguments: JsonObject | str) -> None:
        if self._newest and self.prefetch_mode == "on" and tool in self.prefetch(self._newest.text):
            return  # shown in another process, for the message that is answered now
        refused = not_revealed(tool.name, self._listed_plan.deferred_by_name)
        if not self._options.auto_reveal:
            raise refused
        try:
            self._host.check(tool, arguments)
        except CallRefused:
            raise refused from None
