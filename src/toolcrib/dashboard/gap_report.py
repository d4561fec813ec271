"""What is missing: searches that nothing answers; tools that nobody calls, that are slow or fail.

Events and roll-ups go in, a report comes out. A search counts as answered if it found something and
was sure; as used, if the same caller called one of its hits soon after.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from toolcrib.model import FINE_CODES, Event
from toolcrib.store import Rollup, RollupKey

SOON_S = 1_800.0
SLOW_S = 1.0
FEWEST_CALLS = 3
UNSURE = ("low", "none")


@dataclass(frozen=True, slots=True)
class QueryGap:
    """A query and how often it was asked in vain; "" where its text is not known.

    `nearest` was the best hit of the last time, with its chance; `id` is that of this event.
    """

    text: str
    count: int
    nearest: str
    chance: float
    id: int


@dataclass(frozen=True, slots=True)
class ToolGap:
    """A tool that is slow or fails: how often it was called, how often badly, with which codes."""

    name: str
    server: str
    calls: int
    errors: int
    p95_s: float
    codes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class GapReport:
    """Everything that is missing, the worst first. `searches`: of how many the first two tell."""

    searches: int = 0
    unanswered: tuple[QueryGap, ...] = ()
    uncalled: tuple[QueryGap, ...] = ()
    slow: tuple[ToolGap, ...] = ()
    failing: tuple[ToolGap, ...] = ()
    servers: tuple[ToolGap, ...] = ()


def gap_report(
    searches: Mapping[int, Event],
    calls: Iterable[tuple[str, str, float]],
    totals: Mapping[RollupKey, Rollup],
) -> GapReport:
    """The report of these searches, and of these totals of calls by tool and code.

    `calls` has callers, tools and times.
    """
    used = _CallTimes(calls)
    vain = {id: each for id, each in searches.items() if not is_answered(each)}
    rest = {id: each for id, each in searches.items() if id not in vain and not used.follow(each)}
    tools = _by(totals, lambda key: (key.name, key.server))
    slow = [each for each in tools if each.p95_s >= SLOW_S and each.calls >= FEWEST_CALLS]
    servers = _by(totals, lambda key: ("", key.server))
    return GapReport(
        len(searches),
        _grouped(vain),
        _grouped(rest),
        tuple(sorted(slow, key=lambda each: (-each.p95_s, each.name))),
        _worst(tools),
        _worst(servers),
    )


def is_answered(search: Event) -> bool:
    """Whether it found something, and was sure."""
    return not search.code and search.facts.get("confidence") not in UNSURE


class _CallTimes:
    """When each caller called each tool."""

    def __init__(self, calls: Iterable[tuple[str, str, float]]) -> None:
        self._times: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
        for caller, name, at in calls:
            self._times[caller, name].append(at)
        for times in self._times.values():
            times.sort()

    def follow(self, search: Event) -> bool:
        """Whether one of its hits was called soon after it."""
        return any(self._next(search.caller, name, search.at) for name in _hits(search))

    def _next(self, caller: str, name: str, at: float) -> bool:
        times = self._times.get((caller, name), ())
        place = bisect_left(times, at)
        return place < len(times) and times[place] <= at + SOON_S


def _hits(search: Event) -> Sequence[str]:
    hits = search.facts.get("hits")
    return [str(each) for each in hits] if isinstance(hits, list) else ()


def _grouped(searches: Mapping[int, Event]) -> tuple[QueryGap, ...]:
    """By their texts, regardless of case; those without a text are one."""
    groups: dict[str, list[tuple[int, Event]]] = {}
    for id, each in searches.items():
        groups.setdefault(" ".join(each.query.casefold().split()), []).append((id, each))
    found = [_query_gap(some) for some in groups.values()]
    return tuple(sorted(found, key=lambda each: (not each.text, -each.count, -each.id)))


def _query_gap(some: Sequence[tuple[int, Event]]) -> QueryGap:
    id, last = max(some)
    chance, hits = last.facts.get("chance"), _hits(last)
    likely = float(chance) if isinstance(chance, int | float) else 0.0
    return QueryGap(last.query, len(some), hits[0] if hits else "", likely, id)


def _by(
    totals: Mapping[RollupKey, Rollup], key_of: Callable[[RollupKey], tuple[str, str]]
) -> list[ToolGap]:
    groups: dict[tuple[str, str], list[tuple[str, Rollup]]] = {}
    for key, each in totals.items():
        groups.setdefault(key_of(key), []).append((key.code, each))
    return [_tool_gap(*key, some) for key, some in groups.items()]


def _tool_gap(name: str, server: str, some: Sequence[tuple[str, Rollup]]) -> ToolGap:
    codes = Counter[str]()
    for code, each in some:
        if code not in FINE_CODES:
            codes[code] += each.count
    every = Rollup(
        sum(each.count for _, each in some),
        buckets=[
            sum(numbers) for numbers in zip(*(each.buckets for _, each in some), strict=False)
        ],
    )
    p95_s = every.percentile(0.95)
    return ToolGap(name, server, every.count, codes.total(), p95_s, tuple(codes.most_common()))


def _worst(gaps: Iterable[ToolGap]) -> tuple[ToolGap, ...]:
    failing = [each for each in gaps if each.errors]
    return tuple(sorted(failing, key=lambda each: (-each.errors, each.server, each.name)))
