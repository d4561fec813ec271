"""Which tools a session defers: one decision, that the search tool and the note follow.

    never, required, never_defer     shown whole, whatever the trigger
    always                           deferred at any size, unless the trigger is off
    automatic                        deferred as the trigger says, from the threshold on

A tool that search never returns would be out of reach once deferred. So it is either shown whole
or not part of a session at all. With the style `stub`, one whose parameters are no larger than a
stub is shown whole.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from toolcrib.access import Scope, why_barred
from toolcrib.model import DeferralTrigger, Entry, PrefetchMode, ToolInfo
from toolcrib.names import any_grants
from toolcrib.session.deferred_summary import DeferStyle, is_smaller_than_stub, summarize_deferred
from toolcrib.session.search_tool import SEARCH_TOOL, SEARCH_TOOL_NAMES


@dataclass(frozen=True, slots=True)
class Deferral:
    """What the settings say about deferral; each is described in docs/settings.md."""

    trigger: DeferralTrigger
    threshold: int
    never_defer: frozenset[str]
    style: DeferStyle
    context_window: int

    def is_late(self, used: int) -> bool:
        """Whether the conversation has used so much that `conversation:N` defers from now on."""
        return self.trigger.kind == "conversation" and used >= self.allowance

    @property
    def allowance(self) -> float:
        """The tokens that N % of the context window are."""
        return self.context_window * self.trigger.percent / 100


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How sessions behave, by the settings that docs/settings.md describes.

    `keep_called`: the length of the conversation decides whether tools wait. Then what is called is
    revealed, even while all is shown; so that it stays in sight when tools begin to wait.
    """

    style: DeferStyle
    auto_reveal: bool
    keep_called: bool
    most_revealed: int
    reveal_tokens: int
    summary_tokens: int
    answer_tokens: int
    prefetch: PrefetchMode
    prefetch_tokens: int


@dataclass(frozen=True)
class DeferralPlan:
    """What the policy came to, for one catalog and one caller.

    `core` is shown whole, `deferred` waits for a search; both by source, then by name, and both
    the same as long as the catalog is.
    """

    core: tuple[Entry, ...]
    deferred: tuple[Entry, ...]
    _summaries: dict[int, str] = field(default_factory=dict[int, str], compare=False, repr=False)

    @classmethod
    def make(
        cls,
        entries: Iterable[Entry],
        scope: Scope,
        deferral: Deferral,
        *,
        is_late: bool,
        price: Callable[[Iterable[ToolInfo]], int],
    ) -> "DeferralPlan":
        """The plan for what this caller may call. `is_late`: see `Deferral.is_late`."""
        offered = sorted(
            (entry for entry in entries if is_offered(entry, scope)),
            key=lambda entry: (entry.capability.source_id or "", entry.name),
        )
        automatic = _defers_automatic(offered, deferral, price, is_late=is_late)
        deferred = [each for each in offered if _is_deferred(each, deferral, automatic=automatic)]
        names = {entry.name for entry in deferred}
        core = [each for each in offered if each.name not in names and _is_shown(each, deferral)]
        return cls(tuple(core), tuple(deferred))

    @property
    def deferring(self) -> bool:
        """Whether anything waits: then there is a search tool, and a note about it."""
        return bool(self.deferred)

    @property
    def search_tool(self) -> ToolInfo | None:
        """The search tool, where there is something to search for. It is never deferred."""
        return SEARCH_TOOL if self.deferred else None

    @cached_property
    def core_tools(self) -> tuple[ToolInfo, ...]:
        """The tools of `core`."""
        return tools_of(self.core)

    @cached_property
    def deferred_tools(self) -> tuple[ToolInfo, ...]:
        """The tools of `deferred`."""
        return tools_of(self.deferred)

    @cached_property
    def deferred_by_name(self) -> dict[str, ToolInfo]:
        """The deferred tools by the names that models see."""
        return {tool.name: tool for tool in self.deferred_tools}

    def summary(self, budget: int) -> str:
        """What is deferred, by source, within so many tokens; written once."""
        if budget not in self._summaries:
            self._summaries[budget] = summarize_deferred(self.deferred, budget)
        return self._summaries[budget]


def is_offered(entry: Entry, scope: Scope) -> bool:
    """Whether a session may show it: a tool that this caller may call, and has not got already.

    A definition that waits for review is not shown. The names of the search tool are taken.
    """
    return (
        entry.capability.kind == "tool"
        and entry.state != "changed"
        and entry.name not in scope.bound
        and entry.name not in SEARCH_TOOL_NAMES
        and not why_barred(entry, scope)
    )


def tools_of(entries: Iterable[Entry]) -> tuple[ToolInfo, ...]:
    """The tools among what the entries are."""
    return tuple(entry.capability for entry in entries if isinstance(entry.capability, ToolInfo))


def _defers_automatic(
    offered: list[Entry],
    deferral: Deferral,
    price: Callable[[Iterable[ToolInfo]], int],
    *,
    is_late: bool,
) -> bool:
    if len(offered) < deferral.threshold:
        return False
    match deferral.trigger.kind:
        case "on":
            return True
        case "auto":
            return price(tools_of(offered)) >= deferral.allowance
        case "conversation":
            return is_late
        case "off":
            return False


def _is_deferred(entry: Entry, deferral: Deferral, *, automatic: bool) -> bool:
    tool = entry.capability
    if not tool.searchable or not isinstance(tool, ToolInfo) or _stays_whole(entry, tool, deferral):
        return False
    return automatic or (tool.defer == "always" and deferral.trigger.kind != "off")


def _is_shown(entry: Entry, deferral: Deferral) -> bool:
    tool = entry.capability
    return tool.searchable or (isinstance(tool, ToolInfo) and _stays_whole(entry, tool, deferral))


def _stays_whole(entry: Entry, tool: ToolInfo, deferral: Deferral) -> bool:
    return (
        tool.required
        or tool.defer == "never"
        or any_grants(deferral.never_defer, entry)
        or (deferral.style == "stub" and is_smaller_than_stub(tool))
    )
