"""Why: a ranking as a picture. Who was found, by what, where the answer ends, how sure it is."""

import htpy as h

from toolcrib.dashboard.bars import share_bar
from toolcrib.dashboard.page import PageView, empty, page
from toolcrib.dashboard.rankings import LONGEST_NAME, LONGEST_QUERY, RankingAnswer, RankingAsked
from toolcrib.dashboard.screens.ranking_table import FORM, LEVELS, ranking_side
from toolcrib.dashboard.screens.tool_explanation import tools_explained
from toolcrib.dashboard.spelling import spelt_short
from toolcrib.search import ALTERNATIVES, RankingExplanation

MOST_VARIANTS = 6


def why_screen(view: PageView, answer: RankingAnswer) -> h.Element:
    """The form, and the ranking of each settings side by side."""
    asked = answer.asked
    sides = tuple(zip(asked.alternatives, answer.rankings, strict=False))
    return page(
        view,
        "Why",
        h.h1["Why a search finds what it finds"],
        _form(asked),
        _again(asked) if sides else None,
        _remarks(answer) if sides else _nothing(),
        _read_as(answer.rankings[0]) if sides else None,
        tools_explained(answer) if asked.tools and sides else None,
        h.div(".sides")[[ranking_side(answer, *each) for each in sides]] if sides else None,
        wide=True,
    )


def _form(asked: RankingAsked) -> h.Element:
    return h.form(".ask", method="get", action="/why", role="search")[
        _field("query", "Query", asked.query, LONGEST_QUERY, "What somebody asks for"),
        _field("tool", "Tool", asked.tool, LONGEST_NAME, "A tool to explain"),
        _field("other", "Compare with", asked.other, LONGEST_NAME, "Another tool"),
        _choice("first", "Settings", asked.first),
        _choice("second", "Against", asked.second, none="nothing else"),
        h.button(".primary", type="submit")["Explain"],
    ]


def _again(asked: RankingAsked) -> h.Element:
    """The same query and settings, for the buttons of the tables, which name a tool."""
    same = asked._replace(tool="", other="")._asdict().items()
    return h.form(id=FORM, method="get", action="/why")[
        [h.input(type="hidden", name=name, value=value) for name, value in same if value]
    ]


def _field(name: str, label: str, value: str, most: int, hint: str) -> h.Element:
    return h.label(class_=f"of-{name}")[
        label,
        h.input(
            type="text",
            name=name,
            value=value,
            maxlength=most,
            placeholder=hint,
            autocomplete="off",
            spellcheck="false",
        ),
    ]


def _choice(name: str, label: str, chosen: str, none: str = "") -> h.Element:
    choices = {**({"": none} if none else {}), **{k: v.label for k, v in ALTERNATIVES.items()}}
    return h.label[
        label,
        h.select(name=name)[
            [
                h.option(value=each, selected=each == chosen)[words]
                for each, words in choices.items()
            ]
        ],
    ]


def _nothing() -> h.Element:
    return empty(
        "Nothing was asked yet",
        "Write what somebody would ask for. You see every candidate with what lifts it, and where"
        " the answer ends. Name a tool to see what keeps it out.",
    )


def _remarks(answer: RankingAnswer) -> h.Node:
    by = "the gateway" if answer.by_gateway else "this process, by your settings"
    return [
        h.p(".hint")[f"Answered by {by}. Nothing of it is recorded."],
        h.p(".flags")["The gateway could not say: ", spelt_short(answer.problem)]
        if answer.problem
        else None,
        None
        if answer.is_ready
        else h.p(".flags")["Some tools have no vectors yet: words count alone. Ask again shortly."],
    ]


def _read_as(ranking: RankingExplanation) -> h.Element:
    """What the query was read as: what was corrected, its variants, its parts."""
    heaviest = max((each.weight for each in ranking.variants), default=1.0)
    return h.section(".read-as", aria_labelledby="read-as")[
        h.h2("#read-as")["Read as"],
        h.p(".about")["Corrected: ", spelt_short(", ".join(ranking.corrections))]
        if ranking.corrections
        else None,
        h.ul(".variants")[
            [
                h.li[
                    h.span(".weight")[share_bar(each.weight / heaviest), f"{each.weight:g}"],
                    h.span(".wording")[spelt_short(each.text)],
                    h.span(".origin")[spelt_short(each.origin)],
                ]
                for each in ranking.variants[:MOST_VARIANTS]
            ]
        ]
        if ranking.variants
        else h.p(".about")["Names or a pattern: nothing is ranked, what fits is the answer."],
        _parts(ranking),
    ]


def _parts(ranking: RankingExplanation) -> h.Node:
    if not ranking.parts:
        return None
    return [
        h.p(".about")["It asks for several things. Each is searched by itself, too:"],
        h.ul(".variants")[
            [
                h.li[
                    h.span(".weight")[share_bar(part.chance, LEVELS), f"{part.chance:.2f}"],
                    h.span(".wording")[spelt_short(part.text)],
                ]
                for part in ranking.parts[:MOST_VARIANTS]
            ]
        ],
    ]
