"""Events for the screens: plain ones, hostile ones, and a log that has them."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import get_args

from toolcrib.dashboard.client_queries import (
    ClientsView,
    ConversationView,
    KeyView,
    ProfileView,
    SeenClient,
    SeenSet,
)
from toolcrib.dashboard.event_queries import EventPage
from toolcrib.dashboard.gap_report import GapReport, QueryGap, ToolGap
from toolcrib.dashboard.screens.gaps import Gaps
from toolcrib.dashboard.screens.live import LiveChoice, LiveEvents
from toolcrib.model import Event, EventKind
from toolcrib.settings import Settings
from toolcrib.store import EventFile, LoggedConversation, Retention

KINDS: tuple[EventKind, ...] = get_args(EventKind)


def hostile_event(kind: EventKind, text: str) -> Event:
    """An event in which every word is somebody else's."""
    names = [text] * 12
    facts = {
        "hits": names,
        "tools": names if kind in ("reveal", "program") else 3,
        "of": text,
        "confidence": text,
        "verdict": text,
        "effect": text,
        "mode": text,
        "how": text,
        "chance": text,
        "set": text,
        "version": text,
        "protocol": text,
        "tokens": text,
        "repaired": text,
        "calls": text,
        "failed": text,
        "kept": text,
    }
    return Event(
        *(time.time(), kind, text, text, text, text, text, 0.5, text, text), facts=facts, query=text
    )


def live_events(events: Mapping[int, Event], text: str = "") -> LiveEvents:
    """The page Live with these events, filtered by a word."""
    choice = LiveChoice("", text, text, "failed") if text else LiveChoice()
    found = EventPage("on" if events else "empty", events, more=bool(events))
    return LiveEvents(choice, found, [text] * 40 if text else [])


def hostile_gaps(text: str, number: int = 3, only: str = "") -> Gaps:
    """Gaps in which every name is hostile."""
    queries = tuple(QueryGap(f"{text}{n}", 5, text, 0.31, n) for n in range(1, number + 1))
    tools = tuple(ToolGap(text, text, 9, 4, 2.0, ((text, 4),)) for _ in range(number))
    lost = (QueryGap("", 3, text, 0.5, 9),)
    report = GapReport(20, (*queries, *lost), queries, tools, tools, tools)
    return Gaps("on", report, keeps_texts=False, only=only)


def hostile_clients(text: str, number: int = 2) -> ClientsView:
    """Clients, profiles, keys and conversations whose names are hostile."""
    client = SeenClient(text, text, text, text, text, 5, True, hostile_event("list", text))
    return ClientsView(
        [client] * number,
        [ProfileView(text, text, 7)] * number,
        [KeyView(text, (text,), 1.0, 2.0, 3.0)] * number,
        [LoggedConversation(text, text, text, 1.0, 9.0, 2, 3, 4)] * number,
        older=True,
        problems=(text,),
    )


def hostile_conversation(text: str, number: int = 3) -> ConversationView:
    """A conversation whose every word is hostile."""
    events = {id: hostile_event(KINDS[id % len(KINDS)], text) for id in range(number * len(KINDS))}
    return ConversationView(text, events, [SeenSet(text, text, [text] * 64, 5.0)] * number)


def search(query: str = "", at: float | None = None, **others: object) -> Event:
    """A search that found a tool."""
    facts = {"hits": ["mail_send"], "confidence": "high", "chance": 0.93}
    event = Event(at or time.time(), "search", "local@default", "cursor", "c1", seconds=0.013)
    return event._replace(**{"facts": facts, "query": query, **others})  # type: ignore[arg-type]


def call(name: str = "mail_send", at: float | None = None, **others: object) -> Event:
    """A call that ended well."""
    facts = {"pin": "p", "verdict": "allow", "effect": ""}
    event = Event(at or time.time(), "call", "local@default", "cursor", "c1", name, "mail", 0.21)
    return event._replace(**{"facts": facts, **others})  # type: ignore[arg-type]


def listed(eager: int, sent: int, at: float | None = None, **others: object) -> Event:
    """A list of tools that a client got."""
    tokens = {"eager": eager, "sent": sent, "how": "counted with o200k_base"}
    facts = {"tools": 5, "of": 812, "mode": "search", **tokens}
    event = Event(at or time.time(), "list", "local@default", "cursor", "c1", facts=facts)
    return event._replace(**others)  # type: ignore[arg-type]


def write(events: Sequence[Event], settings: Settings | None = None) -> range:
    """Put events into the log of these settings; their ids."""
    path = (settings or Settings()).events_path
    assert path
    with closing(EventFile(path, Retention(100_000, 30.0, 7.0))) as file:
        return file.write(events)
