"""A ranking as a table with bars: candidates, what lifts each, the cut and the limit."""

from collections.abc import Mapping

import htpy as h

from toolcrib.dashboard.bars import share_bar
from toolcrib.dashboard.page import empty, within_room
from toolcrib.dashboard.rankings import LONGEST_NAME, RankingAnswer
from toolcrib.dashboard.screens.lifts import LIFTS, Scale, cells, head, lifts
from toolcrib.dashboard.spelling import spelt_short
from toolcrib.search import ALTERNATIVES, Candidate, RankingExplanation

FORM = "same-query"
"""The form of the page that asks the same query again."""
ROOM = 32_000
"""Bytes of HTML that all tables may take together."""
MOST_NAME = 80
LEVELS = (0.15, 0.6, 0.9)
"""From which chances on a confidence is low, medium and high."""


def ranking_side(answer: RankingAnswer, name: str, ranking: RankingExplanation) -> h.Element:
    """The ranking by one of the settings: how sure it is, and the table."""
    title = f"side-{name}"
    first = answer.rankings[0]
    before = {each.name: place for place, each in enumerate(first.candidates, 1)}
    return h.section(".side", aria_labelledby=title)[
        h.h2(id=title)[f"Ranked {ALTERNATIVES[name].label}"],
        _chance(ranking),
        _table(ranking, before if ranking is not first else None, ROOM // len(answer.rankings)),
        h.p(".hint")[_footer(ranking)],
    ]


def _chance(ranking: RankingExplanation) -> h.Element:
    return h.p(".chance")[
        share_bar(ranking.chance, LEVELS, f"level-{ranking.confidence}"),
        h.span[
            f"chance {ranking.chance:.2f}, confidence ",
            h.strong[ranking.confidence],
            _grounds(ranking),
        ],
    ]


def _grounds(ranking: RankingExplanation) -> str:
    """What the chance comes from."""
    if not ranking.variants or ranking.chance == 1.0:
        return ""
    if ranking.absent:
        return ": it names a product that nothing here is of"
    if ranking.cosine is not None and ranking.look is not None:
        return f": second look {ranking.look:.2f}, nearest cosine {ranking.cosine:.2f}"
    if ranking.cosine is not None:
        return f": nearest cosine {ranking.cosine:.2f}"
    return f": by words alone, {ranking.share:.0%} of the query"


def _footer(ranking: RankingExplanation) -> str:
    left = ranking.found - len(ranking.candidates)
    by_ranks = "Bars are reciprocal ranks, by the weights of the variants."
    by_zscores = "Bars are standard deviations above the mean of all candidates."
    by_points = "Bars are points for the words of the query."
    words = [
        f"{left} more were ranked." if left else "",
        {"rrf": by_ranks, "keywords": by_points}.get(ranking.fusion, by_zscores),
        "In bold: the rank that the arm gives." if ranking.fusion != "keywords" else "",
        "Each part of the task has its best tool first." if ranking.parts else "",
    ]
    return " ".join(filter(None, words if ranking.variants else words[:1]))


def _table(ranking: RankingExplanation, before: Mapping[str, int] | None, room: int) -> h.Node:
    if not ranking.candidates:
        return empty("Nothing was found", "No arm has a match, and the query names no tool.")
    scale = Scale.of(map(lifts, ranking.candidates))
    rows = [] if ranking.cut_at else [_line("nothing is returned: most likely nothing fits")]
    for place, each in enumerate(ranking.candidates, 1):
        change = None if before is None else _change(place, before.get(each.name))
        rows += [_row(ranking, place, scale, change), *_lines_after(place, ranking)]
    shown, left = within_room(rows, room)
    over = left and h.p(".flags")["The texts of the others are too long to be shown here."]
    return [h.table(".ranking")[head((*LIFTS, "score")), h.tbody[shown]], over or None]


def _row(ranking: RankingExplanation, place: int, scale: Scale, change: h.Node) -> h.Element:
    each = ranking.candidates[place - 1]
    named = any(each.name == tool.name for tool in ranking.tools)
    style = {"out": place > min(ranking.cut_at, ranking.limit), "asked": named}
    return h.tr(class_=style)[
        h.th(scope="row")[h.span(".place")[place], _name(each), change, _owner(each)],
        cells(lifts(each), scale, each.ranks),
        h.td(".score", data_label="score")[f"{each.score:.3f}", _learned(each)],
    ]


def _name(each: Candidate) -> h.Element:
    """The name, as a button that asks the same about this tool."""
    return h.button(
        ".linked", form=FORM, name="tool", value=each.name[:LONGEST_NAME], type="submit"
    )[spelt_short(each.name, MOST_NAME)]


def _owner(each: Candidate) -> h.Element:
    part = [" · for ", spelt_short(each.part, MOST_NAME)] if each.part else None
    return h.small[spelt_short(each.owner, MOST_NAME), part]


def _learned(each: Candidate) -> h.Node:
    return h.small[f"use +{each.learned:.0%}"] if each.learned else None


def _change(place: int, before: int | None) -> h.Node:
    """How a candidate stands against the first settings."""
    if before is None:
        return h.span(".change-up")[" new"]
    if before == place:
        return None
    better = before > place
    sign = "▲" if better else "▼"
    words = f"{abs(before - place)} places {'higher' if better else 'lower'}"
    return h.span(class_="change-up" if better else "change-down")[
        f" {sign}{abs(before - place)}", h.span(".unseen")[f" ({words})"]
    ]


def _lines_after(place: int, ranking: RankingExplanation) -> list[h.Element]:
    at_limit = place == ranking.limit < max(ranking.cut_at, len(ranking.candidates))
    at_cut = place == ranking.cut_at < ranking.found
    words = [f"limit {place}" if at_limit else "", f"cut after {place}" if at_cut else ""]
    return [_line(" · ".join(filter(None, words)))] if any(words) else []


def _line(words: str) -> h.Element:
    return h.tr(".line")[h.td(colspan=len(LIFTS) + 2)[words]]
