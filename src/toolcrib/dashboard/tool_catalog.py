"""The tools of a crib: lists of them, and all about one. Read from a crib in this process."""

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

from toolcrib.crib import HOST, Crib, deferral_plan_in, inventory_of
from toolcrib.dashboard.backends import OpenCrib
from toolcrib.dashboard.survey import Survey, Surveys
from toolcrib.dashboard.tool_map import ToolMap
from toolcrib.lint import LintFinding
from toolcrib.model import FINE_CODES, Entry, State
from toolcrib.session import Prices
from toolcrib.settings import Settings
from toolcrib.store import Rollup, RollupKey
from toolcrib.text import token_counter
from toolcrib.wiring import opened_events

PAGE = 50
USE_DAYS = 30
HOUR_S, DAY_HOURS = 3_600, 24
NEIGHBOUR_RULES = ("near-identical", "outranked", "same-description")
"""Lint rules that are about another tool with which one may be confused."""
CONFUSED_COSINE = 0.6
"""From this cosine on a tool of another source may be taken for one."""


class ToolFilter(NamedTuple):
    """Which tools are wanted: those that fit all that is said. `after` is the name before them."""

    source: str = ""
    state: str = ""
    lint: str = ""
    text: str = ""
    after: str = ""

    def bounded(self) -> "ToolFilter":
        """The same, of bounded size."""
        return ToolFilter(*(each.strip()[:200] for each in self))


class ToolRow(NamedTuple):
    """A line of a list of tools. `findings` is None while lint is at work."""

    name: str
    source: str
    state: str
    shown: str
    permission_kind: str
    tokens: int
    findings: int | None


@dataclass(frozen=True, slots=True)
class ToolPage:
    """A page of tools by name, how many fit in all, and what one may filter by."""

    asked: ToolFilter
    rows: tuple[ToolRow, ...] = ()
    fitting: int = 0
    total: int = 0
    more: bool = False
    sources: tuple[str, ...] = ()
    is_linted: bool = True


class ToolUse(NamedTuple):
    """How a tool was used of late: calls, those that failed, and the seconds of all together."""

    calls: int = 0
    failed: int = 0
    seconds: float = 0.0


class NearTool(NamedTuple):
    """A tool near another in meaning."""

    name: str
    source: str
    cosine: float


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """All about one tool. `nearest` is None while the map is being made.

    `use` is None where nothing is logged. `rules`: what they say of its calls for callers of any
    profile.
    """

    entry: Entry
    tokens: int
    how: str
    findings: Sequence[LintFinding] | None
    nearest: Sequence[NearTool] | None
    confused: Sequence[NearTool]
    use: ToolUse | None
    rules: str = ""


@dataclass(frozen=True, slots=True)
class MapView:
    """A map, with whose each tool is and which have findings; None: it is being made.

    `source_of` has a number for each tool: its place in `sources`. `flagged` is None while lint is
    at work.
    """

    map: ToolMap | None
    sources: tuple[str, ...] = ()
    source_of: tuple[int, ...] = ()
    flagged: frozenset[str] | None = None
    unmapped: int = 0


class ToolCatalog:
    """The tools of a crib, for the screens. Everything here raises `ToolcribError`."""

    def __init__(self, crib: OpenCrib, now: Callable[[], float] = time.time) -> None:
        self._crib = crib
        self._now = now
        self._surveys = Surveys(crib)
        self._prices = Prices(token_counter)

    def page(self, asked: ToolFilter) -> ToolPage:
        """A page of the tools that fit, by name."""
        asked = asked.bounded()
        with self._crib() as crib:
            survey, entries = self._surveys.of(crib), crib.entries()
            fitting = sorted(_fitting(entries, asked, survey))
            start = bisect_right(fitting, asked.after) if asked.after else 0
            shown = fitting[start : start + PAGE]
            groups = inventory_of(crib).groups(entries)
            return ToolPage(
                asked,
                tuple(self._row(crib, entries[name], survey) for name in shown),
                len(fitting),
                len(entries),
                start + PAGE < len(fitting),
                tuple(sorted({traits.owner_label for traits in groups})),
                survey.findings is not None,
            )

    def tool(self, name: str) -> ToolDetails | None:
        """All about one tool, by the name that models see; None if there is none."""
        with self._crib() as crib:
            entries, survey = crib.entries(), self._surveys.of(crib)
            entry = entries.get(name)
            if entry is None:
                return None
            nearest = _nearest(entry, entries, survey.map)
            return ToolDetails(
                entry,
                self._prices.of_entries([entry]),
                self._prices.counter.how,
                None if survey.findings is None else survey.findings.get(name, ()),
                nearest,
                _confused(entry, entries, nearest or (), survey),
                _use(crib.settings, entry.name, self._now()),
                inventory_of(crib).verdict(entry),
            )

    def wait(self) -> None:
        """Until all that is being worked out of these tools is there."""
        self._surveys.wait()

    def mapped(self, row: str) -> ToolDetails | None:
        """All about the tool of this row of the map; None if there is none."""
        drawn = self.map().map
        if drawn is None or not row.isdecimal() or int(row) >= len(drawn.names):
            return None
        return self.tool(drawn.names[int(row)])

    def map(self) -> MapView:
        """The map, as far as it is made."""
        with self._crib() as crib:
            survey, entries = self._surveys.of(crib), crib.entries()
            if survey.map is None:
                return MapView(None)
            owners = [entries[name].owner_label for name in survey.map.names if name in entries]
            if len(owners) != len(survey.map.names):
                return MapView(None)
        sources = tuple(sorted(set(owners)))
        numbers = {source: number for number, source in enumerate(sources)}
        return MapView(
            survey.map,
            sources,
            tuple(numbers[each] for each in owners),
            None if survey.findings is None else frozenset(survey.findings),
            survey.unmapped,
        )

    def _row(self, crib: Crib, entry: Entry, survey: Survey) -> ToolRow:
        found, rules = survey.findings, inventory_of(crib).verdict(entry)
        return ToolRow(
            entry.name,
            entry.owner_label,
            entry.state,
            deferral_plan_in(crib, HOST).standing(entry) if entry.kind == "tool" else "",
            entry.permission_kind
            if rules in ("allow", "")
            else f"{entry.permission_kind}: {rules}",
            self._prices.of_entries([entry]),
            None if found is None else len(found.get(entry.name, ())),
        )


STATES: tuple[str, ...] = get_args(State)


def _fitting(entries: Mapping[str, Entry], asked: ToolFilter, survey: Survey) -> Iterator[str]:
    """The names of the entries that fit."""
    words = asked.text.casefold().split()
    found = survey.findings or {}
    for name, entry in entries.items():
        if asked.source and entry.owner_label != asked.source:
            continue
        if asked.state and entry.state != asked.state:
            continue
        if asked.lint and not _is_linted(found.get(name, ()), asked.lint):
            continue
        if words and not _has_words(entry, words):
            continue
        yield name


def _is_linted(findings: Sequence[LintFinding], asked: str) -> bool:
    if asked == "clean":
        return not findings
    return any(asked in ("any", each.severity) for each in findings)


def _has_words(entry: Entry, words: Sequence[str]) -> bool:
    text = f"{entry.name}\n{entry.title}\n{entry.description}".casefold()
    return all(word in text for word in words)


def _nearest(
    entry: Entry, entries: Mapping[str, Entry], drawn: ToolMap | None
) -> Sequence[NearTool] | None:
    if drawn is None:
        return None
    pairs = drawn.neighbours(entry.name)
    return [NearTool(n, entries[n].owner_label, cosine) for n, cosine in pairs if n in entries]


def _confused(
    entry: Entry, entries: Mapping[str, Entry], nearest: Sequence[NearTool], survey: Survey
) -> Sequence[NearTool]:
    """What may be taken for it: near ones of other sources, and those that lint names."""
    cosines = {each.name: each.cosine for each in nearest}
    other = (
        each.name
        for each in nearest
        if each.source != entry.owner_label and each.cosine >= CONFUSED_COSINE
    )
    findings = (survey.findings or {}).get(entry.name, ())
    named = (each.neighbour for each in findings if each.rule in NEIGHBOUR_RULES)
    names = [name for name in dict.fromkeys((*named, *other)) if name in entries]
    return [NearTool(each, entries[each].owner_label, cosines.get(each, 0.0)) for each in names]


def _use(settings: Settings, name: str, now: float) -> ToolUse | None:
    """How it was called in the last `USE_DAYS`; None if there is no log."""
    since = int(now // HOUR_S) - USE_DAYS * DAY_HOURS
    with opened_events(settings) as log:
        return _summed(log.totals(since, ("call",), ("code",), name)) if log else None


def _summed(totals: Mapping[RollupKey, Rollup]) -> ToolUse:
    return ToolUse(
        sum(each.count for each in totals.values()),
        sum(each.count for key, each in totals.items() if key.code not in FINE_CODES),
        sum(each.seconds for each in totals.values()),
    )
