"""Inbox: the calls to approve, the definitions to review, the logins.

What is decided on is what is shown: a call by its ticket, a definition by its full pin. What is too
long to be shown whole cannot be allowed here.
"""

from collections.abc import Sequence

import htpy as h

from toolcrib.dashboard.operations import NO_DEFINITIONS, Definitions, WaitingCall
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
from toolcrib.dashboard.spelling import json_text, spelt, spelt_change, spelt_lines, visible
from toolcrib.review import Change, ReviewItem
from toolcrib.sources.mcp import ServerStatus

LONGEST_SHOWN = 8_000
LONGEST_DESCRIPTION = 300
PIN_SHOWN = 12
KINDS = {"read": "reads", "write": "writes", "network": "network", "dangerous": "destroys"}
STATUS = {"changed": "changed since you approved it", "unreviewed": "new"}


def inbox_screen(view: PageView, definitions: Definitions = NO_DEFINITIONS) -> h.Element:
    """Everything that waits, oldest first."""
    overview = view.overview
    items = {
        ("calls", "Calls to approve"): [_call(view, each) for each in overview.calls],
        ("definitions", "Definitions to review"): [
            _definition(view, each) for each in definitions.waiting
        ],
        ("logins", "Logins"): [_login(view, each) for each in overview.logins],
    }
    sections = [_section(*title, some) for title, some in items.items() if some]
    return page(
        view,
        "Inbox",
        h.h1["Inbox"],
        problems_of((*overview.problems, *definitions.problems)),
        h.div("#live", data_live=True)[sections or _nothing(view)],
        _rejected(definitions.rejected),
    )


def _section(name: str, title: str, items: Sequence[h.Element]) -> h.Element:
    shown, left = within_room(items)
    more = f"{left} more wait: they come when these are decided on."
    return h.section(id=name, aria_labelledby=f"{name}-title")[
        h.h2(id=f"{name}-title")[title, " ", h.span(".count")[len(items)]],
        h.div(".items")[shown],
        h.p(".hint")[more] if left else None,
    ]


def _nothing(view: PageView) -> h.Element:
    if view.overview.has_gateway:
        return empty(
            "Nothing waits for you",
            "Calls that need your approval, tools whose definition has changed, and logins appear"
            " here by themselves.",
        )
    return empty(
        "Nothing waits for you",
        "No gateway runs, so no call can wait. It starts with the first client, or with ",
        h.code["toolcrib serve"],
        ".",
    )


def _call(view: PageView, call: WaitingCall) -> h.Element:
    arguments = json_text(call.arguments)
    too_long = len(arguments) > LONGEST_SHOWN
    subject, about = (call.id,), f"{call.name} for {call.caller}"
    return h.article(".item", data_key=call.id, data_left=f"{call.expires_s:.0f}")[
        h.header[
            h.h3[spelt(call.name)],
            h.p(".facts")[
                h.span(class_=["kind", call.permission_kind])[
                    KINDS.get(call.permission_kind, call.permission_kind)
                ],
                h.span["for ", spelt(call.caller)],
                h.span(".left")[_left(call.expires_s)],
            ],
        ],
        call.description and h.p(".about")[spelt(_short(call.description))],
        h.pre(tabindex="0", aria_label="Arguments")[spelt_lines(arguments[:LONGEST_SHOWN])],
        too_long and _too_long(len(arguments), f"toolcrib approvals allow {call.id}"),
        h.footer[
            button(view, "deny_call", subject, about),
            None if too_long else button(view, "allow_call", subject, about),
        ],
        why_no_buttons(view, approving=True),
    ]


def _left(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02} left"


def _definition(view: PageView, item: ReviewItem) -> h.Element:
    changes = [_change(each) for each in item.changes]
    size = sum(len(each.old or "") + len(each.new or "") for each in item.changes)
    subject, about = (item.server, item.tool, item.pin), item.spelt_out
    too_long = size > 2 * LONGEST_SHOWN
    return h.article(".item", data_key="\n".join(subject))[
        h.header[
            h.h3[spelt(item.name)],
            h.p(".facts")[
                h.span(class_=["kind", item.status])[STATUS.get(item.status, item.status)],
                h.span["of ", spelt(item.server)],
                h.span["pin ", h.code(title=item.pin)[visible(item.pin[:PIN_SHOWN])]],
            ],
        ],
        _flagged("Hidden in it", item.hidden or item.flags),
        _flagged("By its name it could be a tool of", item.overlaps),
        _configuration(item.configuration),
        None if too_long else h.div(".changes")[changes],
        too_long and _too_long(size, f"toolcrib review {item.server}"),
        h.footer[
            button(view, "reject_definition", subject, about),
            None if too_long else button(view, "approve_definition", subject, about),
        ],
        why_no_buttons(view, approving=True),
    ]


def _flagged(words: str, names: Sequence[str]) -> h.Node:
    return h.p(".flags")[f"{words}: ", spelt(", ".join(names))] if names else None


def _configuration(changes: Sequence[Change]) -> h.Node:
    if not changes:
        return None
    return [
        h.p(".about")["Its server has another configuration now:"],
        h.div(".changes")[[_change(each) for each in changes]],
    ]


def _change(change: Change) -> h.Element:
    old, new = change.old, change.new
    return h.div(".change")[
        h.p(".field")[spelt(change.field)],
        old is not None and h.del_[_unseen("before: "), spelt_change(old, new or "")],
        new is not None and h.ins[_unseen("now: "), spelt_change(new, old or "")],
    ]


def _unseen(words: str) -> h.Element:
    return h.span(".unseen")[words]


def _login(view: PageView, status: ServerStatus) -> h.Element:
    task = view.tasks.get(status.server)
    link = task.link if task else ""
    return h.article(".item", data_key=f"login {status.server}")[
        h.header[h.h3[spelt(status.server)], h.p(".facts")[h.span["wants a login"]]],
        h.p(".about")[spelt(task.words), "."] if task and task.words else None,
        h.footer[login_link(link) or button(view, "log_in", (status.server,), status.server)],
        why_no_buttons(view),
    ]


def login_link(link: str) -> h.Node:
    """The page where a person agrees, at somebody else's; nothing where it is no web page."""
    if not link.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        return None
    return h.a(".action", href=link, target="_blank", rel="noopener noreferrer")[
        "Open the login page"
    ]


def _too_long(size: int, command: str) -> h.Element:
    return h.p(".flags")[
        f"Too long to be shown here whole ({size:,} characters). Decide in the terminal: ",
        h.code[visible(command)],
    ]


def _rejected(number: int) -> h.Node:
    if not number:
        return None
    are = "definition stays" if number == 1 else "definitions stay"
    words = f"{number} rejected {are} out; `toolcrib review` lists what was rejected."
    return h.p(".hint")[code_words(words)]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[:LONGEST_DESCRIPTION]}…"
