"""The frame of all pages, and the parts that they are made of. Data goes in, HTML comes out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import htpy as h
from markupsafe import Markup

from toolcrib.dashboard.actions import ACTIONS, ServerTask
from toolcrib.dashboard.login import Notice
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.spelling import spelt, spelt_short, visible

NAVIGATION = {
    "/": "Home",
    "/inbox": "Inbox",
    "/live": "Live",
    "/why": "Why",
    "/servers": "Servers",
    "/gaps": "Gaps",
    "/tools": "Tools",
    "/clients": "Clients",
}
WITHIN = {
    "/event": "/live",
    "/server": "/servers",
    "/tool": "/tools",
    "/map": "/tools",
    "/profile": "/clients",
    "/conversation": "/clients",
}
"""Pages that belong to another one."""
PLAYGROUND = ("/why", "/tools", "/tool", "/map")
"""Pages that there are of a crib in a program, too; the first is where one begins."""
MOST_SHOWN = 24_000
"""Bytes of HTML that a list may take: what is beyond comes when the first are decided on."""
PROBLEMS_ROOM = 6_000
LONGEST_PROBLEM = 600
NEW_LINK = "press Enter where `toolcrib dashboard` runs, or run it again"


@dataclass(frozen=True, slots=True)
class PageView:
    """What every page shows beside its own. `token` signs an action: nothing is done without it.

    `acting_s` is how long buttons work; `may_approve` is what the settings say. `mark` changes when
    the page would. `is_operator`: else it is about a crib in a program, and there are no buttons.
    """

    path: str
    overview: Overview
    token: Callable[[str, Sequence[str]], str]
    acting_s: float = 0.0
    may_approve: bool = True
    notice: Notice | None = None
    mark: str = ""
    tasks: Mapping[str, ServerTask] = field(default_factory=dict[str, ServerTask])
    is_operator: bool = True


def page(
    view: PageView, title: str, *content: h.Node, wide: bool = False, script: str = ""
) -> h.Element:
    """A whole page. A `wide` one is for pictures side by side: it is read, and nothing in it lives.

    So it is not loaded anew while somebody looks at it, or writes into a form of it.
    """
    waiting = view.overview.waiting
    return h.html(lang="en")[
        _head(f"({waiting}) {title}" if waiting else title, "/static/live.js", script),
        h.body(data_mark=view.mark)[
            h.a(".skip", href="#main")["Skip to the content"],
            h.header(".top")[h.a(".brand", href="/")["Toolcrib"], _navigation(view), _level(view)],
            h.main("#main", class_="wide" if wide else None, tabindex="-1", data_still=wide)[
                h.div("#news", role="status", aria_live="polite")[_notice(view.notice)],
                content,
            ],
        ],
    ]


def bare_page(title: str, *content: h.Node, script: str = "") -> h.Element:
    """A page for somebody who is not logged in: nothing of ours is on it."""
    return h.html(lang="en")[
        _head(title, script),
        h.body[
            h.header(".top")[h.span(".brand")["Toolcrib"]],
            h.main("#main.narrow")[h.h1[title], content],
        ],
    ]


def _head(title: str, *scripts: str) -> h.Element:
    return h.head[
        h.meta(charset="utf-8"),
        h.meta(name="viewport", content="width=device-width, initial-scale=1"),
        h.meta(name="color-scheme", content="light dark"),
        h.title[f"{title} · Toolcrib"],
        h.link(rel="icon", href="data:,"),
        h.link(rel="stylesheet", href="/static/dashboard.css"),
        [h.script(type="module", src=each) for each in scripts if each],
    ]


def _navigation(view: PageView) -> h.Element:
    def item(path: str, words: str) -> h.Element:
        here = "page" if view.path == path else "true" if WITHIN.get(view.path) == path else None
        count = view.overview.waiting if path == "/inbox" else 0
        return h.li[h.a(href=path, aria_current=here)[words, _count(count)]]

    return h.nav(aria_label="Screens")[
        h.ul[
            [
                item(path, words)
                for path, words in NAVIGATION.items()
                if view.is_operator or path in PLAYGROUND
            ]
        ]
    ]


def _count(number: int) -> h.Node:
    if not number:
        return None
    return [" ", h.span(".count")[number, h.span(".unseen")[" waiting"]]]


def _level(view: PageView) -> h.Element:
    if not view.is_operator:
        return h.p(".level")["A crib in a program"]
    if left_s := view.acting_s:
        return h.p(".level", data_acting=f"{left_s:.0f}")["You can act for ", _minutes(left_s)]
    return h.p(".level")["View only"]


def _minutes(seconds: float) -> str:
    return f"{max(1, round(seconds / 60))} min"


def _notice(notice: Notice | None) -> h.Node:
    if notice is None:
        return None
    return h.p(class_=["notice", "bad" if notice.is_bad else "good"])[spelt(notice.text)]


def button(view: PageView, action: str, subject: Sequence[str], about: str) -> h.Element:
    """A button that does one thing to one subject. `about` says to what, for a screen reader.

    It does nothing while the person may not act.
    """
    known = ACTIONS[action]
    works = view.acting_s > 0 and (view.may_approve or not known.approves)
    style = "primary" if known.approves else None
    words = [known.label, h.span(".unseen")[f": {visible(about)}"]]
    if not works:
        return h.button(class_=style, type="button", disabled=True)[words]
    return h.form(method="post", action=f"/act/{action}")[
        [h.input(type="hidden", name="subject", value=each) for each in subject],
        h.input(type="hidden", name="token", value=view.token(action, subject)),
        h.button(class_=style, type="submit")[words],
    ]


def why_no_buttons(view: PageView, *, approving: bool = False) -> h.Node:
    """Why buttons do nothing, where that is so."""
    if approving and not view.may_approve:
        return h.p(".hint")[
            "Approving here is switched off by ", h.code['dashboard.approve = "never"'], "."
        ]
    return None if view.acting_s else h.p(".hint")["To act, ", code_words(NEW_LINK), "."]


def code_words(text: str) -> list[h.Node]:
    """Words of ours; what stands between backticks is code."""
    return [h.code[part] if place % 2 else part for place, part in enumerate(text.split("`"))]


def within_room(items: Sequence[h.Element], room: int = MOST_SHOWN) -> tuple[list[Markup], int]:
    """As many of the items as have room in so many bytes, at least one; how many are left."""
    shown: list[Markup] = []
    for item in items:
        html = Markup(str(item))  # noqa: S704 - what htpy made is escaped
        room -= len(html.encode("utf-8", "replace"))
        if shown and room < 0:
            break
        shown.append(html)
    return shown, len(items) - len(shown)


def empty(title: str, *words: h.Node) -> h.Element:
    """What stands where there is nothing: that this is well, and what would be here."""
    return h.div(".empty")[h.p(".empty-title")[title], h.p[words]]


def problems_of(problems: Sequence[str]) -> h.Node:
    """What is wrong, each with its remedy."""
    if not problems:
        return None
    shown, left = within_room(
        [h.li[spelt_short(each, LONGEST_PROBLEM)] for each in problems], PROBLEMS_ROOM
    )
    return h.ul(".problems")[shown, h.li[f"and {left} more"] if left else None]
