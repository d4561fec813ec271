"""Tools: the list, by source, state, lint and words; and the map of them all."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import htpy as h

from toolcrib.dashboard.page import PageView, code_words, empty, page, within_room
from toolcrib.dashboard.spelling import spelt_short, visible
from toolcrib.dashboard.tool_catalog import STATES, MapView, ToolFilter, ToolPage, ToolRow
from toolcrib.model import Json, JsonObject

MOST_NAME = 80
OPTIONS_ROOM = 15_000
"""Bytes of HTML that the choices of one field may take."""
LINT = {
    "": "any or none",
    "any": "with findings",
    "error": "with errors",
    "warning": "with warnings",
    "note": "with notes",
    "clean": "without findings",
}
MAP_UNITS = 1_000


def tools_screen(view: PageView, tools: ToolPage) -> h.Element:
    """A page of the list, with its filters."""
    shown, left = within_room([_row(each) for each in tools.rows])
    last = tools.rows[len(shown) - 1].name if shown else ""
    return page(
        view,
        "Tools",
        h.h1["Tools"],
        _views("list"),
        _form(tools),
        None
        if tools.is_linted
        else h.p(".hint")["Lint looks at all tools right now. Load the page again in a moment."],
        _table(tools, shown) if tools.rows else _nothing(tools),
        _more(tools.asked._replace(after=last)) if left or tools.more else None,
        wide=True,
    )


def map_screen(view: PageView, drawn: MapView) -> h.Element:
    """The map: a canvas that a script draws on, and what a click on it tells."""
    return page(
        view,
        "Map of tools",
        h.h1["Tools"],
        _views("map"),
        h.p(".hint")[
            "What means alike lies close together. A dot is a tool, its colour is its source. ",
            "A ring says that lint has found something. The ",
            h.a(href="/tools")["list"],
            " has the same for the keyboard.",
        ],
        h.div(".map")[
            h.canvas("#map", role="img", aria_label="Map of all tools; the list has the same"),
            h.div(".map-side")[
                h.p("#map-state", role="status")[_state_of(drawn)],
                h.section("#map-tool", aria_live="polite"),
                h.ul("#map-sources"),
            ],
        ],
        wide=True,
        script="/static/map.js",
    )


def map_data(drawn: MapView) -> JsonObject:
    """What the script draws: for each tool its place, its source, whether lint has a finding."""
    if drawn.map is None:
        return {"ready": False, "whole": False, "state": _state_of(drawn)}
    flagged = drawn.flagged or frozenset()
    dots: list[Json] = [
        [round(float(x) * MAP_UNITS), round(float(y) * MAP_UNITS), source, name in flagged]
        for name, (x, y), source in zip(
            drawn.map.names, drawn.map.places, drawn.source_of, strict=True
        )
    ]
    return {
        "ready": True,
        "whole": drawn.flagged is not None,
        "state": _state_of(drawn),
        "units": MAP_UNITS,
        "sources": [visible(each) for each in drawn.sources],
        "dots": dots,
        "names": [visible(each) for each in drawn.map.names],
    }


def tool_address(name: str) -> str:
    """The page of one tool."""
    return f"/tool?{urlencode({'name': name})}"


def _state_of(drawn: MapView) -> str:
    if drawn.map is None:
        return "The map is being made."
    if not drawn.map.names:
        return "There are no vectors, so there is no map."
    without = f" {drawn.unmapped} more have no vector, or no room." if drawn.unmapped else ""
    sources = f"{len(drawn.sources)} source{'' if len(drawn.sources) == 1 else 's'}"
    return f"{len(drawn.map.names):,} tools of {sources}.{without}"


def _views(now: str) -> h.Element:
    def item(name: str, path: str) -> h.Element:
        return h.a(href=path, aria_current="page" if name == now else None)[name.capitalize()]

    return h.p(".views")[item("list", "/tools"), item("map", "/map")]


def _form(tools: ToolPage) -> h.Element:
    asked = tools.asked
    return h.form(".ask.tools-form", method="get", action="/tools", role="search")[
        h.label(".of-query")[
            "Words in the name or the description",
            h.input(type="search", name="text", value=asked.text, maxlength=200),
        ],
        _choice("source", "Source", asked.source, {"": "all", **{s: s for s in tools.sources}}),
        _choice("state", "State", asked.state, {"": "any", **{s: s for s in STATES}}),
        _choice("lint", "Lint", asked.lint, LINT),
        h.button(".primary", type="submit")["Show"],
    ]


def _choice(name: str, label: str, chosen: str, choices: Mapping[str, str]) -> h.Element:
    options = [
        h.option(value=value, selected=value == chosen)[visible(words[:MOST_NAME])]
        for value, words in choices.items()
    ]
    return h.label[label, h.select(name=name)[within_room(options, OPTIONS_ROOM)[0]]]


def _table(tools: ToolPage, rows: Sequence[h.Node]) -> h.Element:
    number = f"{tools.fitting:,} of {tools.total:,} tools"
    columns = ("tool", "source", "state", "shown", "may", "lint", "tokens")
    return h.div(".scroll", tabindex="0", role="region", aria_label="Tools")[
        h.table(".tools")[
            h.caption[number],
            h.thead[h.tr[[h.th(scope="col")[each] for each in columns]]],
            h.tbody[rows],
        ]
    ]


def _row(row: ToolRow) -> h.Element:
    return h.tr[
        h.th(scope="row")[h.a(href=tool_address(row.name))[spelt_short(row.name, MOST_NAME)]],
        h.td[spelt_short(row.source, MOST_NAME)],
        h.td[row.state],
        h.td[row.shown],
        h.td[row.permission_kind],
        h.td(class_="found" if row.findings else None, data_label="lint")[
            "…" if row.findings is None else row.findings
        ],
        h.td(".number-cell", data_label="tokens")[f"{row.tokens:,}"],
    ]


def _more(asked: ToolFilter) -> h.Element:
    fields = {name: value for name, value in asked._asdict().items() if value}
    return h.p[h.a(".action", href=f"/tools?{urlencode(fields)}")["Next"]]


def _nothing(tools: ToolPage) -> h.Element:
    if tools.total:
        return empty("No tool fits", "Take a filter away, or use other words.")
    words = "Add a server with `toolcrib add`; in a program, a function with `crib.add`."
    return empty("No tool yet", code_words(words))
