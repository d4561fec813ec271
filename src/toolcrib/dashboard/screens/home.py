"""Home: what needs the operator; then, quietly, what the last day was like."""

from typing import NamedTuple

import htpy as h

from toolcrib.dashboard.bars import chart
from toolcrib.dashboard.event_queries import DayFigures
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.page import PageView, code_words, empty, page, problems_of
from toolcrib.dashboard.screens.event_rows import duration
from toolcrib.dashboard.spelling import spelt

MOST_NAMED = 5
BROWSER_RISK = (
    "such a tool could press the buttons of this page while they work, which is for 15 minutes"
    ' after you open a link. To rule that out, set `dashboard.approve = "never"`.'
)


class HomeFacts(NamedTuple):
    """What Home tells beside what waits. `browser_servers` have tools that drive a browser."""

    browser_servers: tuple[str, ...] = ()
    day: DayFigures = DayFigures("empty")


NO_FACTS = HomeFacts()


def home_screen(view: PageView, facts: HomeFacts = NO_FACTS) -> h.Element:
    """What needs the operator, each with its way there, or that nothing does; then the day."""
    overview = view.overview
    needs = [each for each in _needs(overview) if each is not None]
    return page(
        view,
        "Home",
        h.div("#live", data_live=True)[
            h.h1["Needs you" if needs else "All is well"],
            problems_of(overview.problems),
            h.ul(".needs")[needs] if needs else _nothing(overview),
            _warning(facts.browser_servers),
            _day(facts.day),
            _gateway(overview),
        ],
    )


def _day(day: DayFigures) -> h.Node:
    """The last 24 hours in figures. Where there are none, nothing is said of them."""
    if day.log == "off":
        return h.p(".hint")[code_words("Events are not logged: `observe.enabled` is off.")]
    if not (day.searches or day.calls or day.how):
        return None
    p95 = duration(day.p95_s) if day.calls else "–"
    figures = {
        "searches": (f"{day.searches:,}", "/live?kind=search"),
        "calls": (f"{day.calls:,}", "/live?kind=call"),
        "errors": (f"{day.errors:,}", "/live?kind=call&outcome=failed"),
        "p95 of calls": (p95, "/gaps#slow"),
    }
    return h.section(".day", aria_labelledby="day-title")[
        h.h2("#day-title")["The last 24 hours"],
        h.ul(".figures")[
            [
                h.li(class_="some" if name == "errors" and day.errors else None)[
                    h.a(href=where)[h.span(".figure")[value], " ", name]
                ]
                for name, (value, where) in figures.items()
            ]
        ],
        _tokens(day),
    ]


def _tokens(day: DayFigures) -> h.Node:
    """Tokens that lists were shorter, by the hour, and how that is known."""
    if not day.how:
        return None
    most = max((each.saved for each in day.hours), default=0)
    words = f"{short_number(day.saved)} tokens saved"
    return h.div(".saved")[
        h.p[h.span(".figure")[short_number(day.saved)], " tokens saved"],
        chart([each.saved for each in day.hours], f"{words}, by the hour; at most {most:,}"),
        h.p(".hint")[
            spelt(day.how),
            "; per ",
            h.code["tools/list"],
            " seen; prompt caches are not seen. ",
            "Saved is what all definitions would cost, less what was sent.",
        ],
    ]


def short_number(number: int) -> str:
    """A number in a few figures."""
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if abs(number) >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def _needs(overview: Overview) -> list[h.Element | None]:
    failed = [each.server for each in overview.failed]
    return [
        _need(len(overview.calls), "call", "waits for your approval", "/inbox#calls"),
        _need(overview.definitions_waiting, "definition", "waits for review", "/inbox#definitions"),
        _need(len(overview.logins), "server", "wants a login", "/inbox#logins"),
        _need(len(failed), "server", "did not start", "/servers", failed),
    ]


def _need(
    number: int, noun: str, verb: str, where: str, names: list[str] | None = None
) -> h.Element | None:
    if not number:
        return None
    if number > 1:
        noun, verb = f"{noun}s", _plural(verb)
    named = [[", " if place else "", spelt(each)] for place, each in enumerate(names or ())]
    return h.li[
        h.a(href=where)[h.span(".number")[number], h.span[f"{noun} {verb}"]],
        named and h.p(".named")[named[:MOST_NAMED], len(named) > MOST_NAMED and " and more"],
    ]


def _plural(verb: str) -> str:
    first, _, rest = verb.partition(" ")
    return f"{first if first == 'did' else first.removesuffix('s')} {rest}"


def _nothing(overview: Overview) -> h.Element:
    if not overview.servers:
        return empty(
            "No MCP server yet",
            code_words("Add one with `toolcrib add`, or take over those of your clients with "),
            h.code["toolcrib import"],
            ".",
        )
    return empty(
        "Nothing waits for you",
        "Calls to approve, changed definitions and logins appear here by themselves.",
    )


def _warning(servers: tuple[str, ...]) -> h.Node:
    if not servers:
        return None
    names = [[", " if place else "", spelt(each)] for place, each in enumerate(servers)]
    return h.div(".warning")[
        h.h2["A tool here can drive a browser"],
        h.p[
            names[:MOST_NAMED],
            ": ",
            code_words(BROWSER_RISK),
        ],
    ]


def _gateway(overview: Overview) -> h.Element:
    number = len(overview.servers)
    servers = h.a(href="/servers")[f"{number} server{'' if number == 1 else 's'}"]
    up = sum(each.state == "ready" for each in overview.servers)
    if overview.has_gateway:
        return h.p(".state")["The gateway runs. ", servers, f" configured, {up} up."]
    return h.p(".state")[
        "No gateway runs, so no call can wait here. It starts with the first client, or with ",
        h.code["toolcrib serve"],
        ". ",
        servers,
        " configured.",
    ]
