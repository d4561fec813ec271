"""Live: searches and calls as they come, and those before, page by page.

Without a script it is a list with filters. With one, new rows come on top: see `static/stream.js`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self, get_args
from urllib.parse import urlencode

import htpy as h
from markupsafe import Markup

from toolcrib.dashboard.event_queries import EventPage, EventQueries, LogState
from toolcrib.dashboard.page import PageView, code_words, empty, page, problems_of, within_room
from toolcrib.dashboard.screens.event_rows import event_row, event_table
from toolcrib.dashboard.spelling import visible
from toolcrib.model import Event, EventKind

ROOM = 32_000
CHOICES_ROOM = 6_000
LONGEST_NAME = 200
ID_DIGITS = 15
OUTCOMES = {"": "any", "ok": "ok", "failed": "failed"}
NO_LOG: Mapping[LogState, tuple[str, str]] = {
    "off": (
        "Events are not logged",
        "Set `observe.enabled = true`, and a `store` that is a file, and they appear here.",
    ),
    "empty": (
        "Nothing has happened yet",
        "The first search or call of a client appears here. `toolcrib serve` starts the gateway.",
    ),
}


class LiveChoice(NamedTuple):
    """What somebody wants to see. `before` is the id that a page of older events ends at."""

    kind: str = ""
    client: str = ""
    server: str = ""
    outcome: str = ""
    before: int = 0

    @classmethod
    def of_fields(cls, field: Callable[[str], str]) -> Self:
        """As the fields of a request say; what is none of the choices says nothing."""
        kind, outcome, before = field("kind"), field("outcome"), field("before")
        return cls(
            kind if kind in get_args(EventKind) else "",
            field("client")[:LONGEST_NAME],
            field("server")[:LONGEST_NAME],
            outcome if outcome in OUTCOMES else "",
            id_of(before),
        )

    def query(self, before: int = 0) -> str:
        """The same as the fields of a request, for an older page if `before` says so."""
        chosen = {**self._asdict(), "before": before or ""}
        return urlencode({name: value for name, value in chosen.items() if value}, errors="replace")


def id_of(text: str) -> int:
    """The id of an event, as a field of a request has it; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= ID_DIGITS else 0


@dataclass(frozen=True, slots=True)
class LiveEvents:
    """A page of events, by what was chosen, and the clients that can be chosen."""

    choice: LiveChoice
    found: EventPage
    clients: Sequence[str] = ()


def load_live(queries: EventQueries, choice: LiveChoice) -> LiveEvents:
    """The events that were chosen. Raises `ToolcribError`."""
    kind, client, server, outcome, before = choice
    which = queries.filter_of(kind, client, server, outcome)
    return LiveEvents(choice, queries.page(which, before), queries.clients())


def live_screen(view: PageView, live: LiveEvents) -> h.Element:
    """The newest events, or older ones, that fit."""
    found, choice = live.found.events, live.choice
    rows, left = event_rows(found)
    last = list(found)[len(rows) - 1] if rows else 0
    older = f"/live?{choice.query(last)}" if left or live.found.more else ""
    return page(
        view,
        "Live",
        h.div(".headline")[h.h1["Live"], None if choice.before else _controls()],
        problems_of(view.overview.problems),
        _filters(view, live),
        h.div("#stream", data_stream=None if choice.before else _stream(live))[
            event_table(rows, "Events, the newest first"),
            None if rows else _nothing(live),
        ],
        h.p(".pages")[
            h.a(href=f"/live?{choice.query()}")["Newest"] if choice.before else None,
            h.a(href=older, rel="next")["Older"] if older else None,
        ],
        h.dialog("#drawer", aria_label="One event, and what came before and after it")[
            h.form(method="dialog")[h.button["Close"]], h.div("#drawer-content")
        ],
        wide=True,
    )


def _stream(live: LiveEvents) -> str:
    """Where what comes after this page is told."""
    chosen = live.choice.query()
    return f"/stream?{chosen}{'&' if chosen else ''}after={live.found.newest}"


def event_rows(events: Mapping[int, Event]) -> tuple[list[Markup], int]:
    """As many of these as a page has room for; how many are left."""
    if not events:
        return [], 0
    return within_room([event_row(id, each) for id, each in events.items()], ROOM)


def _controls() -> h.Element:
    """For the script: it shows them."""
    return h.p(".stream-controls", hidden=True)[
        h.span("#stream-state", role="status")["Live"],
        h.button("#pause", type="button", aria_pressed="false")["Pause"],
    ]


def _filters(view: PageView, live: LiveEvents) -> h.Element:
    choice = live.choice
    servers = [each.server for each in view.overview.servers]
    kinds = {"": "all", **{each: each for each in get_args(EventKind)}}
    return h.form(".filters", method="get", action="/live")[
        _select("kind", "Kind", kinds, choice.kind),
        _select("client", "Client", _choices(live.clients, choice.client), choice.client),
        _select("server", "Server", _choices(servers, choice.server), choice.server),
        _select("outcome", "Ended", OUTCOMES, choice.outcome),
        h.button(type="submit")["Show"],
    ]


def _choices(names: Sequence[str], chosen: str) -> Mapping[str, str]:
    """All, and each of these names; the one that is chosen among them."""
    some = dict.fromkeys((chosen, *names))
    return {"": "all", **{each: visible(each)[:60] for each in some if each}}


def _select(name: str, label: str, choices: Mapping[str, str], chosen: str) -> h.Element:
    options = [
        h.option(value=value, selected=value == chosen)[words] for value, words in choices.items()
    ]
    return h.label[label, h.select(name=name)[within_room(options, CHOICES_ROOM)[0]]]


def _nothing(live: LiveEvents) -> h.Element:
    if live.found.log in NO_LOG:
        title, words = NO_LOG[live.found.log]
        return empty(title, code_words(words))
    return empty("Nothing fits", "No event is of this kind, or not any more.")
