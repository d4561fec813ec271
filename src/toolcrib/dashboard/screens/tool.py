"""One tool: what it says of itself, how it is, what is wrong with it, what it is near to."""

from collections.abc import Sequence

import htpy as h

from toolcrib.dashboard.bars import share_bar
from toolcrib.dashboard.page import PageView, empty, page
from toolcrib.dashboard.rankings import LONGEST_QUERY
from toolcrib.dashboard.screens.inbox import KINDS
from toolcrib.dashboard.screens.tools import tool_address
from toolcrib.dashboard.spelling import json_text, spelt_lines, spelt_short, visible
from toolcrib.dashboard.tool_catalog import USE_DAYS, NearTool, ToolDetails, ToolUse
from toolcrib.model import ASKS, JsonObject, ToolInfo

LONGEST_SHOWN = 3_500
LONGEST_NAME = 80
LONGEST_PIN = 80
LONGEST_MESSAGE = 200
PIN_SHOWN = 12
MOST_FINDINGS = 8
MOST_CONFUSED = 5
RULES = {"ask": ASKS, "deny": "a rule denies it"}


def tool_screen(view: PageView, tool: ToolDetails | None) -> h.Element:
    """All about one tool."""
    back = h.p(".back")[h.a(href="/tools")["All tools"]]
    if tool is None:
        none = empty("No such tool", "It was removed, or it has another name now.")
        return page(view, "Tool", back, h.h1["Tool"], none, wide=True)
    return page(
        view,
        "Tool",
        back,
        h.h1(".name")[spelt_short(tool.entry.name, LONGEST_NAME)],
        _facts(tool),
        _remedy(tool),
        _why(tool),
        h.div(".columns")[
            h.div[_description(tool), _schema(tool)],
            h.div[_findings(tool), _use(tool.use), _near(tool)],
        ],
        wide=True,
    )


def tool_data(tool: ToolDetails | None) -> JsonObject:
    """What the map tells of one tool, for its script."""
    if tool is None:
        return {}
    entry = tool.entry
    facts = [entry.owner_label, entry.state, f"{tool.tokens:,} tokens", _use_words(tool.use)]
    return {
        "name": visible(entry.name),
        "address": tool_address(entry.name),
        "facts": [visible(each) for each in facts],
        "findings": [visible(each.message[:300]) for each in (tool.findings or ())[:3]],
        "nearest": [_near_data(each) for each in tool.nearest or ()],
        "confused": [_near_data(each) for each in tool.confused[:MOST_CONFUSED]],
    }


def _near_data(near: NearTool) -> JsonObject:
    return {
        "name": visible(near.name),
        "source": visible(near.source),
        "cosine": f"{near.cosine:.2f}",
        "address": tool_address(near.name),
    }


def _facts(tool: ToolDetails) -> h.Element:
    entry = tool.entry
    kind = entry.permission_kind
    facts: list[h.Node] = [
        [h.span(class_=["kind", kind])[KINDS.get(kind, kind)]],
        entry.kind,
        ["of ", spelt_short(entry.owner_label, LONGEST_NAME)],
        entry.state,
        RULES.get(tool.rules),
        [h.span(title=tool.how)[f"{tool.tokens:,} tokens"]],
        ["pin ", h.code(title=visible(entry.pin[:LONGEST_PIN]))[visible(entry.pin[:PIN_SHOWN])]]
        if entry.pin
        else None,
    ]
    return h.p(".facts")[[h.span[each] for each in facts if each]]


def _remedy(tool: ToolDetails) -> h.Node:
    entry = tool.entry
    return [
        h.p(".about")[f"{entry.state}: ", spelt_short(entry.remedy, 300)] if entry.remedy else None,
        h.p(".flags")[
            "Hidden in it, and taken out: ", spelt_short(", ".join(entry.capability.flags))
        ]
        if entry.capability.flags
        else None,
    ]


def _why(tool: ToolDetails) -> h.Element:
    return h.form(".ask.one", method="get", action="/why", role="search")[
        h.input(type="hidden", name="tool", value=tool.entry.name[:LONGEST_NAME]),
        h.label(".of-query")[
            "Is it found for this?",
            h.input(type="text", name="query", maxlength=LONGEST_QUERY, required=True),
        ],
        h.button(".primary", type="submit")["Explain"],
    ]


def _description(tool: ToolDetails) -> h.Element:
    text = tool.entry.description
    return h.section(aria_labelledby="description")[
        h.h2("#description")["Description"],
        h.p(".about")[spelt_short(tool.entry.title)] if tool.entry.title else None,
        _long(text) if text else h.p(".flags")["It has none: no search by meaning finds it."],
    ]


def _schema(tool: ToolDetails) -> h.Node:
    capability = tool.entry.capability
    if not isinstance(capability, ToolInfo):
        return None
    return h.section(aria_labelledby="schema")[
        h.h2("#schema")["Parameters"],
        h.p(".flags")[spelt_short(capability.schema_problem, 300)]
        if capability.schema_problem
        else None,
        _long(json_text(capability.parameters)),
        [h.h2["Annotations"], _long(json_text(capability.annotations), LONGEST_SHOWN // 4)]
        if capability.annotations
        else None,
    ]


def _long(text: str, most: int = LONGEST_SHOWN) -> h.Node:
    """A text with its lines, up to a bound; and that there is more."""
    shown = visible(text[:most])
    cut = len(text) > most or len(shown) > most
    return [
        h.pre(tabindex="0")[spelt_lines(shown[:most])],
        h.p(".hint")[f"The beginning of {len(text):,} characters."] if cut else None,
    ]


def _findings(tool: ToolDetails) -> h.Element:
    found = tool.findings
    return h.section(aria_labelledby="lint")[
        h.h2("#lint")["Lint"],
        h.p(".hint")["Lint looks at all tools right now. Load the page again in a moment."]
        if found is None
        else None,
        h.p(".hint")["Nothing to put right."] if found is not None and not found else None,
        h.ul(".findings")[
            [
                h.li[
                    h.strong(class_=each.severity)[each.severity],
                    f" {each.rule}: ",
                    spelt_short(each.message, LONGEST_MESSAGE),
                    _other(each.neighbour),
                ]
                for each in found[:MOST_FINDINGS]
            ]
        ]
        if found
        else None,
    ]


def _other(name: str) -> h.Node:
    return [" → ", _link(name)] if name else None


def _link(name: str) -> h.Element:
    return h.a(href=tool_address(name[:LONGEST_NAME]))[spelt_short(name, LONGEST_NAME)]


def _use(use: ToolUse | None) -> h.Element:
    return h.section(aria_labelledby="use")[
        h.h2("#use")[f"Use in {USE_DAYS} days"], h.p[_use_words(use)]
    ]


def _use_words(use: ToolUse | None) -> str:
    if use is None:
        return "nothing is logged"
    if not use.calls:
        return f"not called in {USE_DAYS} days"
    mean = f"{use.seconds / use.calls:.1f} s on average"
    times = "once" if use.calls == 1 else f"{use.calls:,} times"
    return f"called {times} in {USE_DAYS} days, {use.failed:,} failed, {mean}"


def _near(tool: ToolDetails) -> h.Node:
    if tool.nearest is None:
        return h.p(".hint")["The map of all tools is being made: what is near comes with it."]
    return [
        _list("confused", "May be confused with", tool.confused[:MOST_CONFUSED]),
        _list("nearest", "Nearest in meaning", tool.nearest),
    ]


def _list(id: str, title: str, tools: Sequence[NearTool]) -> h.Node:
    if not tools:
        return None
    return h.section(aria_labelledby=id)[
        h.h2(id=id)[title],
        h.ol(".near")[
            [
                h.li[
                    h.span(".weight")[share_bar(each.cosine), f"{each.cosine:.2f}"],
                    h.span(".wording")[_link(each.name)],
                    h.span(".origin")[spelt_short(each.source, 60)],
                ]
                for each in tools
            ]
        ],
    ]
