"""Gaps: what people look for and do not find, and what is slow or fails, in the last seven days."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

import htpy as h

from toolcrib.dashboard.event_queries import EventQueries, LogState
from toolcrib.dashboard.gap_report import SLOW_S, GapReport, QueryGap, ToolGap
from toolcrib.dashboard.page import PageView, code_words, empty, page, problems_of, within_room
from toolcrib.dashboard.screens.event_rows import duration, event_address, why_address
from toolcrib.dashboard.screens.live import NO_LOG, id_of
from toolcrib.dashboard.screens.tables import data_row, data_table
from toolcrib.dashboard.spelling import spelt_short

FEW, MANY = 8, 50
ROOM, WHOLE_ROOM = 8_000, 36_000
UNKNOWN = "text not known"
MOST_CODES = 3


@dataclass(frozen=True, slots=True)
class Gaps:
    """The report. `keeps_texts`: what the settings say. `only` one list, `start`ing there."""

    log: LogState
    report: GapReport
    keeps_texts: bool
    only: str = ""
    start: int = 0


class GapList(NamedTuple):
    """One list of the report: its title, what it means, its columns and how a row is made."""

    title: str
    about: str
    columns: tuple[str, ...]
    row: Callable[[Any], h.Element]


def load_gaps(queries: EventQueries, only: str, start: str) -> Gaps:
    """The report, or a page of one of its lists. Raises `ToolcribError`."""
    log, report = queries.gaps()
    return Gaps(log, report, queries.keeps_texts(), only if only in LISTS else "", id_of(start))


def gaps_screen(view: PageView, gaps: Gaps) -> h.Element:
    """All lists with the first of each; or one of them, page by page."""
    report, names = gaps.report, [gaps.only] if gaps.only else LISTS
    lists = [_list(gaps, name) for name in names]
    some = [each for each in lists if each is not None]
    return page(
        view,
        "Gaps",
        h.p(".back")[h.a(href="/gaps")["All gaps"]] if gaps.only else None,
        h.h1["Gaps"],
        problems_of(view.overview.problems),
        h.p(".hint")[f"The last 7 days: {report.searches:,} searches and all calls were looked at."]
        if gaps.log == "on"
        else None,
        _texts(gaps),
        some or _nothing(gaps),
        wide=True,
    )


def _texts(gaps: Gaps) -> h.Node:
    """Why some queries are not told, and what to do."""
    queries = (*gaps.report.unanswered, *gaps.report.uncalled)
    if gaps.keeps_texts or not any(not each.text for each in queries):
        return None
    words = (
        "The texts of queries are not kept: shown are those that the running gateway remembers,"
        " the last thousand. To see those of seven days, set `observe.keep_queries = true`."
    )
    return h.p(".flags")[code_words(words)]


def _list(gaps: Gaps, name: str) -> h.Element | None:
    every: Sequence[Any] = getattr(gaps.report, name)
    if not every:
        return None
    spec, start = LISTS[name], gaps.start if gaps.only else 0
    most, room = (MANY, WHOLE_ROOM) if gaps.only else (FEW, ROOM)
    rows, _ = within_room([spec.row(each) for each in every[start : start + most]], room)
    end = start + len(rows)
    return h.section(id=name, aria_labelledby=f"{name}-title")[
        h.h2(id=f"{name}-title")[spec.title, " ", h.span(".count")[len(every)]],
        h.p(".hint")[spec.about],
        data_table(spec.columns, rows, spec.title),
        h.p(".pages")[
            h.a(href=_address(name, max(0, start - MANY)))["Before"] if start else None,
            h.a(href=_address(name, end if gaps.only else 0))[
                "More" if gaps.only else f"All {len(every)}"
            ]
            if end < len(every)
            else None,
        ],
    ]


def _address(name: str, start: int) -> str:
    return f"/gaps?{urlencode({'list': name, 'from': start})}"


def _query_row(gap: QueryGap) -> h.Element:
    asked = ["“", spelt_short(gap.text, 90), "”"] if gap.text else UNKNOWN
    nearest: h.Node = spelt_short(gap.nearest, 60) if gap.nearest else "nothing"
    return data_row(
        _QUERIES,
        h.a(href=event_address(gap.id))[asked],
        f"{gap.count}×",
        [nearest, h.small[f" {gap.chance:.2f}".replace("0.", ".")] if gap.nearest else None],
        h.a(href=why_address(gap.text))["Why?"] if gap.text else "–",
    )


def _tool_row(gap: ToolGap) -> h.Element:
    return data_row(
        _TOOLS,
        spelt_short(gap.name or gap.server or "no server", 90),
        f"{gap.calls:,}",
        duration(gap.p95_s),
        _errors(gap),
    )


def _errors(gap: ToolGap) -> h.Node:
    if not gap.errors:
        return "none"
    codes = [
        [", " if place else "", f"{number} ", spelt_short(code, 40)]
        for place, (code, number) in enumerate(gap.codes[:MOST_CODES])
    ]
    share = f"{gap.errors / gap.calls:.0%}: " if gap.calls else ""
    return [share, codes]


def _nothing(gaps: Gaps) -> h.Element:
    if gaps.log in NO_LOG:
        title, words = NO_LOG[gaps.log]
        return empty(title, code_words(words))
    return empty(
        "No gaps",
        "Every search of the last seven days was answered, and what it found was called. Nothing"
        " was slow, and nothing failed.",
    )


_QUERIES = ("Query", ">Times", "Nearest", "Ranking")
_TOOLS = ("Tool", ">Calls", ">p95", "Errors")
LISTS: Mapping[str, GapList] = {
    "unanswered": GapList(
        "Unanswered", "Searches that found nothing, or nothing sure.", _QUERIES, _query_row
    ),
    "uncalled": GapList(
        "Found, not called",
        "Searches with hits, none of which the same caller called within half an hour.",
        _QUERIES,
        _query_row,
    ),
    "slow": GapList("Slow", f"Tools whose p95 is {SLOW_S:g} s and more.", _TOOLS, _tool_row),
    "failing": GapList("Failing", "Tools by the number of their errors.", _TOOLS, _tool_row),
    "servers": GapList(
        "Errors by server", "The same, by server.", ("Server", *_TOOLS[1:]), _tool_row
    ),
}
"""Each by its name in the report."""
