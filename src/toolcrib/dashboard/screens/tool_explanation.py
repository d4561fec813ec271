"""What became of a tool in a search: the verdict, what lifts it against the best, each wording."""

from collections.abc import Iterator, Mapping

import htpy as h

from toolcrib.dashboard.rankings import RankingAnswer
from toolcrib.dashboard.screens.lifts import LIFTS, Lifts, Scale, cells, head, lifts, summed
from toolcrib.dashboard.spelling import spelt_short
from toolcrib.search import ALTERNATIVES, Explanation, Wording

MOST_WORDINGS = 4


def tools_explained(answer: RankingAnswer) -> h.Element:
    """The tools that were asked about, side by side; and the names that are none."""
    first = answer.rankings[0]
    return h.section(".explained", aria_labelledby="tools-title")[
        h.h2("#tools-title")["The tools you asked about"],
        [h.p(".flags")[spelt_short(problem, 400)] for problem in first.unknown.values()],
        h.div(".pair")[[_tool(answer, tool.name) for tool in first.tools]],
        _compared(first.tools),
    ]


def _tool(answer: RankingAnswer, name: str) -> h.Element:
    told = {
        alternative: tool
        for alternative, ranking in zip(answer.asked.alternatives, answer.rankings, strict=True)
        for tool in ranking.tools
        if tool.name == name
    }
    tool = next(iter(told.values()))
    return h.article(".item")[
        h.header[h.h3[spelt_short(name)], h.p(".facts")[h.span["state ", spelt_short(tool.state)]]],
        [
            _verdict(each, alternative if len(told) > 1 else "")
            for alternative, each in told.items()
        ],
        _hidden(tool),
        _wordings(tool),
    ]


def _verdict(tool: Explanation, alternative: str) -> h.Element:
    """What came of it; by which settings, if it is compared."""
    returned = tool.summary.startswith("returned")
    label = f"{ALTERNATIVES[alternative].label}: " if alternative else ""
    return h.p(class_=["verdict", "good" if returned else "bad"])[
        label and h.span(".soft")[label], spelt_short(_sentence(tool.summary))
    ]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _hidden(tool: Explanation) -> h.Node:
    if not tool.hidden:
        return None
    return h.p(".about")["Below is what a search would make of it if this filter were not there."]


def _wordings(tool: Explanation) -> h.Node:
    """The rank that each arm gives, down to its end, by each wording."""
    if not tool.wordings:
        return None
    arms = list(tool.wordings[0].ranks)
    return h.div(".scroll", tabindex="0", role="region", aria_label="Ranks by wording")[
        h.table(".wordings")[
            h.thead[h.tr[h.th(scope="col")["wording"], [h.th(scope="col")[arm] for arm in arms]]],
            h.tbody[[_wording(each) for each in tool.wordings[:MOST_WORDINGS]]],
        ]
    ]


def _wording(wording: Wording) -> h.Element:
    return h.tr[
        h.th(scope="row")[spelt_short(wording.text, 60), h.small[f"weight {wording.weight:g}"]],
        [
            h.td[
                [h.b[rank], h.small[f"{wording.scores[arm]:.2f}"]]
                if rank
                else [h.span(".soft")["not found"]]
            ]
            for arm, rank in wording.ranks.items()
        ],
    ]


def _compared(tools: tuple[Explanation, ...]) -> h.Node:
    """What lifts them, beside the best; nothing where nothing was reckoned."""
    rows = dict(_lifted(tools))
    if not any(any(parts.values()) for parts in rows.values()):
        return None
    scale = Scale.of(rows.values())
    return h.table(".ranking")[
        h.caption["What lifts them above all candidates, by the whole query"],
        head((*LIFTS, "in all")),
        h.tbody[[_row(name, parts, scale) for name, parts in rows.items()]],
    ]


def _lifted(tools: tuple[Explanation, ...]) -> Iterator[tuple[str, Lifts]]:
    for tool in tools:
        if tool.best:
            yield tool.best[0], summed(tool.best_contributions)
            break
    yield from ((tool.name, lifts(tool)) for tool in tools)


def _row(name: str, parts: Mapping[str, float], scale: Scale) -> h.Element:
    return h.tr[
        h.th(scope="row")[spelt_short(name)],
        cells(parts, scale),
        h.td(".score", data_label="in all")[f"{sum(parts.values()):+.2f}"],
    ]
