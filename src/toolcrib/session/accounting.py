"""What tools cost a model in tokens, and what deferring them saves."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from toolcrib.model import Entry, ToolInfo
from toolcrib.session.deferral_plan import DeferralPlan
from toolcrib.session.deferred_summary import stub
from toolcrib.text import TokenCounter, tool_definition

MOST_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class SourceTokens:
    """What the tools of one source cost: all of them whole, and those that are never deferred."""

    source: str
    tools: int
    eager: int
    core: int


@dataclass(frozen=True, slots=True)
class AlwaysLoadCost:
    """What an MCP server asks to be always loaded: how many of its tools are, for how many tokens.

    `left` is how many more it asks for in vain.
    """

    source: str
    loaded: int
    tokens: int
    left: int

    def __str__(self) -> str:
        more = f"; {self.left} more that it asks for are not" if self.left else ""
        return (
            f"{self.source}: {self.loaded} tools are never deferred, {self.tokens:,} tokens of each"
            f" request, because the server asks for it{more}"
        )


@dataclass(frozen=True, slots=True)
class TokenEstimate:
    """What the tools of a session cost with every request.

    `eager`: every definition whole. `deferred`: core tools, search tool, note and summary (and
    stubs), before anything is revealed. `revealed`: the definitions that are revealed by now, of
    which the messages of the user have shown `prefetched` before any search.
    `saved` = eager - deferred - revealed, and `share` is its part of eager. `break_even`: after how
    many reveals of average size eager would be no dearer; 0 where nothing is deferred. `how` tells
    how every figure was obtained: `counted with ...` or `estimated`. `sources` has the dearest
    first.
    """

    tools: int
    eager: int
    deferred: int
    revealed: int
    break_even: int
    how: str
    sources: tuple[SourceTokens, ...] = ()
    prefetched: int = 0

    @property
    def saved(self) -> int:
        """Tokens that each request is shorter than with every definition in it."""
        return self.eager - self.deferred - self.revealed

    @property
    def share(self) -> float:
        """What part of the eager price is saved, from 0 to 1; below 0 where deferring costs."""
        return self.saved / self.eager if self.eager else 0.0


def break_even(eager: int, deferred: int, stubs: int, tools: int) -> int:
    """After how many reveals of average size deferring so many tools costs more than not to.

    `eager` is their price whole, `deferred` what is paid in its place before any reveal, of which
    `stubs` is what the tools themselves still cost.
    """
    if not tools or eager <= stubs:
        return 0
    return max(0, (eager - deferred) * tools // (eager - stubs) + 1)


class Prices:
    """The price of each definition, remembered by its name and pin."""

    def __init__(self, counter: Callable[[], TokenCounter]) -> None:
        self._make_counter = counter
        self._prices: dict[tuple[str, str], int] = {}
        self._counter: TokenCounter | None = None

    @property
    def counter(self) -> TokenCounter:
        """Who counts; made when it is first needed."""
        if self._counter is None:
            self._counter = self._make_counter()
        return self._counter

    def forget_counter(self) -> bool:
        """Let go of whoever counts, until something new is counted; whether there was one."""
        was_there, self._counter = self._counter is not None, None
        return was_there

    def of(self, tools: Iterable[ToolInfo]) -> int:
        """What these definitions cost together."""
        return sum(map(self._price, tools))

    def of_entries(self, entries: Iterable[Entry]) -> int:
        """What the tools among these entries cost together; reads what it has not seen before."""
        return sum(self._price(entry) for entry in entries if entry.kind == "tool")

    def _price(self, tool: ToolInfo | Entry) -> int:
        key = tool.name, tool.pin
        if not tool.pin:  # it has no identity but its text
            return self._count(tool)
        if key not in self._prices:
            if len(self._prices) >= MOST_REMEMBERED:
                self._prices.clear()
            self._prices[key] = self._count(tool)
        return self._prices[key]

    def _count(self, tool: ToolInfo | Entry) -> int:
        whole = tool.capability if isinstance(tool, Entry) else tool
        return self.counter.count(tool_definition(cast("ToolInfo", whole)))

    def asked_loads(self, entries: Iterable[Entry]) -> tuple[AlwaysLoadCost, ...]:
        """What servers ask to be always loaded, the dearest first; none for those that do not."""
        asking = _by_source(entry for entry in entries if entry.asks_to_load)
        costs: list[AlwaysLoadCost] = []
        for source, its_tools in asking.items():
            loaded = [tool for tool in its_tools if tool.defer == "never"]
            left = len(its_tools) - len(loaded)
            costs.append(AlwaysLoadCost(source, len(loaded), self.of_entries(loaded), left))
        return tuple(sorted(costs, key=lambda each: (-each.tokens, each.source)))

    def by_source(
        self, core: Sequence[Entry], deferred: Sequence[Entry]
    ) -> tuple[SourceTokens, ...]:
        """What each source costs, the dearest first."""
        by_source, core_of, price = (
            _by_source((*core, *deferred)),
            _by_source(core),
            self.of_entries,
        )
        costs = [
            SourceTokens(source, len(tools), price(tools), price(core_of.get(source, ())))
            for source, tools in by_source.items()
        ]
        return tuple(sorted(costs, key=lambda each: (-each.eager, each.source)))


def estimate_tokens_of(  # noqa: PLR0913 - each by its name
    plan: DeferralPlan,
    prices: Prices,
    *,
    own: Sequence[ToolInfo],
    revealed: Sequence[ToolInfo],
    prompt: Iterable[str],
    prefetched: Collection[str],
    lists_stubs: bool,
) -> TokenEstimate:
    """What the tools of a session cost by its plan.

    `own` are the search tool and what else is ours. `prefetched` are the names among the revealed
    ones that messages of the user have shown. `prompt` is what the system prompt says of deferred
    tools. `lists_stubs`: deferred tools are listed without their parameters.
    """
    stubs_of: Callable[[Iterable[ToolInfo]], Iterable[ToolInfo]]
    stubs_of = (lambda tools: map(stub, tools)) if lists_stubs else (lambda _tools: ())
    core, deferred = prices.of_entries(plan.core), prices.of_entries(plan.deferred)
    stubs = prices.of(stubs_of(plan.deferred_tools)) if lists_stubs else 0
    instead = prices.of(own) + stubs + sum(map(prices.counter.count, filter(None, prompt)))
    shown = [tool for tool in revealed if tool.name in prefetched]
    return TokenEstimate(
        tools=len(plan.core_names) + len(plan.deferred_names),
        eager=core + deferred,
        deferred=core + instead,
        revealed=prices.of(revealed) - prices.of(stubs_of(revealed)),
        break_even=break_even(deferred, instead, stubs, len(plan.deferred_names)),
        how=prices.counter.how,
        sources=prices.by_source(plan.core, plan.deferred),
        prefetched=prices.of(shown) - prices.of(stubs_of(shown)),
    )


def _by_source(tools: Iterable[Entry]) -> dict[str, list[Entry]]:
    grouped: dict[str, list[Entry]] = {}
    for tool in tools:
        grouped.setdefault(tool.owner_label, []).append(tool)
    return grouped
