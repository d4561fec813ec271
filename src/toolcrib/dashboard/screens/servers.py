"""Servers: how each one is, and what to do about it; and one server with the end of its log."""

from datetime import UTC, datetime
from urllib.parse import quote

import htpy as h

from toolcrib.dashboard.operations import ServerLogTail
from toolcrib.dashboard.page import (
    PageView,
    button,
    code_words,
    empty,
    page,
    problems_of,
    why_no_buttons,
    within_room,
)
from toolcrib.dashboard.screens.inbox import login_link
from toolcrib.dashboard.spelling import spelt, spelt_lines
from toolcrib.sources.mcp import ServerStatus

STATES = {
    "ready": "up",
    "asleep": "asleep",
    "needs_login": "wants a login",
    "disabled": "disabled",
    "failed": "failed",
}
LONGEST_LOG = 20_000
BUTTON_HELPS = ("needs_login", "unknown")


def servers_screen(view: PageView) -> h.Element:
    """All servers, those that need somebody first."""
    servers = sorted(view.overview.servers, key=lambda each: (_rank(each), each.server))
    shown, left = within_room([_row(view, each) for each in servers])
    rows = h.div(".servers.items")[shown]
    return page(
        view,
        "Servers",
        h.h1["Servers"],
        problems_of(view.overview.problems),
        None if view.overview.has_gateway else _no_gateway(),
        why_no_buttons(view),
        h.div("#live", data_live=True)[rows if servers else _nothing()],
        h.p(".hint")[f"{left} more are not shown here."] if left else None,
    )


def server_screen(view: PageView, shown: ServerLogTail) -> h.Element:
    """One server: facts, what is wrong, what it wrote last."""
    status = next((each for each in view.overview.servers if each.server == shown.server), None)
    back = h.p(".back")[h.a(href="/servers")["All servers"]]
    if status is None:
        none = empty("No such server", "It was removed, or it has another name now.")
        return page(view, "Server", back, h.h1["Server"], none)
    log = "\n".join(shown.lines)[-LONGEST_LOG:]
    return page(
        view,
        "Server",
        back,
        h.h1[spelt(status.server)],
        h.div("#live", data_live=True)[h.div(".items")[_row(view, status, whole=True)]],
        why_no_buttons(view),
        h.h2["Log"],
        h.pre(".log", tabindex="0", aria_label="Log")[spelt_lines(log)]
        if log
        else empty("No log yet", "It was never started. Its starts, ends and stderr come here."),
    )


def _row(view: PageView, status: ServerStatus, *, whole: bool = False) -> h.Element:
    task = view.tasks.get(status.server)
    doing = (task and task.words) or status.starting or ("listing" if status.listing else "")
    state, notice = "busy" if doing else _state(status), task.notice if task else None
    name: h.Node = spelt(status.server)
    return h.article(class_=["item", "server", state], data_key=f"server {status.server}")[
        h.header[
            None if whole else h.h2[h.a(href=_address(status.server))[name]],
            h.p(".facts")[
                h.span(class_=["state-word", state])[spelt(doing or STATES.get(state, state))],
                [h.span[each] for each in _facts(status)],
            ],
        ],
        _reason(status, whole=whole),
        h.p(class_={"about": True, "bad": notice.is_bad})[spelt(notice.text)] if notice else None,
        h.footer[_buttons(view, status, whole=whole)],
    ]


def _address(server: str) -> str:
    return f"/server?name={quote(server, safe='')}"


def _facts(status: ServerStatus) -> list[str]:
    waiting = f", {status.waiting} to review" if status.waiting else ""
    facts = [
        f"{status.tools} tool{'' if status.tools == 1 else 's'}{waiting}",
        f"{status.memory_bytes / 1e6:.0f} MB" if status.memory_bytes else "",
        f"starts in {status.start_s:.1f} s" if status.start_s else "",
        f"listed {_when(status.seen)}" if status.seen else "never listed",
        status.transport,
    ]
    return [each for each in facts if each]


def _reason(status: ServerStatus, *, whole: bool) -> h.Node:
    """What is wrong with it, and what to do; not where a button stands below that does it."""
    code = status.unavailable.code if status.unavailable else ""
    if status.state == "disabled" or code in BUTTON_HELPS or not status.reason:
        return None
    remedy: h.Node = [" → ", h.code[spelt(status.remedy)]] if status.remedy else None
    if code == "unreviewed":
        remedy = [" → ", h.a(href="/inbox#definitions")["review them"]]
    elif status.remedy == f"toolcrib logs {status.server}":
        remedy = None if whole else [" → ", h.a(href=_address(status.server))["see its log"]]
    return h.p(".about")[spelt(status.reason), remedy]


def _buttons(view: PageView, status: ServerStatus, *, whole: bool) -> list[h.Node]:
    task, subject = view.tasks.get(status.server), (status.server,)
    link = login_link(task.link) if task else None
    names = {
        "disabled": ["enable"],
        "needs_login": ["log_in", "disable"],
        "ready": ["refresh", "stop", "disable"],
    }.get(status.state, ["start" if view.overview.has_gateway else "refresh", "disable"])
    if whole and status.transport != "stdio" and status.state == "ready":
        names = [*names, "log_out"]
    buttons = [
        button(view, each, subject, status.server)
        for each in names
        if not (link and each == "log_in")
    ]
    return [link, *buttons]


def _state(status: ServerStatus) -> str:
    return "failed" if status.failure and status.state == "asleep" else status.state


def _rank(status: ServerStatus) -> int:
    state = _state(status)
    order = ["failed", "needs_login", "ready", "asleep", "disabled"]
    return order.index(state) if state in order else len(order)


def _when(since: float) -> str:
    """The time of today, or the day of another."""
    when, now = datetime.fromtimestamp(since, UTC).astimezone(), datetime.now(UTC).astimezone()
    return when.strftime("%H:%M" if when.date() == now.date() else "%Y-%m-%d")


def _no_gateway() -> h.Element:
    words = "No gateway runs: this is what was known last. `toolcrib serve` starts one."
    return h.p(".hint")[code_words(words)]


def _nothing() -> h.Element:
    return empty(
        "No MCP server yet",
        code_words("Add one with `toolcrib add`, or take over those of your clients with "),
        h.code["toolcrib import"],
        ".",
    )
