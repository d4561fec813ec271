"""Home: what needs the operator, and nothing else."""

import htpy as h

from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.page import PageView, code_words, empty, page, problems_of
from toolcrib.dashboard.spelling import spelt

MOST_NAMED = 5
BROWSER_RISK = (
    "such a tool could press the buttons of this page while they work, which is for 15 minutes"
    ' after you open a link. To rule that out, set `dashboard.approve = "never"`.'
)


def home_screen(view: PageView, browser_servers: tuple[str, ...] = ()) -> h.Element:
    """What needs the operator, each with its way there; or that nothing does.

    `browser_servers` have tools that drive a browser.
    """
    overview = view.overview
    needs = [each for each in _needs(overview) if each is not None]
    return page(
        view,
        "Home",
        h.h1["Needs you" if needs else "All is well"],
        problems_of(overview.problems),
        h.ul(".needs")[needs] if needs else _nothing(overview),
        _warning(browser_servers),
        _gateway(overview),
    )


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
