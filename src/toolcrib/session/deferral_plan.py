"""Which tools a session defers: one decision, that the search tool and the note follow.

    never, required, never_defer     shown whole, whatever the trigger
    always                           deferred at any size, unless the trigger is off
    automatic                        deferred as the trigger says, from the threshold on

A tool that search never returns would be out of reach once deferred. So it is either shown whole
or not part of a session at all. With the style `stub`, one whose parameters are no larger than a
stub is shown whole.

It is decided by groups of like tools, and when tools change, for their groups alone. No definition
is read for it, except with the style `stub`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

from toolcrib.access import GroupJudge, Scope, why_hidden
from toolcrib.model import Entry, EntryGroups, EntryTraits, ToolInfo
from toolcrib.names import PatternIndex, any_grants
from toolcrib.session.deferred_summary import (
    index_deferred,
    is_smaller_than_stub,
    stub,
    summarize_deferred,
)
from toolcrib.session.policy import Deferral
from toolcrib.session.search_tool import RUN_TOOL_NAME, SEARCH_TOOL_NAMES

Price = Callable[[Iterable[Entry]], int]
"""What the definitions of these entries cost in tokens."""


class GroupPlan(NamedTuple):
    """Of one group: the names a session may show, those that stay whole, and what they cost.

    `price` is 0 where nobody asks for it.
    """

    offered: Collection[str]
    whole: frozenset[str]
    price: int


@dataclass(frozen=True)
class Planner:
    """Plans one group after the other, for one caller."""

    scope: Scope
    deferral: Deferral
    price: Price

    def plan(self, groups: EntryGroups, traits: EntryTraits) -> GroupPlan | None:
        """The plan of a group; None if a session may show nothing of it."""
        if traits not in groups or traits.kind != "tool" or traits.state == "changed":
            return None
        offered = self._judge.callable_names(groups, traits)
        if any(name in offered for name in self._taken):
            offered = frozenset(offered) - self._taken
        if not offered:
            return None
        prices = self.deferral.trigger.kind == "auto"
        price = self.price(groups.entries[name] for name in offered) if prices else 0
        return GroupPlan(offered, self._whole(groups.entries, traits, offered), price)

    def defers_automatic(self, plans: Collection[GroupPlan], *, is_late: bool) -> bool:
        """Whether tools that may wait do."""
        if sum(len(each.offered) for each in plans) < self.deferral.threshold:
            return False
        match self.deferral.trigger.kind:
            case "on":
                return True
            case "auto":
                return sum(each.price for each in plans) >= self.deferral.allowance
            case "conversation":
                return is_late
            case "off":
                return False

    def _whole(
        self, entries: Mapping[str, Entry], traits: EntryTraits, offered: Collection[str]
    ) -> frozenset[str]:
        """Those that are shown whole at any size."""
        if traits.required or traits.defer == "never":
            return frozenset(offered)
        patterns = self._never.about(traits) if self._never else frozenset[str]()
        stubs = self.deferral.style == "stub"
        if not patterns and not stubs:
            return frozenset()
        return frozenset(
            name
            for name in offered
            if any_grants(patterns, entries[name])
            or (stubs and is_smaller_than_stub(_tool(entries[name])))
        )

    @cached_property
    def _judge(self) -> GroupJudge:
        return GroupJudge(self.scope)

    @cached_property
    def _never(self) -> PatternIndex:
        return PatternIndex(self.deferral.never_defer)

    @cached_property
    def _taken(self) -> frozenset[str]:
        runs = {RUN_TOOL_NAME} if self.deferral.style == "code" else set[str]()
        return self.scope.bound | SEARCH_TOOL_NAMES | runs


@dataclass(frozen=True, eq=False)
class DeferralPlan:
    """What the policy came to, for one catalog and one caller.

    `core` is shown whole, `deferred` waits for a search; both by source, then by name, and both
    the same as long as the catalog is.
    """

    planner: Planner
    groups: EntryGroups
    plans: Mapping[EntryTraits, GroupPlan]
    automatic: bool
    is_late: bool
    _summaries: dict[int, str] = field(default_factory=dict[int, str], repr=False)

    @classmethod
    def make(
        cls,
        groups: EntryGroups,
        scope: Scope,
        deferral: Deferral,
        *,
        is_late: bool,
        price: Price,
    ) -> "DeferralPlan":
        """The plan for what this caller may call. `is_late`: see `Deferral.is_late`."""
        planner = Planner(scope, deferral, price)
        found = ((traits, planner.plan(groups, traits)) for traits in groups)
        plans = {traits: plan for traits, plan in found if plan}
        automatic = planner.defers_automatic(plans.values(), is_late=is_late)
        return cls(planner, groups, plans, automatic, is_late)

    def updated(self, groups: EntryGroups, changed: Iterable[str]) -> "DeferralPlan":
        """The plan of later groups, which differ in the changed names alone."""
        plans = dict(self.plans)
        for traits in self.groups.touched(groups, changed):
            plans.pop(traits, None)
            if plan := self.planner.plan(groups, traits):
                plans[traits] = plan
        automatic = self.planner.defers_automatic(plans.values(), is_late=self.is_late)
        return DeferralPlan(self.planner, groups, plans, automatic, self.is_late)

    @cached_property
    def deferring(self) -> bool:
        """Whether anything waits: then there is a search tool, and a note about it."""
        return any(self._waiting_in(traits) for traits in self.plans)

    @cached_property
    def core_names(self) -> tuple[str, ...]:
        """The names of `core`."""
        return self._in_order(self._shown_in(traits) for traits in self.plans)

    @cached_property
    def deferred_names(self) -> tuple[str, ...]:
        """The names of `deferred`."""
        return self._in_order(self._waiting_in(traits) for traits in self.plans)

    @property
    def core(self) -> tuple[Entry, ...]:
        """What is shown whole."""
        return tuple(self.groups.entries[name] for name in self.core_names)

    @property
    def deferred(self) -> tuple[Entry, ...]:
        """What waits for a search."""
        return tuple(self.groups.entries[name] for name in self.deferred_names)

    @cached_property
    def core_tools(self) -> tuple[ToolInfo, ...]:
        """The tools of `core`."""
        return tuple(map(_tool, self.core))

    @cached_property
    def deferred_tools(self) -> tuple[ToolInfo, ...]:
        """The tools of `deferred`: reads all their definitions."""
        return tuple(map(_tool, self.deferred))

    @property
    def deferred_by_name(self) -> "DeferredTools":
        """The deferred tools by the names that models see; a definition is read when it is got."""
        return DeferredTools(self)

    def shown_behind_core(self, revealed: Iterable[str]) -> tuple[ToolInfo, ...]:
        """Those of the deferred tools that are listed too: the revealed ones, in their order.

        With the style `stub` all of them in the order of `deferred`, each a stub unless revealed.
        """
        deferred = self.deferred_by_name
        found = {name: deferred[name] for name in revealed if name in deferred}
        if self.planner.deferral.style != "stub":
            return tuple(found.values())
        return tuple(found.get(each.name, each) for each in self._stubs)

    @cached_property
    def _stubs(self) -> tuple[ToolInfo, ...]:
        return tuple(map(stub, self.deferred_tools))

    def summary(self, budget: int) -> str:
        """What is deferred, by source, within so many tokens; written once.

        With the style `index` each tool in a line, if that takes a tenth of the window or less.
        """
        if budget not in self._summaries:
            waiting = {traits: self._waiting_in(traits) for traits in self.plans}
            deferral, entries = self.planner.deferral, self.groups.entries
            indexed = self.deferred if deferral.style == "index" else ()
            index = index_deferred(indexed, deferral.context_window // 10)
            self._summaries[budget] = index or summarize_deferred(waiting, entries, budget)
        return self._summaries[budget]

    def defers(self, name: str) -> bool:
        """Whether the tool of this very name waits."""
        if (entry := self.groups.entries.get(name)) is None:
            return False
        traits = EntryTraits.of(entry)
        waiting = self._waiting_in(traits) if traits in self.plans else ()
        return waiting is self.groups.get(traits) or name in waiting

    def standing(self, entry: Entry) -> str:
        """That a tool `waits`, is `always shown` or `never found`, and behind a colon why."""
        traits, deferral = EntryTraits.of(entry), self.planner.deferral
        plan, trigger = self.plans.get(traits), f"tool_search is {deferral.trigger.kind}"
        if plan is None or entry.name not in plan.offered:
            return f"never found: {why_hidden(entry, self.planner.scope) or entry.state}"
        if traits.required or traits.defer == "never":
            asked = "its server asks for it" if entry.asks_to_load else "defer is never"
            return f"always shown: {'required' if traits.required else asked}"
        if entry.name in plan.whole:
            is_small = deferral.style == "stub" and is_smaller_than_stub(_tool(entry))
            return f"always shown: {'small as a stub' if is_small else 'session.never_defer'}"
        if not traits.searchable:
            return "never found: not searchable"
        if self.defers(entry.name):
            in_vain = ", though its server asks to show it" if entry.asks_to_load else ""
            return f"waits: {'defer is always' if traits.defer == 'always' else trigger}{in_vain}"
        few = sum(len(each.offered) for each in self.plans.values()) < deferral.threshold
        return f"always shown: {f'fewer than {deferral.threshold} tools' if few else trigger}"

    def _waiting_in(self, traits: EntryTraits) -> Collection[str]:
        """The names of a group that wait: that very group, if all of it."""
        plan, trigger = self.plans[traits], self.planner.deferral.trigger
        waits = self.automatic or (traits.defer == "always" and trigger.kind != "off")
        if not waits or not traits.searchable:
            return ()
        return frozenset(plan.offered) - plan.whole if plan.whole else plan.offered

    def _shown_in(self, traits: EntryTraits) -> Collection[str]:
        plan = self.plans[traits]
        if not traits.searchable:
            return plan.whole
        waiting = self._waiting_in(traits)
        return plan.offered if not waiting else plan.whole

    def _in_order(self, parts: Iterable[Collection[str]]) -> tuple[str, ...]:
        """By source, then by name."""
        found = (
            (traits.source_id or "", name)
            for traits, names in zip(self.plans, parts, strict=True)
            for name in names
        )
        return tuple(name for _, name in sorted(found))


class DeferredTools(Mapping[str, ToolInfo]):
    """The tools that wait by a plan, by name, in its order."""

    def __init__(self, plan: DeferralPlan) -> None:
        self._plan = plan

    def __getitem__(self, name: str) -> ToolInfo:
        if not self._plan.defers(name):
            raise KeyError(name)
        return _tool(self._plan.groups.entries[name])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._plan.defers(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._plan.deferred_names)

    def __len__(self) -> int:
        return len(self._plan.deferred_names)


def _tool(entry: Entry) -> ToolInfo:
    return cast("ToolInfo", entry.capability)
