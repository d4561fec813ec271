"""Events for the screens: plain ones, hostile ones, and a log that has them."""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import get_args

from toolcrib.dashboard.event_queries import EventPage
from toolcrib.dashboard.screens.live import LiveChoice, LiveEvents
from toolcrib.model import Event, EventKind
from toolcrib.settings import Settings
from toolcrib.store import EventFile, Retention

KINDS: tuple[EventKind, ...] = get_args(EventKind)


def hostile_event(kind: EventKind, text: str) -> Event:
    """An event in which every word is somebody else's."""
    names = [text] * 12
    facts = {
        "hits": names,
        "tools": names if kind == "reveal" else 3,
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
    }
    return Event(
        *(time.time(), kind, text, text, text, text, text, 0.5, text, text), facts=facts, query=text
    )


def live_events(events: Mapping[int, Event], text: str = "") -> LiveEvents:
    """The page Live with these events, filtered by a word."""
    choice = LiveChoice("", text, text, "failed") if text else LiveChoice()
    found = EventPage("on" if events else "empty", events, more=bool(events))
    return LiveEvents(choice, found, [text] * 40 if text else [])


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
